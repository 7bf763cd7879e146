"""The laws of indices against counts of draws."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from law_cases import below, counted_below

from driftanchor.core import index_law
from driftanchor.core.check import Floats
from driftanchor.core.index_law import IndexLaw

ATOMS = {"constant": 0.3, "larger": 0.3, "smaller": 0.3, "median": 0.0, "coin": -0.2}
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
    """11 levels and 8 laws: a right program is 5 sds off with a chance of 1e-4."""
    law, draw = LAWS[kind]
    drawn = draw(np.random.default_rng(1), 40_000)
    levels = np.quantile(drawn, np.linspace(0.02, 0.98, 10)).tolist()
    for level in [*levels, ATOMS.get(kind, 0.4)]:
        truth = below(law, level)
        allowed = 5 * math.sqrt(truth * (1 - truth) / drawn.size) + 1e-7
        assert abs(counted_below(drawn, level) - truth) <= allowed


def test_infinite_constants() -> None:
    assert below(index_law.constant(math.inf), 3.0) == 0.0
    assert below(index_law.constant(-math.inf), 3.0) == 1.0
