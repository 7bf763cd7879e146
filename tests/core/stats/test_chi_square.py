"""The chi-square law against its density, its limits and printed tables."""

from __future__ import annotations

import math

import numpy as np
import pytest

from driftanchor.core.stats.chi_square import chi_square_ratio, log_chi_square


def chi_square(x: float, freedom: float) -> float:
    return math.exp(log_chi_square(np.array([x]), np.array([freedom]))[0])


@pytest.mark.parametrize("freedom", [1.0, 2.0, 7.0, 120.0])
def test_chi_square_is_the_integral_of_its_density(freedom: float) -> None:
    x = np.linspace(1e-9, 2 * freedom, 400_001)
    log_norm = freedom / 2 * math.log(2) + math.lgamma(freedom / 2)
    density = np.exp((freedom / 2 - 1) * np.log(x) - x / 2 - log_norm)
    if freedom < 2:  # the density has a pole: P(χ²₁ ≤ x) = erf(√(x/2))
        assert chi_square(3.0, 1.0) == pytest.approx(math.erf(math.sqrt(1.5)), abs=1e-12)
        return
    area = float(((density[1:] + density[:-1]) / 2 * np.diff(x)).sum())
    assert chi_square(2 * freedom, freedom) == pytest.approx(area, abs=1e-6)


def test_chi_square_far_out() -> None:
    assert chi_square(1e9, 3.0) == 1.0
    assert chi_square(0.0, 3.0) == 0.0
    small = log_chi_square(np.array([1e-3]), np.array([5_000.0]))[0]
    assert -40_000 < small < -20_000  # far below the least float


@pytest.mark.parametrize(
    ("chance", "freedom", "printed"), [(0.05, 5, 1.145), (0.05, 30, 18.493), (0.95, 10, 18.307)]
)
def test_the_quantile_is_near_the_printed_one(chance: float, freedom: int, printed: float) -> None:
    assert freedom * chi_square_ratio(chance, freedom) == pytest.approx(printed, rel=0.02)
    assert chi_square(freedom * chi_square_ratio(chance, freedom), freedom) == pytest.approx(
        chance, abs=2e-3
    )
