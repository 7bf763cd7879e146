"""Savings, regret bounds and lower bounds: by hand, in order, and between limits."""

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from driftanchor import InvalidInput, theory
from driftanchor.core.check import Floats
from driftanchor.theory import (
    anchor_pulls_shape,
    anchor_savings,
    effective_discrepancy,
    kl_bernoulli,
    lai_robbins,
    lai_robbins_bernoulli,
    min_ucb_bound,
    min_ucb_savings,
    online_anchor_pulls,
    online_ts_pulls,
)

MEANS = st.floats(-1e3, 1e3)
HORIZONS = st.floats(1, 1e9)
PULLS = st.floats(0, 1e6)
COUNTS = st.integers(0, 10**9)
OMEGAS = st.floats(0, 10)
GAPS = st.floats(1e-3, 10)
SHARES = st.floats(0, 1)
SAVINGS = pytest.mark.parametrize("savings", [anchor_savings, min_ucb_savings])


def test_every_public_name_is_there_and_documented() -> None:
    for name in theory.__all__:
        assert getattr(theory, name).__doc__


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
@given(n=COUNTS, low=OMEGAS, more=OMEGAS, gap=GAPS)
def test_savings_are_at_most_the_logs_and_fall_as_the_discrepancy_grows(
    savings: Callable[..., Floats], n: int, low: float, more: float, gap: float
) -> None:
    less, most = savings(n, [low + more, low], gap)
    assert 0 <= less <= most <= n


@given(COUNTS, OMEGAS, GAPS)
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


def test_shape_by_hand() -> None:
    shape = anchor_pulls_shape(math.e**2, 0.5, 4, 0.125, 10, c1=3, c2=2, c3=5)
    assert [float(term) for term in shape] == pytest.approx([23.0, 6.0, 20.0])
    assert float(shape.total) == pytest.approx(49.0)


def test_the_default_shape_without_logs_starts_at_lai_robbins() -> None:
    shape = anchor_pulls_shape(1000, [0.1, 0.5], 0, 0, 0)
    np.testing.assert_allclose(shape.suboptimal, lai_robbins([0.1, 0.5]) * math.log(1000))


def test_enough_logs_leave_the_constant_alone() -> None:
    shape = anchor_pulls_shape(10_000, 0.3, 1e6, 0.0, 1e6)
    assert shape.suboptimal == shape.optimal == 0.0
    assert shape.total == shape.constant


@given(t=HORIZONS, gap=GAPS, n=PULLS, more=PULLS, omega=OMEGAS, best=PULLS)
def test_logs_never_raise_a_bound(
    t: float, gap: float, n: float, more: float, omega: float, best: float
) -> None:
    for terms in (
        anchor_pulls_shape(t, gap, [n, n + more], omega, best),
        anchor_pulls_shape(t, gap, n, omega, [best, best + more]),
    ):
        for few, many in terms:
            assert 0 <= many <= few
        assert terms.total[1] <= terms.total[0]


@given(t=HORIZONS, gap=GAPS, n=PULLS, omega=OMEGAS, more=OMEGAS, best=PULLS)
def test_a_larger_discrepancy_or_horizon_never_lowers_a_bound(
    t: float, gap: float, n: float, omega: float, more: float, best: float
) -> None:
    low, high = anchor_pulls_shape(t, gap, n, [omega, omega + more], best).suboptimal
    assert low <= high
    short, long = anchor_pulls_shape([t, 2 * t], gap, n, omega, best).total
    assert short <= long


def test_terms_broadcast_to_one_shape() -> None:
    terms = anchor_pulls_shape([[100], [1000]], [0.1, 0.2, 0.3], 50, 0.0, 20)
    assert {term.shape for term in terms} == {terms.total.shape} == {(2, 3)}
    assert terms.total[1, 2] == anchor_pulls_shape(1000, 0.3, 50, 0.0, 20).total


