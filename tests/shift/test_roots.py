"""Roots of monotone functions."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from driftanchor.shift.roots import fallen, where


@pytest.mark.parametrize("start", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("root", [1e-3, 1.0, 12_345.678])
def test_rising_and_falling_functions(start: float, root: float) -> None:
    assert where(lambda x: math.atan(x / root), math.pi / 4, start) == pytest.approx(root, rel=1e-8)
    assert where(lambda x: 1 / (1 + x / root), 0.5, start) == pytest.approx(root, rel=1e-8)


def test_a_function_that_starts_below_has_its_root_at_zero() -> None:
    assert fallen(lambda x: 1 / (1 + x), 2.0, 1.0) == 0.0
    assert fallen(lambda x: 1 / (1 + x), 1.0, 1.0) == 0.0
    assert where(lambda x: x, 0.0, 1.0) == 0.0


@pytest.mark.parametrize(
    ("function", "start"),
    [(lambda _: 1.0, 1.0), (lambda x: 1 / (1 + x), math.inf), (lambda x: math.nan * x, 1.0)],
)
def test_a_function_without_a_root_ends(function: Callable[[float], float], start: float) -> None:
    with pytest.raises(FloatingPointError, match="does not reach its target"):
        where(function, 0.5, start)
