"""The common move by hand: what all arms say of it, and what the logs are worth after it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftanchor import ArmEvidence, Evidence
from driftanchor.core.common_move import common_move, is_relative, moved, moved_pulls, own_sd
from driftanchor.core.posterior import Posterior

INF = math.inf


def seen(*arms: ArmEvidence) -> Evidence:
    pulls, totals, logs, means, bounds, pending, relative = (
        np.array(x) for x in zip(*arms, strict=True)
    )
    playable = np.ones(len(arms), np.bool_)
    empty = np.zeros((len(arms), 0))
    return Evidence(pulls, totals, logs, means, bounds, playable, empty, pending, relative)


def arm(
    pulls: int, total: float, logs: int, mean: float, level: float, relative: float
) -> ArmEvidence:
    return ArmEvidence(pulls, total, logs, mean, level, 0, relative)


A = arm(4, 2.0, 4, 1.0, INF, 0.0)  # moved by −0.5; w = 1/(1/4 + 1/4) = 2
B = arm(2, 2.0, 2, 0.5, INF, 2 * math.sqrt(3))  # moved by 0.5; w = 1/(1/2 + 1/2 + 3) = 1/4


def test_the_posterior_by_hand() -> None:
    belief = common_move(seen(A, B), noise=1.0)
    assert belief.mean == pytest.approx((2 * -0.5 + 0.25 * 0.5) / 2.25)
    assert belief.sd == pytest.approx(1 / 1.5)


def test_noise_by_hand() -> None:
    belief = common_move(seen(A, B), noise=2.0)  # w = 1/2 and 1/(4 + 3)
    assert belief.mean == pytest.approx((0.5 * -0.5 + 0.5 / 7) / (0.5 + 1 / 7))
    assert belief.sd == pytest.approx(1 / math.sqrt(0.5 + 1 / 7))


def test_bias_bounds_on_all_logs_are_a_prior_of_two_standard_deviations() -> None:
    known = [A._replace(bias_bound=1.0), B._replace(bias_bound=0.5)]
    belief = common_move(seen(*known), noise=1.0)  # q₀ = 1/(1/2)²
    assert belief.mean == pytest.approx((2 * -0.5 + 0.25 * 0.5) / 6.25)
    assert belief.sd == pytest.approx(1 / 2.5)
    without_logs = arm(3, 1.0, 0, 0.0, INF, INF)
    assert common_move(seen(*known, without_logs), 1.0) == belief


def test_a_bias_bound_of_zero_leaves_no_common_move() -> None:
    exact = [A._replace(bias_bound=0.0), B._replace(bias_bound=0.0)]
    assert common_move(seen(*exact), 1.0) == Posterior(0.0, 0.0)


def test_before_it_can_be_known_it_is_taken_for_zero() -> None:
    fresh = [x._replace(pulls=0, total=0.0) for x in (A, B)]
    assert common_move(seen(*fresh), 1.0) == Posterior(0.0, 0.0)


@pytest.mark.parametrize(
    "other",
    [
        arm(9, 5.0, 0, 0.0, INF, 0.1),  # no logs
        arm(0, 0.0, 7, 3.0, INF, 0.1),  # no rewards
        arm(9, 5.0, 7, 3.0, 0.2, INF),  # nothing promised beside the others
    ],
)
def test_only_arms_with_logs_rewards_and_a_promise_count(other: ArmEvidence) -> None:
    assert common_move(seen(A, B, other), 1.0) == common_move(seen(A, B), 1.0)


@given(st.floats(-100, 100), st.floats(0.01, 100), st.integers(1, 10**6), st.integers(1, 10**6))
def test_a_move_that_all_rewards_show_is_found(
    move: float, noise: float, pulls: int, logs: int
) -> None:
    arms = [arm(pulls, pulls * (m + move), logs, m, INF, 0.1) for m in (0.0, 0.5, 2.0)]
    belief = common_move(seen(*arms), noise)
    assert belief.mean == pytest.approx(move, abs=1e-9)
    assert belief.sd**2 == pytest.approx((noise**2 * (1 / pulls + 1 / logs) + 0.0025) / 3)


def test_an_own_move_is_half_its_bound() -> None:
    assert own_sd(0.5) == 0.25
    assert own_sd(INF) == INF


def test_what_is_relative() -> None:
    assert is_relative(seen(A, B._replace(relative_bound=INF)))
    assert not is_relative(seen(A._replace(relative_bound=INF), B._replace(relative_bound=INF)))


def test_logs_that_moved_by_hand() -> None:
    there = moved(arm(4, 2.0, 4, 1.0, INF, 1.0), -0.25, noise=2.0)  # 1/(1/4 + (1/2)²/2²) = 3.2
    assert there == pytest.approx((4, 2.0, 3.2, 0.75, 1.0, 0, 1.0))


@pytest.mark.parametrize(
    ("common", "level", "stays"),
    [
        (0.0, 0.5, False),
        (0.1, 0.5, True),
        (-0.1, 0.5, False),
        (0.1, INF, False),
        (-9.0, 0.1, False),
    ],
)
def test_the_reading_with_the_lower_ceiling_decides(
    common: float, level: float, stays: bool
) -> None:
    # m + V against m + c + 0.5
    there = moved(arm(1, 0.0, 4, 1.0, level, 0.5), common, noise=1.0)
    if stays:
        assert there == ArmEvidence(1, 0.0, 4.0, 1.0, level, 0, INF)
    else:
        assert (there.offline_mean, there.bias_bound, there.relative_bound) == (
            1 + common,
            0.5,
            0.5,
        )


@pytest.mark.parametrize("still", [arm(3, 1.0, 0, 0.0, 0.1, 0.2), arm(3, 1.0, 5, 2.0, INF, INF)])
def test_without_logs_or_a_promise_nothing_moves(still: ArmEvidence) -> None:
    assert moved(still, 7.0, 1.0)[:6] == still[:6]


def test_how_many_rewards_logs_stand_for() -> None:
    assert moved_pulls(49.0, 0.0, 1.0) == 49.0  # to the bit
    assert moved_pulls(0.0, INF, 1.0) == 0.0
    assert moved_pulls(50.0, INF, 1.0) == 0.0
    assert moved_pulls(1e12, 0.5, 1.0) == pytest.approx(4.0)
    assert moved_pulls(1e9, 1e200, 1.0) == 0.0
