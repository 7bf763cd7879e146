"""Hierarchical Thompson sampling by hand, and the rules it has at its ends."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftanchor import TS, ArmEvidence, Draws, HierarchicalTS, HybridTS, Round

NOW = Round(t=4, arms=2)
ARM = ArmEvidence(pulls=3, total=1.5, offline_pulls=24, offline_mean=0.5, bias_bound=math.inf)
HALF = 2 / math.sqrt(24)  # a bound with which 24 logs count for 12

COUNTS = st.integers(0, 10**6)
NUMBERS = st.floats(-1e6, 1e6)


@pytest.mark.parametrize(("z", "expected"), [(0.0, 0.46875), (1.0, 0.71875), (-2.0, -0.03125)])
def test_the_index_by_hand(z: float, expected: float) -> None:
    # (1.5 + 12·0.5)/(3 + 12 + 1) + z/√16
    arm = ARM._replace(bias_bound=HALF)
    assert HierarchicalTS().index(arm, NOW, Draws(z, 0, 0)) == pytest.approx(expected)


def test_prior_mean_and_noise_by_hand() -> None:
    # noise and bound twice as large: (7.5 + 8.5)/16 + 2·0.5/4
    rule = HierarchicalTS(prior_mean=8.5, noise=2.0)
    arm = ARM._replace(bias_bound=2 * HALF)
    assert rule.index(arm, NOW, Draws(0.5, 0, 0)) == pytest.approx(1.25)


@pytest.mark.parametrize(("level", "relative"), [(HALF, 9.0), (9.0, HALF), (HALF, HALF)])
def test_of_two_bounds_the_smaller_says_how_far_an_arm_moves(level: float, relative: float) -> None:
    # logs of mean −1 moved by 1.5: as above
    arm = ARM._replace(offline_mean=-1.0, bias_bound=level, relative_bound=relative)
    there = HierarchicalTS().moved(arm, 1.5)
    assert HierarchicalTS().index(there, NOW, Draws(1.0, 0, 0)) == pytest.approx(0.71875)


def test_without_a_relative_bound_an_arm_does_not_move_along() -> None:
    arm = ARM._replace(bias_bound=HALF)
    assert HierarchicalTS().moved(arm, 1.5) == arm


@given(COUNTS, NUMBERS, COUNTS, NUMBERS, NUMBERS, st.floats(-9, 9))
def test_with_bounds_of_zero_it_is_hybrid_ts(
    pulls: int, total: float, logs: int, mean: float, common: float, z: float
) -> None:
    draws = Draws(z, 0, 0)
    level = ArmEvidence(pulls, total, logs, mean, 0.0)
    assert HierarchicalTS().index(level, NOW, draws) == HybridTS().index(level, NOW, draws)
    apart = ArmEvidence(pulls, total, logs, mean, math.inf, 0, 0.0)
    ours, theirs = HierarchicalTS().moved(apart, common), HybridTS().moved(apart, common)
    assert HierarchicalTS().index(ours, NOW, draws) == HybridTS().index(theirs, NOW, draws)


@given(COUNTS, NUMBERS, COUNTS, NUMBERS, NUMBERS, st.floats(0, 1e9))
def test_with_a_relative_bound_alone_it_is_hybrid_ts_on_moved_logs(
    pulls: int, total: float, logs: int, mean: float, common: float, bound: float
) -> None:
    arm, draws = ArmEvidence(pulls, total, logs, mean, math.inf, 0, bound), Draws(1.0, 0, 0)
    ours, theirs = HierarchicalTS().moved(arm, common), HybridTS().moved(arm, common)
    assert HierarchicalTS().index(ours, NOW, draws) == HybridTS().index(theirs, NOW, draws)


@given(COUNTS, NUMBERS, COUNTS, NUMBERS, st.floats(-9, 9))
def test_where_nothing_is_promised_it_is_ts(
    pulls: int, total: float, logs: int, mean: float, z: float
) -> None:
    arm, draws = ArmEvidence(pulls, total, logs, mean, math.inf), Draws(z, 0, 0)
    assert HierarchicalTS().index(arm, NOW, draws) == TS().index(arm, NOW, draws)
