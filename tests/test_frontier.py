"""The frontier of two arms: known ends, symmetry, order, convergence, and a simulated check."""

import math

import numpy as np
import pytest

from benchmarks.pages import frontier
from driftanchor.core.check import Floats

GAP, HORIZON, BLOCKS = 0.02, 20_000, 16
SLACK = 0.01  # of interpolation between the values of L, as a part of a regret


@pytest.fixture(scope="module")
def points() -> list[frontier.Point]:
    return frontier.trace(GAP, HORIZON, blocks=BLOCKS)


def test_as_much_doubt_as_trust_loses_the_same_in_both_worlds() -> None:
    point = frontier.solve(GAP, HORIZON, 0.5, blocks=BLOCKS).point
    assert point.right == pytest.approx(point.wrong, rel=1e-9)
    assert 0 < point.right < GAP * HORIZON / 2


def test_without_doubt_the_logs_are_always_followed() -> None:
    point = frontier.solve(GAP, HORIZON, 1e-6, blocks=BLOCKS).point
    assert (point.right, point.wrong) == pytest.approx((0.0, GAP * HORIZON))


def test_doubt_trades_one_regret_for_the_other(points: list[frontier.Point]) -> None:
    right, wrong = [p.right for p in points], [p.wrong for p in points]
    assert right == sorted(right)
    assert wrong == sorted(wrong, reverse=True)


def test_no_point_lies_below_the_line_of_another(points: list[frontier.Point]) -> None:
    for p in points:
        for q in points:
            weighed = (1 - p.doubt) * q.right + p.doubt * q.wrong
            assert weighed >= (1 - SLACK) * p.weighed


def test_the_points_are_their_own_bounds(points: list[frontier.Point]) -> None:
    slack = SLACK * GAP * HORIZON
    for p in points:
        assert frontier.least_wrong(points, p.right) == pytest.approx(p.wrong, abs=slack)
        assert frontier.least_right(points, p.wrong) == pytest.approx(p.right, abs=slack)


@pytest.mark.parametrize("doubt", [0.2, 0.3, 0.5])
def test_finer_grids_change_little(doubt: float) -> None:
    coarse, finer, fewer = (
        frontier.solve(GAP, HORIZON, doubt, blocks=blocks, width=width).point.weighed
        for blocks, width in ((24, 0.05), (24, 0.025), (12, 0.05))
    )
    assert finer == pytest.approx(coarse, rel=0.01)
    assert 0.88 * fewer < coarse < fewer  # who decides more often does a little better


def test_only_gap_squared_times_horizon_matters() -> None:
    one = frontier.solve(0.02, 20_000, 0.3, blocks=16).point
    other = frontier.solve(0.2, 200, 0.3, blocks=16).point
    assert other.right * 0.2 == pytest.approx(one.right * 0.02)
    assert other.wrong * 0.2 == pytest.approx(one.wrong * 0.02)


@pytest.fixture(scope="module")
def solved() -> frontier.Solution:
    return frontier.solve(GAP, HORIZON, 0.3, blocks=BLOCKS, width=0.025)


@pytest.mark.slow
@pytest.mark.parametrize("sign", [1, -1])
def test_the_rule_loses_in_simulation_what_the_program_says(
    sign: int, solved: frontier.Solution
) -> None:
    # Rewards are drawn, not ratios, and both arms moved by 7. The two means differ by more than 5
    # standard errors in one run of two million; 3 % are for the grid of L.
    lost = _played(solved, sign, runs=4_000, rng=np.random.default_rng(11))
    expected = solved.point.right if sign > 0 else solved.point.wrong
    error = float(lost.std()) / math.sqrt(lost.size)
    assert abs(float(lost.mean()) - expected) < 5 * error + 0.03 * expected


def _played(found: frontier.Solution, sign: int, runs: int, rng: np.random.Generator) -> Floats:
    """The regret of each run of the rule, where A is better (+1) or B is (−1)."""
    blocks = len(found.plays_b)
    size = HORIZON / blocks
    means = np.array([7.0 + sign * GAP / 2, 7.0 - sign * GAP / 2])
    every = np.arange(runs)
    played, total = np.zeros((runs, 2), dtype=int), np.zeros((runs, 2))
    for k in range(blocks):
        n = np.maximum(played, 1) * size
        apart = np.diff(total / n)[:, 0]
        ratio = np.where(played.all(axis=1), 2 * GAP * apart * n.prod(axis=1) / n.sum(axis=1), 0.0)
        nearest = np.rint((ratio - found.ratios[0]) / np.diff(found.ratios[:2])).astype(int)
        column = np.clip(nearest, 0, found.ratios.size - 1)
        arm = (rng.random(runs) < found.plays_b[k][played[:, 1], column]).astype(int)
        played[every, arm] += 1
        total[every, arm] += rng.normal(means[arm] * size, math.sqrt(size))
    return GAP * size * played[:, 1 if sign > 0 else 0]
