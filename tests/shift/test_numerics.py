"""Roots of falling functions, and the chi-square law against its density and its limits."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from driftanchor.shift.numerics import falling_root, log_chi_square


@pytest.mark.parametrize("start", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("root", [1e-9, 1e-3, 1.0, 12_345.678])
def test_roots_of_any_size(start: float, root: float) -> None:
    assert falling_root(lambda x: 1 / (1 + x / root), 0.5, start) == pytest.approx(root, rel=1e-11)
    assert falling_root(lambda x: -math.atan(x / root), -math.pi / 4, start) == pytest.approx(
        root, rel=1e-11
    )


def test_a_function_that_starts_below_has_its_root_at_zero() -> None:
    assert falling_root(lambda x: 1 / (1 + x), 2.0, 1.0) == 0.0
    assert falling_root(lambda x: 1 / (1 + x), 1.0, 1.0) == 0.0


@pytest.mark.parametrize("function", [lambda _: 1.0, lambda x: math.nan * x])
def test_a_function_without_a_root_is_an_error(function: Callable[[float], float]) -> None:
    with pytest.raises((FloatingPointError, ValueError)):
        falling_root(function, 0.5, 1.0)


def chi_square(x: float, df: float) -> float:
    return math.exp(log_chi_square(np.array([x]), df)[0])


@pytest.mark.parametrize("df", [2.0, 7.0, 120.0])
def test_chi_square_is_the_integral_of_its_density(df: float) -> None:
    x = np.linspace(1e-9, 2 * df, 400_001)
    log_norm = df / 2 * math.log(2) + math.lgamma(df / 2)
    density = np.exp((df / 2 - 1) * np.log(x) - x / 2 - log_norm)
    area = float(((density[1:] + density[:-1]) / 2 * np.diff(x)).sum())
    assert chi_square(2 * df, df) == pytest.approx(area, abs=1e-6)


def test_chi_square_far_out() -> None:
    assert chi_square(1e9, 3.0) == 1.0
    assert chi_square(0.0, 3.0) == 0.0


def test_the_logarithm_goes_on_where_the_probability_underflows() -> None:
    above, below = log_chi_square(np.array([176.0, 175.96]), 1_000.0)
    assert above > math.log(1e-200) > below
    # d log P/dx = (a/x)/M(1, a + 1, x/2), and M is near 1/(1 − x/2/(a + 1)).
    slope = 500 / 175.98 * (1 - 87.99 / 501)
    assert (above - below) / 0.04 == pytest.approx(slope, rel=1e-3)
    small = log_chi_square(np.array([1e-3]), 5_000.0)[0]
    assert small == pytest.approx(2_500 * math.log(5e-4) - math.lgamma(2_501), rel=1e-6)
