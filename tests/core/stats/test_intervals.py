"""Intervals cover what they should, and equal published ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

from driftanchor.core.stats.intervals import (
    difference,
    mean_estimate,
    mean_interval,
    quantile_interval,
    wilson,
)


def test_a_quantile_interval_covers_the_quantile_in_95_of_100_samples() -> None:
    """2,000 samples of 500: the share has a standard error of 0.5 %; 91.5 to 98.5 is 7 of them."""
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(2_000):
        low, high = quantile_interval(rng.random(500), 0.9)
        hits += low <= 0.9 <= high
    assert 0.915 < hits / 2_000 < 0.985


def test_few_values_leave_the_end_of_a_quantile_open() -> None:
    assert quantile_interval(np.array([3.0]), 0.99, ends=(0.0, 9.0)) == (3.0, 9.0)
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


def test_intervals_of_means_are_wilsons_for_coins_and_students_for_others() -> None:
    # Wilson's interval of 8 of 10 as in Brown, Cai and DasGupta (2001): 0.490 to 0.943.
    low, high = mean_interval(10, 0.8, 10 * 0.16 / 9) or (0, 0)
    assert (round(low, 3), round(high, 3)) == (0.490, 0.943)
    low, high = mean_interval(4, 10.0, 4.0) or (0, 0)
    assert (low, high) == pytest.approx((10 - 3.18245, 10 + 3.18245), abs=1e-4)
    assert mean_interval(1, 0.5, math.nan) is None
    assert mean_interval(50, 0.5, math.nan) is None
    assert mean_interval(3, 0.5, 0.0) == (0.5, 0.5)


def test_the_estimate_of_a_mean_has_the_normal_interval() -> None:
    values = np.random.default_rng(0).normal(3.0, 2.0, 400)
    found = mean_estimate(values)
    half = 1.959964 * values.std(ddof=1) / 20
    assert tuple(found) == pytest.approx(
        (values.mean(), values.mean() - half, values.mean() + half)
    )
    assert found.to_json() == {"value": found.value, "low": found.low, "high": found.high}


def test_a_difference_with_an_unknown_interval_may_be_anything() -> None:
    assert difference(1.0, None, 2.0, (1.9, 2.1)) == (1.0, -math.inf, math.inf)
    assert difference(1.0, (0.9, 1.1), 2.0, None).to_json()["low"] == "-inf"
