"""The Beta law against closed forms, and its parts against each other."""

from __future__ import annotations

import math

import numpy as np
import pytest

from driftanchor.core.beta_law import (
    beta_below,
    beta_density,
    beta_ends,
    beta_sd,
    beyond_stirling,
)
from driftanchor.core.check import Floats

SHAPES = [
    (1.0, 1.0),
    (1.0, 7.5),
    (3.5, 2.0),
    (40.0, 900.0),
    (2900.0, 5e5),
    (3001.0, 3001.0),
    (4e4, 7e6),
    (1e9, 1e9),
]


def ends_of(a: float, b: float) -> tuple[float, float]:
    low, high = beta_ends(np.array(a), np.array(b))
    return float(low), float(high)


def below(a: float, b: float, x: Floats) -> Floats:
    return beta_below(np.array(a), np.array(b), x)


@pytest.mark.parametrize("x", [0.0, 0.03, 0.5, 0.97, 1.0])
def test_whole_shapes_are_binomial_tails(x: float) -> None:
    """P(Beta(k, n − k + 1) ≤ x) is the chance of at least k wins in n."""
    n = 12
    for k in range(1, n + 1):
        wins = sum(math.comb(n, w) * x**w * (1 - x) ** (n - w) for w in range(k, n + 1))
        assert below(k, n - k + 1, np.array([x])) == pytest.approx([wins], abs=1e-13)


@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_the_density_is_the_slope(a: float, b: float) -> None:
    points, weights = np.polynomial.legendre.leggauss(20)
    edges = np.linspace(*ends_of(a, b), 81)
    half = np.diff(edges)[:, None] / 2
    places = edges[:-1, None] + half * (points + 1)
    areas = (half * weights * beta_density(np.array(a), np.array(b), places)).sum(axis=1)
    assert np.diff(below(a, b, edges)) == pytest.approx(areas, abs=1e-9)


@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_hardly_anything_is_outside_of_the_ends(a: float, b: float) -> None:
    low, high = ends_of(a, b)
    assert 0.0 <= low < a / (a + b) < high <= 1.0
    assert below(a, b, np.array([low]))[0] < 1e-10
    assert below(b, a, np.array([1.0 - high]))[0] < 1e-10
    assert high - low < 60 * beta_sd(np.array(a), np.array(b))


def test_the_standard_deviation() -> None:
    drawn = np.random.default_rng(1).beta(3.5, 2.0, 100_000)
    assert beta_sd(np.array(3.5), np.array(2.0)) == pytest.approx(drawn.std(), rel=0.01)


def test_stirling() -> None:
    for z in (1.0, 15.99, 16.0, 33.0):
        plain = (z - 0.5) * math.log(z) - z + 0.5 * math.log(2 * math.pi)
        assert beyond_stirling(np.array(z)) == pytest.approx(math.lgamma(z) - plain, abs=2e-13)


def test_nothing_is_outside() -> None:
    a, b = np.array(2.0), np.array(2.0)
    assert beta_density(a, b, np.array([-1.0, 0.0, 1.0, 2.0])).tolist() == [0.0] * 4
    assert beta_below(a, b, np.array([-1.0, 2.0])).tolist() == [0.0, 1.0]
