"""The table of the normal distribution function is as good as it says."""

import math

import numpy as np
import pytest

from driftanchor.core.stats.normal import normal_cdf, two_sided


def test_the_table_is_good_to_eight_digits() -> None:
    x = np.random.default_rng(0).uniform(-10, 10, 20_000)
    exact = np.array([(1 + math.erf(z / math.sqrt(2))) / 2 for z in x])
    assert np.abs(normal_cdf(x) - exact).max() < 2e-8


def test_beyond_the_table_it_is_0_or_1() -> None:
    assert normal_cdf(np.array([-1e300, 1e300, -np.inf, np.inf])) == pytest.approx([0, 1, 0, 1])


def test_the_quantile_is_the_inverse() -> None:
    for miss in (0.5, 0.05, 1e-6):
        assert 2 * (1 - 0.5 * (1 + math.erf(two_sided(miss) / math.sqrt(2)))) == pytest.approx(miss)
