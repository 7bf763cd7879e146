"""MIN-UCB's bounds, and water filling against brute force."""

import itertools
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftanchor import InvalidInput
from driftanchor.theory import (
    anchor_pulls_shape,
    lai_robbins,
    min_ucb_bound,
    min_ucb_worst_case,
    tau_star,
)

PULLS = st.floats(0, 1e6)


def test_bound_by_hand() -> None:
    assert float(min_ucb_bound(math.e**2, 0.5, 8, 0.25, c=4)) == pytest.approx(30.0)
    assert float(min_ucb_bound(math.e**2, 0.5, 8, 0.5, c=4)) == pytest.approx(32.0)
    assert float(min_ucb_bound(math.e**2, 0.5, 80, 0.0, c=2)) == 0.0


def test_the_default_without_logs_is_lai_robbins() -> None:
    np.testing.assert_allclose(min_ucb_bound(1000, 0.2, 0, 0), lai_robbins(0.2) * math.log(1000))


@given(st.floats(1, 1e9), st.floats(0.01, 2), PULLS, PULLS, st.floats(0, 2))
def test_bound_falls_with_logs_and_is_at_most_anchors_first_term(
    t: float, gap: float, n: float, more: float, omega: float
) -> None:
    few, many = min_ucb_bound(t, gap, [n, n + more], omega)
    assert 0 <= many <= few
    assert few <= anchor_pulls_shape(t, gap, n, omega, 0).suboptimal + 1e-9 * n + 1e-9


def level_by_enumeration(pulls: list[int], horizon: int) -> int:
    """The largest of the smallest N + n, over every way to share out the horizon."""
    shares = itertools.product(range(horizon + 1), repeat=len(pulls))
    return max(
        min(n + extra for n, extra in zip(pulls, share, strict=True))
        for share in shares
        if sum(share) == horizon
    )


@given(st.lists(st.integers(0, 8), min_size=1, max_size=4), st.integers(1, 6))
def test_water_filling_rounds_down_to_the_best_whole_allocation(
    pulls: list[int], horizon: int
) -> None:
    assert math.floor(float(tau_star(pulls, horizon)) + 1e-9) == level_by_enumeration(
        pulls, horizon
    )


@given(st.lists(PULLS, min_size=1, max_size=12), st.floats(1, 1e6))
def test_water_filling_uses_up_the_horizon(pulls: list[float], horizon: float) -> None:
    level = float(tau_star(pulls, horizon))
    poured = np.maximum(level - np.array(pulls), 0).sum()
    assert poured == pytest.approx(horizon, rel=1e-6)


def test_water_filling_over_several_bandits_and_horizons() -> None:
    pulls = [[0, 10], [10, 0], [5, 5]]
    assert tau_star(pulls, 20).tolist() == [15.0, 15.0, 15.0]
    assert tau_star(pulls, [[4], [30]]).tolist() == [[4.0, 4.0, 7.0], [20.0, 20.0, 20.0]]


def test_worst_case_by_hand() -> None:
    horizon = math.e**4
    hybrid = (math.sqrt(4 / (horizon + 10**6)) + 0.01) * horizon
    pulls = [10**6, 10**6 + 10**9]  # one arm is so well known that all goes to the other
    assert float(min_ucb_worst_case(horizon, pulls, [0.01, 0.0])) == pytest.approx(hybrid)
    online = math.sqrt(2 * horizon * 4)
    assert float(min_ucb_worst_case(horizon, pulls, [0.01, math.inf])) == pytest.approx(online)
    assert float(min_ucb_worst_case(1, pulls, math.inf)) == 0.0


@given(st.lists(PULLS, min_size=1, max_size=6), PULLS, st.floats(2, 1e6), st.floats(0, 2))
def test_worst_case_falls_with_logs_and_is_at_most_ucbs(
    pulls: list[float], more: float, horizon: float, bound: float
) -> None:
    n = np.array(pulls)
    few, many = min_ucb_worst_case(horizon, np.stack([n, n + more]), bound)
    assert many <= few * (1 + 1e-12)
    assert few <= math.sqrt(n.size * horizon * math.log(horizon)) * (1 + 1e-12)


def test_worst_case_broadcasts_before_the_arms() -> None:
    regret = min_ucb_worst_case([[10], [100]], np.ones((3, 4)), 0.1)
    assert regret.shape == (2, 3)
    assert regret[1, 2] == min_ucb_worst_case(100, np.ones(4), 0.1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: min_ucb_bound(10, 0.3, 5, 0, c=-1), "c must be at least 0, got -1"),
        (lambda: min_ucb_bound(0, 0.3, 5, 0), "horizon must be at least 1, got 0"),
        (
            lambda: min_ucb_bound([10, 20], 0.3, 5, [0, 0, 0]),
            "shapes do not fit together: horizon (2,), omega (3,)",
        ),
        (lambda: tau_star(5, 10), "offline_pulls must have one number for each arm, got shape ()"),
        (lambda: tau_star([], 10), "one number for each arm, got shape (0,)"),
        (lambda: tau_star([1, -2], 10), "offline_pulls of element 1 must be at least 0, got -2"),
        (
            lambda: tau_star(np.ones((3, 2)), [10, 20]),
            "offline_pulls without its last axis (3,), horizon (2,)",
        ),
        (
            lambda: min_ucb_worst_case(10, [1, 2], [0.1] * 3),
            "shapes do not fit together: offline_pulls (2,), bias_bound (3,)",
        ),
        (
            lambda: min_ucb_worst_case([10, 20], np.ones((3, 2)), 0.1),
            "offline_pulls without its last axis (3,), horizon (2,)",
        ),
    ],
)
def test_unusable_arguments_are_named(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        call()
