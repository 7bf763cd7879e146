"""The laws of indices against counts of draws, and their parts against each other."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
import pytest

from driftanchor.core import index_law
from driftanchor.core.check import Floats
from driftanchor.core.index_law import IndexLaw, at, atom, ends, sample_at, slope

INF = math.inf
Draw = Callable[[np.random.Generator, int], Floats]


def medians(anchor: float, a: tuple[float, float], b: tuple[float, float]) -> Draw:
    def draw(rng: np.random.Generator, n: int) -> Floats:
        three = np.stack([np.full(n, anchor), rng.normal(*a, n), rng.normal(*b, n)])
        middle: Floats = np.median(three, axis=0)
        return middle

    return draw


def mixed(weight: float, a: tuple[float, float], b: tuple[float, float]) -> Draw:
    return lambda rng, n: np.where(rng.random(n) < weight, rng.normal(*a, n), rng.normal(*b, n))


LAWS: dict[str, tuple[IndexLaw, Draw]] = {
    "constant": (index_law.constant(0.3), lambda rng, n: np.full(n, 0.3)),
    "sample": (index_law.one_sample(0.3, 0.2), lambda rng, n: rng.normal(0.3, 0.2, n)),
    "larger": (
        index_law.larger(0.3, 0.1, 0.2),
        lambda rng, n: np.maximum(0.3, rng.normal(0.1, 0.2, n)),
    ),
    "smaller": (
        index_law.smaller(0.3, 0.1, 0.2),
        lambda rng, n: np.minimum(0.3, rng.normal(0.1, 0.2, n)),
    ),
    "median": (
        index_law.median_law(0.0, 0.1, 1.0, -0.2, 0.3),
        medians(0.0, (0.1, 1.0), (-0.2, 0.3)),
    ),
    "mixture": (
        index_law.mixture(0.3, 0.1, 1.0, -0.2, 0.3),
        mixed(0.3, (0.1, 1.0), (-0.2, 0.3)),
    ),
    "coin": (index_law.mixture(0.3, 0.1, 1.0, -0.2, 0.0), mixed(0.3, (0.1, 1.0), (-0.2, 0.0))),
    "beta": (index_law.beta_sample(2.5, 4.0), lambda rng, n: rng.beta(2.5, 4.0, n)),
}


@pytest.mark.parametrize("kind", LAWS)
def test_counts_of_draws(kind: str) -> None:
    """11 levels and 8 laws, both sides: a right program is 5 sds off with a chance of 1e-4."""
    law, draw = LAWS[kind]
    drawn = draw(np.random.default_rng(1), 40_000)
    place = atom(law)
    levels = np.quantile(drawn, np.linspace(0.02, 0.98, 10)).tolist()
    for level in levels + ([place] if place > -INF else []):
        below, mass = at(law, level)
        for truth, counted in ((below, drawn < level), (below + mass, drawn <= level)):
            allowed = 5 * math.sqrt(truth * (1 - truth) / drawn.size) + 1e-12
            assert abs(counted.mean() - truth) <= allowed


@pytest.mark.parametrize("kind", LAWS)
def test_the_slope_is_the_density(kind: str) -> None:
    law, _ = LAWS[kind]
    low, high = ends(law)
    assert at(law, low).below <= 1e-10
    assert sum(at(law, high)) >= 1 - 2e-10
    for level in np.linspace(low, high, 37):
        if abs(level - atom(law)) > 1e-5 and low < level < high:
            step = 1e-6
            rise = (at(law, level + step).below - at(law, level - step).below) / (2 * step)
            assert slope(law, level).mass == pytest.approx(rise, abs=1e-6, rel=1e-6)
            assert slope(law, level).below == at(law, level).below


def test_the_normal_law_is_right_to_15_digits() -> None:
    for x in np.linspace(-7.99, 7.99, 4_001).tolist():
        below, density = sample_at(3.0 + 0.5 * x, 3.0, 0.5)
        assert below == pytest.approx(0.5 * math.erfc(-x * math.sqrt(0.5)), abs=1e-15, rel=1e-9)
        assert density == pytest.approx(NormalDist(0, 0.5).pdf(0.5 * x), rel=1e-9)
    assert sample_at(0.0, 0.0, 1.0).below == pytest.approx(0.5, abs=1e-15)
    assert sample_at(8.0, 0.0, 1.0) == (1.0, 0.0)
    assert sample_at(-8.0, 0.0, 1.0) == (0.0, 0.0)
    assert sample_at(1.0, 1.0, 0.0) == (1.0, 0.0)  # a constant is at most itself


def test_infinite_parts() -> None:
    assert at(index_law.constant(INF), 3.0) == (0.0, 0.0)
    assert ends(index_law.constant(INF)) == (INF, INF)
    assert ends(index_law.constant(-2.0)) == (-2.0, -2.0)
    assert at(index_law.median_law(0.0, 0.0, 1.0, INF, 1.0), 0.0) == (0.0, 0.5)
    assert atom(index_law.one_sample(0.0, 1.0)) == -INF
