"""Gamma and Beta draws, for posteriors of chances."""

from __future__ import annotations

import math

from driftanchor.core.noise import Stream, normal, uniform


def gamma(shape: float, stream: Stream) -> float:
    """A gamma draw of scale 1 and a shape of at least 1, by rejection (Marsaglia & Tsang 2000).

    The cube of a shifted normal is nearly gamma; accepting it with the right chance, which is
    above 95 %, makes it exactly so. The first test spares the logarithms of most draws.
    """
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(stream)
        v = 1.0 + c * x
        if v > 0.0:
            v = v * v * v
            u = 1.0 - uniform(stream)  # never 0
            square = x * x
            if u < 1.0 - 0.0331 * square * square:
                return d * v
            if math.log(u) < 0.5 * square + d * (1.0 - v + math.log(v)):
                return d * v


def beta(a: float, b: float, stream: Stream) -> float:
    """A Beta(a, b) draw, both at least 1: a gamma's share of the sum of two."""
    x = gamma(a, stream)
    return x / (x + gamma(b, stream))