def test_min_ucb_bound_by_hand() -> None:
    assert float(min_ucb_bound(math.e**2, 0.5, 8, 0.25, c=4)) == pytest.approx(30.0)
    assert float(min_ucb_bound(math.e**2, 0.5, 8, 0.5, c=4)) == pytest.approx(32.0)
    assert float(min_ucb_bound(math.e**2, 0.5, 80, 0.0, c=2)) == 0.0


def test_min_ucb_without_logs_is_lai_robbins() -> None:
    np.testing.assert_allclose(min_ucb_bound(1000, 0.2, 0, 0), lai_robbins(0.2) * math.log(1000))


@given(st.floats(1, 1e9), st.floats(0.01, 2), PULLS, PULLS, st.floats(0, 2))
def test_bound_falls_with_logs_and_is_at_most_anchors_first_term(
    t: float, gap: float, n: float, more: float, omega: float
) -> None:
    few, many = min_ucb_bound(t, gap, [n, n + more], omega)
    assert 0 <= many <= few
    assert few <= anchor_pulls_shape(t, gap, n, omega, 0).suboptimal + 1e-9 * n + 1e-9


def test_lai_robbins_by_hand() -> None:
    assert lai_robbins([0.5, 0.1], [1.0, 2.0]).round(9).tolist() == [8.0, 800.0]
    assert float(lai_robbins(1e-300)) == math.inf


@pytest.mark.parametrize(
    ("p", "q", "divergence"),
    [
        (0.5, 0.25, 0.5 * math.log(4 / 3)),
        (0.25, 0.5, 0.25 * math.log(0.5) + 0.75 * math.log(1.5)),
        (0.0, 0.5, math.log(2)),
        (1.0, 0.5, math.log(2)),
        (0.0, 0.0, 0.0),
        (1.0, 1.0, 0.0),
        (0.3, 0.0, math.inf),
        (0.3, 1.0, math.inf),
        (1.0, 0.0, math.inf),
        (0.0, 1.0, math.inf),
        (5e-324, 0.5, math.log(2)),
        (0.5, 5e-324, 0.5 * (math.log(0.5) - math.log(5e-324)) + 0.5 * math.log(0.5)),
    ],
)
def test_kl_by_hand_and_at_the_ends(p: float, q: float, divergence: float) -> None:
    assert float(kl_bernoulli(p, q)) == pytest.approx(divergence, rel=1e-14)


@given(SHARES, SHARES)
def test_kl_obeys_pinsker_and_symmetry(p: float, q: float) -> None:
    divergence = float(kl_bernoulli(p, q))
    assert divergence >= 2 * (p - q) ** 2 * (1 - 1e-9) - 1e-16
    if 1e-3 < p < 0.999 and 1e-3 < q < 0.999:
        assert float(kl_bernoulli(1 - p, 1 - q)) == pytest.approx(divergence, rel=1e-6, abs=1e-15)


def test_kl_of_nearby_laws_keeps_its_digits() -> None:
    gap = 2.0**-20
    exact = gap**2 / (2 * 0.25)  # the next term is of relative order gap²
    assert float(kl_bernoulli(0.5, 0.5 + gap)) == pytest.approx(exact, rel=1e-8)


@given(SHARES, SHARES)
def test_bernoulli_arms_need_no_more_than_gaussian_ones_of_noise_one_half(
    p: float, q: float
) -> None:
    assume(q - p > 1e-6)
    gaussian = lai_robbins(q - p, noise=0.5)
    assert 0 <= lai_robbins_bernoulli(p, q) <= gaussian * (1 + 1e-6)


def test_a_best_arm_that_never_fails_needs_no_exploration() -> None:
    assert float(lai_robbins_bernoulli(0.9, 1.0)) == 0.0


