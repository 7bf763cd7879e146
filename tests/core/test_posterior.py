"""Posteriors, the bias shift and the median, against algorithms.md section 0 worked out by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftanchor import ArmEvidence
from driftanchor.core.posterior import (
    bias_shift,
    hybrid_posterior,
    median,
    online_posterior,
    sample_mean,
)

FINITE = st.floats(-1e6, 1e6)
POSITIVE = st.floats(1e-3, 1e3)
COUNTS = st.integers(0, 10**6)


def arm(
    pulls: int = 3, total: float = 1.2, n: int = 4, mean: float = 0.5, bound: float = 0.7
) -> ArmEvidence:
    return ArmEvidence(pulls, total, n, mean, bound)


def test_the_online_posterior_by_hand() -> None:
    # (1.2 + 2)/(3 + 1) = 0.8 and 0.5 √(4/4) = 0.5
    assert online_posterior(arm(), 2.0, 0.5, 4.0) == pytest.approx((0.8, 0.5))
    # the paper's: 1.2/4 = 0.3 and √(1/4) = 0.5
    assert online_posterior(arm(), 0.0, 1.0) == pytest.approx((0.3, 0.5))


def test_the_hybrid_posterior_by_hand() -> None:
    # (1.2 + 4·0.5 + 2)/(3 + 4 + 1) = 0.65 and 0.5 √(2/8) = 0.25
    assert hybrid_posterior(arm(), 2.0, 0.5, 2.0) == pytest.approx((0.65, 0.25))
    # the paper's: 3.2/8 = 0.4 and √(1/8)
    assert hybrid_posterior(arm(), 0.0, 1.0) == pytest.approx((0.4, 8**-0.5))


def test_before_the_first_pull_the_hybrid_mean_follows_the_formula_and_not_the_log_mean() -> None:
    # E3: N m/(N + 1) = 4·0.5/5, not 0.5
    assert hybrid_posterior(arm(pulls=0, total=0.0), 0.0, 1.0).mean == pytest.approx(0.4)
    assert online_posterior(arm(pulls=0, total=0.0), 0.0, 1.0) == (0.0, 1.0)


@given(COUNTS, FINITE, FINITE, POSITIVE, POSITIVE)
def test_without_logs_the_hybrid_posterior_is_the_online_one_exactly(
    pulls: int, total: float, prior_mean: float, noise: float, scale: float
) -> None:
    bare = arm(pulls, total, n=0, mean=0.0, bound=math.inf)
    assert hybrid_posterior(bare, prior_mean, noise, scale) == online_posterior(
        bare, prior_mean, noise, scale
    )
    assert bias_shift(bare) == 0.0


def test_the_online_mean_of_many_pulls_is_their_mean_and_not_half_of_it() -> None:
    # E1: the recursion as printed would converge to 0.4
    assert online_posterior(arm(10_000, 8_000.0), 0.0, 1.0).mean == pytest.approx(0.8, abs=1e-4)


def test_the_law_of_a_mean_without_a_prior_by_hand() -> None:
    assert sample_mean(3.0, 4, 5.0) == (0.75, 2.5)  # 3/4 and 5/√4
    assert sample_mean(0.0, 0, 5.0) == (math.inf, 0.0)  # never pulled: comes first


def test_the_bias_shift_by_hand() -> None:
    assert bias_shift(arm()) == pytest.approx(0.4)  # 4·0.7/(3 + 4)
    assert bias_shift(arm(pulls=0)) == pytest.approx(0.7)  # all of V before the first pull
    assert bias_shift(arm(bound=math.inf)) == math.inf
    assert bias_shift(arm(bound=0.0)) == 0.0


@given(COUNTS, st.integers(1, 10**6), st.floats(0, 1e3))
def test_the_bias_shift_falls_to_zero_as_pulls_grow(pulls: int, n: int, bound: float) -> None:
    now, later = (bias_shift(arm(pulls=t, n=n, bound=bound)) for t in (pulls, 2 * pulls + 1))
    assert 0.0 <= later <= now <= bound * (1 + 1e-15)
    assert bias_shift(arm(pulls=10**15, n=n, bound=bound)) <= 1e-5


@given(FINITE, FINITE, FINITE)
def test_the_median_is_the_middle_one_and_equals_the_clip(a: float, b: float, c: float) -> None:
    middle = median(a, b, c)
    assert middle == sorted((a, b, c))[1]
    assert middle == min(max(b, min(a, c)), max(a, c))  # clip(b, min(a, c), max(a, c))
    assert min(a, b, c) <= middle <= max(a, b, c)
    assert middle == median(c, a, b) == median(b, a, c)


@given(FINITE, FINITE)
def test_the_median_with_infinity_is_the_larger_of_the_others(a: float, b: float) -> None:
    assert median(a, b, math.inf) == max(a, b)
    assert median(a, b, -math.inf) == min(a, b)
