"""Intervals cover what they should, and equal published ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

from driftanchor.core.stats.bounded_mean import bounded_mean_interval
from driftanchor.core.stats.intervals import (
    difference,
    mean_contrast,
    mean_estimate,
    mean_interval,
    quantile_contrast,
    quantile_interval,
    wilson,
)

FACTORS = np.array([1.0, -2.0])
MAXIMA = np.array([100.0, 100.0])


def test_a_quantile_interval_covers_the_quantile_in_95_of_100_samples() -> None:
    """2,000 samples of 500: the share has a standard error of 0.5 %; 91.5 to 98.5 is 7 of them."""
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(2_000):
        low, high = quantile_interval(rng.random(500), 0.9)
        hits += low <= 0.9 <= high
    assert 0.915 < hits / 2_000 < 0.985


def test_few_values_leave_the_end_of_a_quantile_open() -> None:
    assert quantile_interval(np.array([3.0]), 0.99, support=(0.0, 9.0)) == (3.0, 9.0)
    low, high = quantile_interval(np.arange(20.0), 0.99)
    assert (low, high) == (18.0, math.inf)


def test_the_ranks_of_a_quantile_are_those_of_the_binomial_law() -> None:
    """Of 20 values 10 ± 5 are below the median: P(at most 5) = 0.0207, P(at most 6) = 0.0577."""
    assert quantile_interval(np.arange(20.0), 0.5) == (5.0, 14.0)
    assert quantile_interval(np.arange(20.0), 0.5, 0.12) == (6.0, 13.0)


@pytest.mark.parametrize(("share", "n"), [(0.0, 10), (1.0, 10), (0.5, 1)])
def test_a_share_that_is_never_or_always_has_an_end_at_it(share: float, n: int) -> None:
    low, high = wilson(share, n)
    assert 0.0 <= low <= share <= high <= 1.0
    assert (low == share) == (share == 0)
    assert (high == share) == (share == 1)


def test_binary_rewards_have_wilsons_interval_and_others_students() -> None:
    # Wilson's interval of 8 of 10 as in Brown, Cai and DasGupta (2001): 0.490 to 0.943.
    low, high = mean_interval(10, 0.8, 10 * 0.16 / 9) or (0, 0)
    assert (round(low, 3), round(high, 3)) == (0.490, 0.943)
    half_width = 3.182446305284263  # of t with 3 degrees of freedom, times 2/√4
    assert mean_interval(4, 10.0, 4.0) == pytest.approx((10 - half_width, 10 + half_width))
    assert mean_interval(1, 0.5, math.nan) is None
    assert mean_interval(50, 0.5, math.nan) is None
    assert mean_interval(3, 0.5, 0.0) == (0.5, 0.5)


def test_the_estimate_of_a_mean_has_the_normal_interval() -> None:
    values = np.random.default_rng(0).normal(3.0, 2.0, 400)
    estimate = mean_estimate(values)
    half = 1.959964 * values.std(ddof=1) / 20
    assert tuple(estimate) == pytest.approx(
        (values.mean(), values.mean() - half, values.mean() + half)
    )
    value, low, high = estimate
    assert estimate.to_json() == {"value": value, "low": low, "high": high}


def test_a_difference_with_an_unknown_interval_may_be_anything() -> None:
    assert difference(1.0, None, 2.0, (1.9, 2.1)) == (1.0, -math.inf, math.inf)
    assert difference(1.0, (0.9, 1.1), 2.0, None).to_json()["low"] == "-inf"


def test_pairs_cancel() -> None:
    shared = np.random.default_rng(0).uniform(0, 40, 4_000)
    paired = mean_contrast(FACTORS, np.stack([2 * shared + 1, shared]), MAXIMA, 0.05)
    assert paired.value == pytest.approx(1.0)
    unpaired = mean_contrast(FACTORS, np.stack([2 * shared + 1, shared[::-1]]), MAXIMA, 0.05)
    assert unpaired.high - unpaired.low > 4 * (paired.high - paired.low)


def test_the_range_of_a_contrast_follows_from_the_signs_of_its_factors() -> None:
    samples = np.random.default_rng(1).uniform(0, 100, (2, 50))
    contrast = mean_contrast(FACTORS, samples, MAXIMA, 0.01)
    ends = bounded_mean_interval(FACTORS @ samples, -200.0, 100.0, 0.01)
    assert (contrast.low, contrast.high) == ends


def test_a_contrast_of_quantiles_covers_the_truth() -> None:
    """Medians of uniform samples: 50 − 2 · 25 = 0. Intervals of the quantiles share the error.

    200 samples at 5 %: more than 29 misses have a chance below 1e-6.
    """
    rng, misses = np.random.default_rng(2), 0
    for _ in range(200):
        samples = np.stack([rng.uniform(0, 100, 300), rng.uniform(0, 50, 300)])
        contrast = quantile_contrast(FACTORS, samples, MAXIMA, 0.05, quantile=0.5)
        assert contrast.low <= contrast.value <= contrast.high
        misses += not contrast.low <= 0 <= contrast.high
    assert misses <= 29


def test_a_quantile_beyond_all_runs_leaves_the_contrast_open() -> None:
    samples = np.random.default_rng(3).uniform(0, 10, (2, 50))
    contrast = quantile_contrast(np.array([1.0, -1.0]), samples, MAXIMA, 0.05, quantile=0.99)
    assert contrast.high > 85
    assert contrast.low < -85
