"""Savings: hand-worked values, and the inequalities between them."""

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftanchor import InvalidInput
from driftanchor.core.check import Floats
from driftanchor.theory import anchor_savings, effective_discrepancy, min_ucb_savings

MEANS = st.floats(-1e3, 1e3)
PULLS = st.integers(0, 10**9)
OMEGAS = st.floats(0, 10)
GAPS = st.floats(1e-3, 10)
SAVINGS = pytest.mark.parametrize("savings", [anchor_savings, min_ucb_savings])


def test_discrepancy_of_the_papers_base_setting() -> None:
    omega = effective_discrepancy([0.8, 0.5], [0.5, 0.6], [0.3, 0.1])
    np.testing.assert_allclose(omega, [0.0, 0.2], atol=1e-15)


@given(MEANS, MEANS, st.floats(0, 10))
def test_discrepancy_is_between_zero_and_twice_a_valid_bound(
    online: float, offline: float, slack: float
) -> None:
    bound = abs(online - offline) + slack
    omega = float(effective_discrepancy(online, offline, bound))
    assert 0 <= omega <= 2 * bound


def test_discrepancy_is_negative_only_when_the_promise_is_broken() -> None:
    assert float(effective_discrepancy(0.8, 0.5, 0.25)) == pytest.approx(-0.05)
    assert float(effective_discrepancy(0.5, 0.8, 0.25)) > 2 * 0.25


def test_no_promise_is_an_infinite_discrepancy_and_saves_nothing() -> None:
    omega = effective_discrepancy(0.5, 0.6, math.inf)
    assert float(omega) == math.inf
    assert float(anchor_savings(100, omega, 0.3)) == float(min_ucb_savings(100, omega, 0.3)) == 0


@pytest.mark.parametrize(
    ("omega", "anchor", "min_ucb"),
    [(0.0, 80.0, 80.0), (0.125, 20.0, 45.0), (0.25, 0.0, 20.0), (0.5, 0.0, 0.0), (9.0, 0.0, 0.0)],
)
def test_savings_by_hand_at_gap_one_half(omega: float, anchor: float, min_ucb: float) -> None:
    assert float(anchor_savings(80, omega, 0.5)) == anchor
    assert float(min_ucb_savings(80, omega, 0.5)) == min_ucb


@SAVINGS
@given(n=PULLS, low=OMEGAS, more=OMEGAS, gap=GAPS)
def test_savings_are_at_most_the_logs_and_fall_as_the_discrepancy_grows(
    savings: Callable[..., Floats], n: int, low: float, more: float, gap: float
) -> None:
    less, most = savings(n, [low + more, low], gap)
    assert 0 <= less <= most <= n


@given(PULLS, OMEGAS, GAPS)
def test_min_ucb_never_saves_less(n: int, omega: float, gap: float) -> None:
    rounding = 1e-12 * n
    assert min_ucb_savings(n, omega, gap) >= anchor_savings(n, omega, gap) - rounding


@SAVINGS
def test_savings_broadcast(savings: Callable[..., Floats]) -> None:
    table = savings([[10], [20]], [0.0, 0.1, 0.2], 1.0)
    assert table.shape == (2, 3)
    assert table[1, 2] == savings(20, 0.2, 1.0)
    assert savings(20, 0.2, 1.0).shape == ()
    assert savings([], 0.2, 1.0).shape == (0,)


@SAVINGS
def test_a_gap_too_small_to_divide_by_saves_nothing(savings: Callable[..., Floats]) -> None:
    assert savings(10, [1.0, 0.0], 5e-324).tolist() == [0.0, 10.0]


@SAVINGS
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, 0.0, 0.3), "offline_pulls must be at least 0, got -1"),
        (([5, math.inf], 0.0, 0.3), "offline_pulls of element 1 must be finite, got inf"),
        ((5, -0.25, 0.3), "omega must be at least 0, got -0.25"),
        ((5, math.nan, 0.3), "omega must be a number, got nan"),
        ((5, 0.0, [[0.1, 0.0]]), "gap of element 0, 1 must be greater than 0, got 0.0"),
        ((5, [0.0, 0.0], [0.1] * 3), "shapes do not fit together: omega (2,), gap (3,)"),
    ],
)
def test_unusable_arguments_are_named(
    savings: Callable[..., Floats], arguments: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        savings(*arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((math.inf, 0, 0), "online_mean must be finite, got inf"),
        ((0, "0.5", 0), "offline_mean must be numbers, got '0.5'"),
        ((0, None, 0), "offline_mean must be numbers, got None"),
        ((0, [[1], [1, 2]], 0), "offline_mean must be an array, got the ragged [[1], [1, 2]]"),
        ((0, 0, -0.1), "bias_bound must be at least 0, got -0.1"),
    ],
)
def test_unusable_means_and_bounds_are_named(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        effective_discrepancy(*arguments)
