"""Distributions against printed tables, densities and limits."""

from __future__ import annotations

import math

import numpy as np
import pytest

from driftanchor.core.stats.distributions import (
    critical_t,
    critical_z,
    log_chi_square_cdf,
    normal_cdf,
)


def chi_square_cdf(x: float, df: float) -> float:
    return math.exp(log_chi_square_cdf(np.array([x]), np.array([df]))[0])


def test_the_normal_cdf_and_its_limits() -> None:
    x = np.linspace(-10, 10, 2_001)
    exact = [(1 + math.erf(z / math.sqrt(2))) / 2 for z in x]
    assert normal_cdf(x) == pytest.approx(exact, abs=1e-15)
    assert normal_cdf(np.array([-1e300, 1e300, -np.inf, np.inf])).tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("alpha", [0.5, 0.05, 1e-6])
def test_critical_z_inverts_the_normal_cdf(alpha: float) -> None:
    assert math.erfc(critical_z(alpha) / math.sqrt(2)) == pytest.approx(alpha)


def test_critical_t_is_as_in_the_tables() -> None:
    assert critical_t(0.001, 4) == pytest.approx(8.610, abs=5e-4)
    assert critical_t(0.01, 10) == pytest.approx(3.169, abs=5e-4)
    assert critical_t(0.001, 30) == pytest.approx(3.646, abs=5e-4)


@pytest.mark.parametrize("df", [2.0, 7.0, 120.0])
def test_the_chi_square_cdf_is_the_integral_of_its_density(df: float) -> None:
    x = np.linspace(1e-9, 2 * df, 400_001)
    log_norm = df / 2 * math.log(2) + math.lgamma(df / 2)
    density = np.exp((df / 2 - 1) * np.log(x) - x / 2 - log_norm)
    area = float(((density[1:] + density[:-1]) / 2 * np.diff(x)).sum())
    assert chi_square_cdf(2 * df, df) == pytest.approx(area, abs=1e-6)


def test_the_chi_square_cdf_far_out() -> None:
    assert chi_square_cdf(3.0, 1.0) == pytest.approx(math.erf(math.sqrt(1.5)), abs=1e-12)
    assert chi_square_cdf(1e9, 3.0) == 1.0
    assert chi_square_cdf(0.0, 3.0) == 0.0


def test_the_log_of_the_chi_square_cdf_goes_on_where_it_underflows() -> None:
    """The series of the incomplete gamma function, summed in logarithms."""
    df = 5_000.0
    x = df * np.array([1e-6, 0.01, 0.4, 0.5, 0.9])  # P underflows at the first three
    terms = np.cumsum(np.log(x[:, None] / 2 / (df / 2 + np.arange(1, 20_000))), axis=1)
    series = np.log1p(np.exp(terms).sum(axis=1))
    exact = df / 2 * np.log(x / 2) - x / 2 - math.lgamma(df / 2 + 1) + series
    assert exact[0] < -30_000 < exact[2] < -750 < exact[3] < exact[4]
    assert log_chi_square_cdf(x, np.array([df])) == pytest.approx(exact, rel=1e-11)
