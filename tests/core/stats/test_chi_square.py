"""Quantiles of the chi-square law against printed tables."""

from __future__ import annotations

import pytest

from driftanchor.core.stats.chi_square import chi_square_ratio


@pytest.mark.parametrize(
    ("chance", "freedom", "printed"), [(0.05, 5, 1.145), (0.05, 30, 18.493), (0.95, 10, 18.307)]
)
def test_the_quantile_is_near_the_printed_one(chance: float, freedom: int, printed: float) -> None:
    assert freedom * chi_square_ratio(chance, freedom) == pytest.approx(printed, rel=0.02)