def test_online_pulls_by_hand() -> None:
    horizon = math.e**3
    ts = online_ts_pulls(horizon, [0.5, 0.1], noise=[1.0, 2.0], posterior_scale=[1.0, 0.5])
    np.testing.assert_allclose(ts, [24.0, 1200.0])
    assert online_ts_pulls(1, [0.5, 1e-300]).tolist() == [0.0, 0.0]


@given(st.floats(2, 1e12), st.floats(0.01, 2), st.floats(0.1, 3))
def test_anchor_ts_without_logs_is_half_of_lai_robbins_and_meets_it_at_scale_two(
    horizon: float, gap: float, noise: float
) -> None:
    needed = float(lai_robbins(gap, noise)) * math.log(horizon)
    assert float(online_ts_pulls(horizon, gap, noise=noise)) == pytest.approx(needed)
    for scale, share in ((1.0, 0.5), (2.0, 1.0), (4.0, 2.0)):
        pulls = online_anchor_pulls(horizon, gap, noise=noise, posterior_scale=scale)
        assert float(pulls) == pytest.approx(share * needed)


@pytest.mark.parametrize("pulls", [online_ts_pulls, online_anchor_pulls])
def test_online_pulls_broadcast(pulls: Callable[..., Floats]) -> None:
    table = pulls([[10], [100]], [0.1, 0.2, 0.3], posterior_scale=2)
    assert table.shape == (2, 3)
    assert table[1, 2] == pulls(100, 0.3, posterior_scale=2)


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
def test_unusable_logs_and_gaps_are_named(
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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: anchor_pulls_shape(0.5, 0.3, 0, 0, 0), "horizon must be at least 1, got 0.5"),
        (lambda: anchor_pulls_shape(10, -0.3, 0, 0, 0), "gap must be greater than 0, got -0.3"),
        (lambda: anchor_pulls_shape(10, 0.3, -1, 0, 0), "offline_pulls must be at least 0, got -1"),
        (lambda: anchor_pulls_shape(10, 0.3, 0, -0.1, 0), "omega must be at least 0, got -0.1"),
        (
            lambda: anchor_pulls_shape(10, 0.3, 0, 0, [0, -1]),
            "optimal_offline_pulls of element 1 must be at least 0, got -1",
        ),
        (lambda: anchor_pulls_shape(10, 0.3, 0, 0, 0, c2=-1), "c2 must be at least 0, got -1"),
        (
            lambda: anchor_pulls_shape([10, 20], 0.3, [1, 2, 3], 0, 0),
            "shapes do not fit together: horizon (2,), offline_pulls (3,)",
        ),
        (lambda: min_ucb_bound(10, 0.3, 5, 0, c=-1), "c must be at least 0, got -1"),
        (lambda: min_ucb_bound(0, 0.3, 5, 0), "horizon must be at least 1, got 0"),
        (
            lambda: min_ucb_bound([10, 20], 0.3, 5, [0, 0, 0]),
            "shapes do not fit together: horizon (2,), omega (3,)",
        ),
        (lambda: lai_robbins(0), "gap must be greater than 0, got 0"),
        (lambda: lai_robbins(0.3, -1), "noise must be greater than 0, got -1"),
        (lambda: kl_bernoulli(1.5, 0.5), "p must be between 0 and 1, got 1.5"),
        (lambda: kl_bernoulli(0.5, [0.5, -1]), "q of element 1 must be between 0 and 1, got -1.0"),
        (
            lambda: lai_robbins_bernoulli([0.1, 0.5], 0.5),
            "best_mean must be greater than mean 0.5, got 0.5",
        ),
        (lambda: online_ts_pulls(0, 0.3), "horizon must be at least 1, got 0"),
        (
            lambda: online_anchor_pulls(10, 0.3, posterior_scale=0),
            "posterior_scale must be greater than 0, got 0",
        ),
        (
            lambda: online_ts_pulls([1, 2], [0.1] * 3),
            "shapes do not fit together: horizon (2,), gap (3,)",
        ),
    ],
)
def test_unusable_arguments_are_named(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        call()
