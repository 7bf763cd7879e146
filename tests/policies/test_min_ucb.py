"""MIN-UCB by hand, with both radii."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftanchor import UCB, ArmEvidence, Draws, InvalidInput, MinUCB, Round, UnknownName

SILENT = Draws(0.0, 0.0, 0.0)
ARM = ArmEvidence(pulls=2, total=1.0, offline_pulls=6, offline_mean=0.5, bias_bound=0.4)
NOW = Round(t=11, arms=2)
ROOT_LOG_10 = 1.5174271293851465


def test_both_bounds_by_hand() -> None:
    # UCB   = 1/2 + √(2 log 10 / 2)
    # UCB^S = (1 + 3)/8 + √(2 log 10 / 8) + 6·0.4/8 = 0.5 + √log 10 / 2 + 0.3
    bounds = {"online_bound": 0.5 + ROOT_LOG_10, "hybrid_bound": 0.8 + ROOT_LOG_10 / 2}
    assert MinUCB().explain(ARM, NOW, SILENT) == pytest.approx(bounds, rel=1e-14)
    assert MinUCB().index(ARM, NOW, SILENT) == pytest.approx(0.8 + ROOT_LOG_10 / 2, rel=1e-14)


def test_a_large_bias_bound_leaves_the_online_bound() -> None:
    # 6·2/8 = 1.5 > √log 10 / 2
    index = MinUCB().index(ARM._replace(bias_bound=2.0), NOW, SILENT)
    assert index == pytest.approx(0.5 + ROOT_LOG_10, rel=1e-14)


def test_the_radius_of_the_theorem_by_hand() -> None:
    # w = 2 log(4 K t³) = 2 log(4·2·11³) = 2 log 10648; UCB^S = 0.5 + √(2 log 10648 / 8) + 0.3
    index = MinUCB(radius="cheung-lyu").index(ARM, NOW, SILENT)
    assert index == pytest.approx(0.8 + math.sqrt(math.log(10648) / 4), rel=1e-14)


def test_noise_and_constant_by_hand() -> None:
    # 0.5 + 3 √(8 log 10 / 8) + 0.3
    index = MinUCB(noise=3.0, c=8.0).index(ARM, NOW, SILENT)
    assert index == pytest.approx(0.8 + 3 * ROOT_LOG_10, rel=1e-14)


def test_every_arm_is_pulled_once_whatever_the_logs_say() -> None:
    assert MinUCB().index(ARM._replace(pulls=0, total=0.0), NOW, SILENT) == math.inf


@given(
    st.integers(0, 10**6),
    st.floats(-1e6, 1e6),
    st.integers(0, 10**6),
    st.floats(-1e6, 1e6),
    st.integers(1, 10**6),
)
def test_an_infinite_bias_bound_or_no_logs_give_ucb_exactly(
    pulls: int, total: float, n: int, mean: float, t: int
) -> None:
    now = Round(t, 2)
    unbounded = ArmEvidence(pulls, total, n, mean, math.inf)
    ucb = UCB().index(unbounded, now, SILENT)
    assert MinUCB().index(unbounded, now, SILENT) == ucb
    bare = ArmEvidence(pulls, total, 0, 0.0, 0.3)
    assert MinUCB().index(bare, now, SILENT) == ucb


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"c": 0}, "c of policy 'min-ucb' must be greater than 0, got 0"),
        ({"c": math.nan}, "c of policy 'min-ucb' must be a number, got nan"),
        ({"radius": None}, "radius of policy 'min-ucb' must be one of ucb1, cheung-lyu, got None"),
    ],
)
def test_unusable_parameters_are_refused(parameters: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        MinUCB(**parameters)


def test_an_unknown_radius_gets_the_nearest() -> None:
    with pytest.raises(
        UnknownName, match="unknown radius of policy 'min-ucb' 'cheung'; did you mean 'cheung-lyu'"
    ):
        MinUCB(radius="cheung")
