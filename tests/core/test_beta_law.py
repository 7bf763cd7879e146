"""The Beta law against closed forms, and its parts against each other."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from driftanchor.core.beta_law import beta_below, beta_density, beta_ends, beyond_stirling

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


@pytest.mark.parametrize("x", [0.0, 0.03, 0.5, 0.97, 1.0])
def test_whole_shapes_are_binomial_tails(x: float) -> None:
    """P(Beta(k, n − k + 1) ≤ x) is the chance of at least k wins in n."""
    n = 12
    for k in range(1, n + 1):
        wins = sum(math.comb(n, w) * x**w * (1 - x) ** (n - w) for w in range(k, n + 1))
        assert beta_below(k, n - k + 1, x) == pytest.approx(wins, abs=1e-13)


@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_the_density_is_the_slope(a: float, b: float) -> None:
    low, high = beta_ends(a, b)
    points, weights = np.polynomial.legendre.leggauss(20)
    edges = np.linspace(low, high, 81)
    for left, right in itertools.pairwise(edges):
        places = left + (right - left) * (points + 1) / 2
        area = sum(
            w * beta_density(a, b, x) * (right - left) / 2
            for x, w in zip(places, weights, strict=True)
        )
        assert beta_below(a, b, right) - beta_below(a, b, left) == pytest.approx(area, abs=2e-11)
    assert beta_below(a, b, low) < 1e-10
    assert beta_below(a, b, high) > 1 - 1e-10


@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_the_mirror_image(a: float, b: float) -> None:
    for x in np.linspace(*beta_ends(a, b), 9):
        assert beta_below(a, b, x) == pytest.approx(1 - beta_below(b, a, 1 - x), abs=1e-9)


def test_both_ways_to_integrate_agree_where_they_meet() -> None:
    for x in np.linspace(*beta_ends(3000.0, 3000.0), 15):
        assert beta_below(3000.0, 3000.0, x) == pytest.approx(
            beta_below(3000.0000001, 3000.0000001, x), abs=1e-9
        )


def test_stirling() -> None:
    for z in (1.0, 15.99, 16.0, 33.0):
        plain = (z - 0.5) * math.log(z) - z + 0.5 * math.log(2 * math.pi)
        assert beyond_stirling(z) == pytest.approx(math.lgamma(z) - plain, abs=2e-13)


def test_nothing_is_outside() -> None:
    assert beta_density(2.0, 2.0, 0.0) == beta_density(2.0, 2.0, 1.0) == 0.0
    assert beta_below(2.0, 2.0, -1.0) == 0.0
    assert beta_below(2.0, 2.0, 2.0) == 1.0
