"""Contrasts are paired, and their intervals hold for means and quantiles."""

import numpy as np
import pytest

from driftanchor.core.stats.bounded_mean import bounded_mean_interval
from driftanchor.core.stats.contrasts import mean_contrast, quantile_contrast

FACTORS = np.array([1.0, -2.0])
MOST = np.array([100.0, 100.0])


def test_pairs_cancel() -> None:
    shared = np.random.default_rng(0).uniform(0, 40, 4_000)
    paired = mean_contrast(FACTORS, np.stack([2 * shared + 1, shared]), MOST, 0.05)
    assert paired.value == pytest.approx(1.0)
    apart = mean_contrast(FACTORS, np.stack([2 * shared + 1, shared[::-1]]), MOST, 0.05)
    assert apart.high - apart.low > 4 * (paired.high - paired.low)


def test_the_range_of_a_contrast_is_from_all_against_it_to_all_for_it() -> None:
    samples = np.random.default_rng(1).uniform(0, 100, (2, 50))
    found = mean_contrast(FACTORS, samples, MOST, 0.01)
    ends = bounded_mean_interval(FACTORS @ samples, -200.0, 100.0, 0.01)
    assert (found.low, found.high) == ends


def test_a_contrast_of_quantiles_covers_the_truth() -> None:
    """Medians of uniform samples: 50 − 2 · 25 = 0. Intervals of the quantiles share the error.

    200 samples at 5 %: more than 29 misses have a chance below 1e-6.
    """
    rng, misses = np.random.default_rng(2), 0
    for _ in range(200):
        samples = np.stack([rng.uniform(0, 100, 300), rng.uniform(0, 50, 300)])
        found = quantile_contrast(FACTORS, samples, MOST, 0.05, quantile=0.5)
        assert found.low <= found.value <= found.high
        misses += not found.low <= 0 <= found.high
    assert misses <= 29


def test_a_quantile_beyond_all_runs_leaves_everything_open() -> None:
    samples = np.random.default_rng(3).uniform(0, 10, (2, 50))
    found = quantile_contrast(np.array([1.0, -1.0]), samples, MOST, 0.05, quantile=0.99)
    assert found.high > 85
    assert found.low < -85
