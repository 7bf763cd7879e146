"""The Beta law: how likely a sample is below a level, and its density.

Plain scalar functions, interpreted and compiled.
"""

from __future__ import annotations

import math

from driftanchor.core.legendre import POINTS, WEIGHTS

_TINY = 1e-300
_STEPS = 600  # of the continued fraction; it needs about √min(a, b)
_LARGE = 3000.0  # both shapes above this: the density is all but normal, and is integrated
_FAR = 7.2  # √(2·26): a sub-Gaussian is further away, in sds, with a chance below 1e-11


def beta_below(a: float, b: float, x: float) -> float:
    """P(θ ≤ x) of θ ~ Beta(a, b), the incomplete beta function.

    Example:
        >>> round(beta_below(2.0, 1.0, 0.5), 12)
        0.25
    """
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    if a > _LARGE and b > _LARGE:
        return _integrated(a, b, x)
    front = x * (1.0 - x) * beta_density(a, b, x)
    if x * (a + b + 2.0) < a + 1.0:  # where the fraction converges fast
        return front * _fraction(a, b, x) / a
    return 1.0 - front * _fraction(b, a, 1.0 - x) / b


def beta_density(a: float, b: float, x: float) -> float:
    """The density of Beta(a, b) at x; 0 outside 0 to 1.

    Written around the mean, so that large shapes lose no digits to cancellation.
    """
    if not 0.0 < x < 1.0:
        return 0.0
    mean = a / (a + b)
    away = x - mean
    log = a * math.log1p(away / mean) + b * math.log1p(-away / (1.0 - mean))
    log += beyond_stirling(a + b) - beyond_stirling(a) - beyond_stirling(b)
    return math.exp(log) * math.sqrt(a * (1.0 - mean) / (2.0 * math.pi)) / (x * (1.0 - x))


def beta_ends(a: float, b: float) -> tuple[float, float]:
    """Two numbers that a Beta(a, b) sample is outside of with a negligible chance.

    Such a sample is sub-Gaussian with variance 1/(4 (a + b + 1)) (Marchal & Arbel 2017).
    """
    mean = a / (a + b)
    reach = _FAR * 0.5 / math.sqrt(a + b + 1.0)
    return max(0.0, mean - reach), min(1.0, mean + reach)


def beyond_stirling(z: float) -> float:
    """What log Γ(z) is above (z − ½) log z − z + ½ log 2π."""
    if z < 16.0:
        return math.lgamma(z) - (z - 0.5) * math.log(z) + z - 0.5 * math.log(2.0 * math.pi)
    w = 1.0 / (z * z)
    return (1.0 / 12.0 - w * (1.0 / 360.0 - w * (1.0 / 1260.0 - w * (1.0 / 1680.0)))) / z


def _integrated(a: float, b: float, x: float) -> float:
    """P(θ ≤ x) from the density, between x and where the nearer tail ends."""
    mean = a / (a + b)
    reach = 1.4 * _FAR * math.sqrt(mean * (1.0 - mean) / (a + b))
    end = max(0.0, min(mean, x) - reach) if x < mean else min(1.0, max(mean, x) + reach)
    total, width = 0.0, 0.25 * (end - x)
    for panel in range(4):
        for k in range(POINTS.size):
            place = x + (panel + 0.5 + 0.5 * POINTS[k]) * width
            total += 0.5 * WEIGHTS[k] * beta_density(a, b, place)
    total = abs(total * width)
    return total if x < mean else 1.0 - total


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1.0 / _apart_from_0(1.0 - (a + b) * x / (a + 1.0))
    value = d
    for m in range(1, _STEPS + 1):
        n = a + 2.0 * m
        even = m * (b - m) * x / ((n - 1.0) * n)
        d, c = 1.0 / _apart_from_0(1.0 + even * d), _apart_from_0(1.0 + even / c)
        value *= c * d
        odd = -(a + m) * (a + b + m) * x / (n * (n + 1.0))
        d, c = 1.0 / _apart_from_0(1.0 + odd * d), _apart_from_0(1.0 + odd / c)
        value *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return value


def _apart_from_0(x: float) -> float:
    return x if abs(x) > _TINY else _TINY
