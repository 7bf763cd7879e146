"""The sums of propensities, and the looks at them that are left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from driftanchor import UnreadableState
from driftanchor.live.campaigns import propensity_sums
from driftanchor.live.campaigns.propensity_sums import PropensitySums
from driftanchor.live.campaigns.sample_ratio import MANY, log_e_value, look


@pytest.mark.parametrize(("arms", "skew"), [(2, 0.0), (10, 0.0), (40, 0.0), (10, 0.2)])
def test_looks_that_are_left_out_would_find_nothing(
    arms: int, skew: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, looks = np.random.default_rng(arms), list[int]()

    def noted(*args: Any) -> tuple[float, int]:
        looks.append(1)
        return look(*args)

    monkeypatch.setattr(propensity_sums, "look", noted)
    sums, decisions, most = PropensitySums(arms), np.zeros(arms, np.int64), 0.0
    for n in range(1, 2_001):
        shares = rng.dirichlet(np.ones(arms))
        played = 0 if rng.random() < skew else rng.choice(arms, p=shares)
        decisions[played] += 1
        sums.drawn(shares)
        sums.weigh(decisions, n, 1)
        most = max(most, log_e_value(decisions - sums.expected, sums.variance))
        assert sums.log_e == most
    assert len(looks) < (1_000 if skew == 0.0 else 2_000)
    assert most > 5.0 or skew == 0.0


def test_with_many_arms_a_look_may_end_early() -> None:
    arms = MANY + 1
    excess, variance = np.zeros(arms), np.ones(arms)
    excess[3] = 30.0
    found = log_e_value(excess, variance)
    assert look(excess, variance, 0.0)[0] == found > 0.0
    assert look(excess, variance, found)[0] == found
    assert look(np.zeros(arms), variance, found) == (found, 0)


def test_an_arm_that_is_added_was_not_played_before() -> None:
    sums = PropensitySums(2)
    sums.drawn(np.array([0.5, 0.5]))
    sums.weigh(np.array([1, 0]), 1, 1)
    before = sums.log_e
    sums.add_arm()
    assert sums.expected.tolist() == [0.5, 0.5, 0.0]
    assert sums.variance.tolist() == [0.25, 0.25, 0.0]
    assert sums.log_e == before
    older = PropensitySums(2)
    older.drawn(np.array([0.5, 0.5]))
    wider = PropensitySums(3)
    wider.take_over(older.to_bytes())
    assert wider.to_bytes() == sums.to_bytes()


def test_sums_that_were_changed_are_refused() -> None:
    sums = PropensitySums(3)
    sums.drawn(np.array([0.25, 0.25, 0.5]))
    kept = sums.to_bytes()
    for i in range(len(kept)):
        with pytest.raises(UnreadableState, match="checksum"):
            sums.take_over(kept[:i] + bytes([kept[i] ^ 1]) + kept[i + 1 :])
    with pytest.raises(UnreadableState, match="damaged"):
        sums.take_over(kept[:-1])
