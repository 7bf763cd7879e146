"""Contrasts are paired, and the bootstrap is near what theory says."""

import math

import numpy as np
import pytest

from driftanchor.core.stats.contrasts import mean_contrast, quantile_contrast

FACTORS = np.array([1.0, -2.0])


def test_pairs_cancel() -> None:
    shared = np.random.default_rng(0).normal(0, 5, 40)
    found = mean_contrast(FACTORS, np.stack([2 * shared + 1, shared]))
    assert found == pytest.approx((1.0, 0.0))


def test_one_run_has_no_standard_error() -> None:
    found = mean_contrast(FACTORS, np.ones((2, 1)))
    assert found.value == -1.0
    assert math.isnan(found.se)


def test_the_bootstrap_of_a_median_is_near_its_asymptotic_error() -> None:
    """√(π/2) / √n for a normal sample; 200 resamples are good to about 5 %, a sample to 10 %."""
    sample = np.random.default_rng(2).normal(0, 1, (1, 2_000))
    found = quantile_contrast(np.ones(1), sample, 0.5)
    assert found.se == pytest.approx(math.sqrt(math.pi / 2 / 2_000), rel=0.35)
    assert found == quantile_contrast(np.ones(1), sample, 0.5)
