"""UCB1 by hand."""

import math
from typing import Any

import pytest

from driftanchor import UCB, ArmEvidence, Draws, InvalidInput, Round

SILENT = Draws(0.0, 0.0, 0.0)
ARM = ArmEvidence(pulls=2, total=1.0, offline_pulls=50, offline_mean=9.0, bias_bound=0.1)


@pytest.mark.parametrize(
    ("t", "expected"),
    [
        (3, 0.5 + 0.8325546111576977),  # √(2 log 2 / 2) = √log 2
        (11, 0.5 + 1.5174271293851465),  # √(2 log 10 / 2) = √log 10
        (2, 0.5),  # log 1 = 0
        (1, 0.5),  # before any play
    ],
)
def test_the_index_by_hand(t: int, expected: float) -> None:
    assert UCB().index(ARM, Round(t, 2), SILENT) == pytest.approx(expected, rel=1e-14)


def test_noise_and_constant_by_hand() -> None:
    # 0.5 + 3 √(8 log 10 / 2) = 0.5 + 6 √log 10
    index = UCB(noise=3.0, c=8.0).index(ARM, Round(11, 2), SILENT)
    assert index == pytest.approx(0.5 + 6 * 1.5174271293851465, rel=1e-14)


def test_an_unpulled_arm_comes_first() -> None:
    assert UCB().index(ARM._replace(pulls=0, total=0.0), Round(5, 2), SILENT) == math.inf


def test_logs_bias_bound_and_prior_mean_are_ignored() -> None:
    bare = ARM._replace(offline_pulls=0, offline_mean=0.0, bias_bound=math.inf)
    now = Round(11, 2)
    assert UCB(prior_mean=7.0).index(ARM, now, SILENT) == UCB().index(bare, now, SILENT)


@pytest.mark.parametrize("value", [0, -1, math.inf, "2"])
def test_an_unusable_constant_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInput, match=f"c of policy 'ucb' must be .*, got {value!r}"):
        UCB(c=value)
