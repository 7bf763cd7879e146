"""Random draws from gamma and Beta distributions, in plain code that Numba compiles."""

from __future__ import annotations

import math

from driftanchor.core.noise import Stream, normal, uniform


def gamma(shape: float, stream: Stream) -> float:
    """Draw from the gamma distribution with scale 1 and a shape of at least 1.

    The cube of a shifted normal is nearly gamma; rejection sampling makes it exact and accepts more
    than 95 % of the draws (Marsaglia & Tsang 2000). The first test avoids most logarithms.
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
    """Draw from Beta(a, b), with a and b at least 1: x/(x + y) for gamma draws x and y."""
    x = gamma(a, stream)
    return x / (x + gamma(b, stream))
