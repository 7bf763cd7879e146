"""Roots of falling functions."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from driftanchor.shift.numerics import falling_root


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
