"""The sums of propensities, and the evidence against them."""

from __future__ import annotations

import numpy as np
import pytest

from driftanchor import UnreadableState
from driftanchor.live.campaigns.sample_ratio import log_e_value
from driftanchor.live.campaigns.traffic import ARMS_PER_CHECK, PropensitySums


@pytest.mark.parametrize(("arms", "every"), [(2, 1), (3 * ARMS_PER_CHECK, 3)])
def test_the_evidence_is_the_largest_of_all_checks(arms: int, every: int) -> None:
    rng = np.random.default_rng(arms)
    traffic, decisions, largest = PropensitySums(arms), np.zeros(arms, np.int64), 0.0
    for n in range(1, 301):
        shares = rng.dirichlet(np.ones(arms))
        decisions[0 if rng.random() < 0.2 else rng.choice(arms, p=shares)] += 1
        traffic.add(shares)
        traffic.check(decisions, n, 1)
        if n % every == 0:
            evidence = log_e_value(decisions - traffic.expected, traffic.variance)
            largest = max(largest, evidence)
        assert traffic.log_e == largest
    assert largest > 2.0


def test_an_added_arm_was_not_played_before() -> None:
    traffic = PropensitySums(2)
    traffic.add(np.array([0.5, 0.5]))
    older = traffic.to_bytes()
    traffic.check(np.array([1, 0]), 1, 1)
    before = traffic.log_e
    traffic.add_arm()
    assert traffic.expected.tolist() == [0.5, 0.5, 0.0]
    assert traffic.variance.tolist() == [0.25, 0.25, 0.0]
    assert traffic.log_e == before
    wider = PropensitySums(3)
    wider.load(older)
    assert wider.to_bytes() == traffic.to_bytes()


def test_damaged_sums_are_refused() -> None:
    traffic = PropensitySums(3)
    traffic.add(np.array([0.25, 0.25, 0.5]))
    stored = traffic.to_bytes()
    for i in range(len(stored)):
        with pytest.raises(UnreadableState, match="checksum"):
            traffic.load(stored[:i] + bytes([stored[i] ^ 1]) + stored[i + 1 :])
    with pytest.raises(UnreadableState, match="damaged"):
        traffic.load(stored[:-1])
    plain = PropensitySums(3)
    plain.load(stored[:-8])  # as older versions stored them
    assert plain.to_bytes() == stored
