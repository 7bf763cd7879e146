"""Theorem 1: terms by hand, monotone in logs, and the constants that its proof can support."""

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
    AnchorBound,
    anchor_bound,
    anchor_pulls_shape,
    lai_robbins,
    proof,
)

HORIZONS = st.floats(1, 1e9)
GAPS = st.floats(0.01, 1)
PULLS = st.floats(0, 1e7)
OMEGAS = st.floats(0, 2)
BOUNDS = pytest.mark.parametrize("bound", [anchor_bound, anchor_pulls_shape])

Bound = Callable[..., AnchorBound]


def test_shape_by_hand() -> None:
    shape = anchor_pulls_shape(math.e**2, 0.5, 4, 0.125, 10, c1=3, c2=2, c3=5)
    assert [float(term) for term in shape] == pytest.approx([23.0, 6.0, 20.0])
    assert float(shape.total) == pytest.approx(49.0)


def test_the_default_shape_without_logs_starts_at_lai_robbins() -> None:
    shape = anchor_pulls_shape(1000, [0.1, 0.5], 0, 0, 0)
    np.testing.assert_allclose(shape.suboptimal, lai_robbins([0.1, 0.5]) * math.log(1000))


def test_bound_by_hand() -> None:
    bound = anchor_bound(10_000, 0.5, 1000, 0.05, 99)
    width = 2 * math.log(2 * 1e12 * 0.25)
    assert float(bound.suboptimal) == pytest.approx(36 * width / 0.25 - 1000 * 0.7)
    until_known = 288 * math.log(2500 + math.e**6) / 0.25 - 99
    assert float(bound.optimal) == pytest.approx((math.e**11 + 5) * until_known)
    assert float(bound.constant) == pytest.approx(56 * math.e**64 / 0.25)


def test_few_logs_of_the_best_arm_leave_the_larger_factor() -> None:
    bound = anchor_bound(10_000, 1.0, 0, 0.0, [0, 1])
    pulls = 288 * math.log(10_000 + math.e**6)
    for term, n in zip(bound.optimal, (0, 1), strict=True):
        factor = math.exp((28 + 16 * math.sqrt(3)) / (n + 1)) + 5
        assert term == pytest.approx(factor * (pulls - n))


def test_early_rounds_with_a_negative_width_do_not_lower_the_bound() -> None:
    assert float(anchor_bound(1, 0.1, 0, 0.0, 0).suboptimal) == 0.0


def test_enough_logs_leave_the_constant_alone() -> None:
    bound = anchor_bound(10_000, 0.3, 1e6, 0.0, 1e6)
    assert bound.suboptimal == bound.optimal == 0.0
    assert bound.total == bound.constant


def test_the_proofs_constants_are_vacuous_at_practical_horizons() -> None:
    assert float(anchor_bound(1e12, 1.0, 1e9, 0.0, 1e9).total) > 1e12


@BOUNDS
@given(t=HORIZONS, gap=GAPS, n=PULLS, more=PULLS, omega=OMEGAS, best=PULLS)
def test_logs_never_raise_a_bound(
    bound: Bound, t: float, gap: float, n: float, more: float, omega: float, best: float
) -> None:
    for terms in (
        bound(t, gap, [n, n + more], omega, best),
        bound(t, gap, n, omega, [best, best + more]),
    ):
        for few, many in terms:
            assert 0 <= many <= few
        assert terms.total[1] <= terms.total[0]


@BOUNDS
@given(t=HORIZONS, gap=GAPS, n=PULLS, omega=OMEGAS, more=OMEGAS, best=PULLS)
def test_a_larger_discrepancy_or_horizon_never_lowers_a_bound(
    bound: Bound, t: float, gap: float, n: float, omega: float, more: float, best: float
) -> None:
    low, high = bound(t, gap, n, [omega, omega + more], best).suboptimal
    assert low <= high
    short, long = bound([t, 2 * t], gap, n, omega, best).total
    assert short <= long


@BOUNDS
def test_terms_broadcast_to_one_shape(bound: Bound) -> None:
    terms = bound([[100], [1000]], [0.1, 0.2, 0.3], 50, 0.0, 20)
    assert {term.shape for term in terms} == {terms.total.shape} == {(2, 3)}
    assert terms.total[1, 2] == bound(1000, 0.3, 50, 0.0, 20).total


@BOUNDS
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.5, 0.3, 0, 0, 0), "horizon must be at least 1, got 0.5"),
        ((10, -0.3, 0, 0, 0), "gap must be"),
        ((10, 0.3, -1, 0, 0), "offline_pulls must be at least 0, got -1"),
        ((10, 0.3, 0, -0.1, 0), "omega must be at least 0, got -0.1"),
        ((10, 0.3, 0, 0, [0, -1]), "optimal_offline_pulls of element 1 must be at least 0, got -1"),
        (
            ([10, 20], 0.3, [1, 2, 3], 0, 0),
            "shapes do not fit together: horizon (2,), offline_pulls (3,)",
        ),
    ],
)
def test_unusable_arguments_are_named(
    bound: Bound, arguments: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        bound(*arguments)


def test_the_proof_is_for_rewards_in_the_unit_interval() -> None:
    with pytest.raises(InvalidInput, match=r"gap must be at most 1, got 1\.5"):
        anchor_bound(10, 1.5, 0, 0, 0)
    assert anchor_pulls_shape(10, 1.5, 0, 0, 0).total > 0


def test_a_negative_constant_is_refused() -> None:
    with pytest.raises(InvalidInput, match="c2 must be at least 0, got -1"):
        anchor_pulls_shape(10, 0.3, 0, 0, 0, c2=-1)


def test_the_papers_numbers_for_the_best_arms_return() -> None:
    """From log r = 28 + 16√3 on, and only then, the prior's pull costs no more than √r."""
    for factor, holds in ((0.999, False), (1.0, True), (1.001, True)):
        log_r = factor * proof.RETURN_LOG_NO_LOGS
        assert (4 * math.sqrt(log_r) - 2 <= log_r / 2 + 1e-9) == holds


def test_the_step_of_the_bad_mean_lemma_is_false_and_its_constant_is_safe() -> None:
    """{no draw of r has both above y} is not inside {all of one kind are below y}."""
    p, r = 0.1, 50
    assert (1 - p * p) ** r > 0.6
    assert 2 * (1 - p) ** r < 0.011

    # The mean falls short of y by (W + 1)/√n with P(W > x) ≤ exp(−2x²) (Hoeffding, and the prior's
    # pull), so E[p^(−2a)] ≤ Q(1)^(−2a) + ∫ exp(−2x²) dQ(x + 1)^(−2a), Q being the normal tail.
    a = 1.5
    x = np.linspace(0, 20, 20_001)
    log_tail = np.log([0.5 * math.erfc((z + 1) / math.sqrt(2)) for z in x])
    log_density = -((x + 1) ** 2) / 2 - math.log(math.sqrt(2 * math.pi))
    integrand = 2 * a * np.exp(log_density - (2 * a + 1) * log_tail - 2 * x**2)
    moment = math.exp(-2 * a * log_tail[0]) + float(integrand.sum()) * 0.001
    assert a / (a - 1) == proof.HOLDER
    assert math.e**11 < moment ** (1 / a) < math.e**12 < proof.BAD_BEST_MEAN
