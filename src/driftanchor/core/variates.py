"""Random variates: gamma, Beta and binomial draws, in plain code that Numba compiles."""

from __future__ import annotations

import math

from driftanchor.core.noise import Stream, normal, uniform

_FEW = 10.0  # below this many expected successes, draw the gaps between them one by one


def gamma(shape: float, stream: Stream) -> float:
    """Draw from the gamma distribution with scale 1 and a shape of at least 1.

    The cube of a shifted normal variable is nearly gamma. Rejection sampling makes the distribution
    exact and accepts more than 95 % of the draws (Marsaglia & Tsang 2000). A cheap first test
    accepts most draws without computing a logarithm.
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
    """Draw from Beta(a, b), with a and b at least 1.

    The draw is x/(x + y), where x and y are gamma draws with shapes a and b.
    """
    x = gamma(a, stream)
    return x / (x + gamma(b, stream))


def binomial(n: int, p: float, stream: Stream) -> int:
    """Draw the number of successes in n trials with success probability p.

    The running time hardly depends on n.
    """
    if p <= 0.0 or n == 0:
        return 0
    if p >= 1.0:
        return n
    if p > 0.5:
        return n - _successes(n, 1.0 - p, stream)
    return _successes(n, p, stream)


def _successes(n: int, p: float, stream: Stream) -> int:
    """Draw the number of successes in n trials, for a success probability p of at most ½."""
    if n * p < _FEW:
        return _one_by_one(n, p, stream)
    return _by_rejection(n, p, stream)


def _one_by_one(n: int, p: float, stream: Stream) -> int:
    """Draw a binomial count by drawing the gaps between successes, which are geometric."""
    wins, tried = 0, 0.0
    while True:
        tried += math.floor(math.log(1.0 - uniform(stream)) / math.log1p(-p)) + 1.0
        if tried > n:
            return wins
        wins += 1


def _by_rejection(n: int, p: float, stream: Stream) -> int:
    """Draw a binomial count by transformed rejection with a squeeze (BTRS, Hörmann 1993).

    Requires n p ≥ 10 and p ≤ ½.
    """
    q = 1.0 - p
    deviation = math.sqrt(n * p * q)
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    inside = 0.92 - 4.2 / b
    scale = (2.83 + 5.1 / b) * deviation
    mode = math.floor((n + 1) * p)
    while True:
        u = uniform(stream) - 0.5
        v = uniform(stream)
        edge = 0.5 - abs(u)
        wins = math.floor((2.0 * a / edge + b) * u + n * p + 0.5) if edge > 0.0 else -1
        if edge >= 0.07 and v <= inside:
            return int(wins)
        if wins < 0 or wins > n:
            continue
        height = math.log(v * scale / (a / (edge * edge) + b)) if v > 0.0 else -math.inf
        if height <= _log_ways(n, mode, wins) + (wins - mode) * math.log(p / q):
            return int(wins)


def _log_ways(n: int, mode: int, wins: int) -> float:
    """Return log(C(n, wins)/C(n, mode)), the log ratio of two binomial coefficients.

    The formula uses wins − mode, because subtracting log factorials would lose too many digits.
    """
    more = wins - mode
    left, left_at_mode = n - wins + 1.0, n - mode + 0.5
    return (
        (mode + 0.5) * math.log1p(-more / (wins + 1.0))
        + left_at_mode * math.log1p(more / left)
        + more * math.log(left / (wins + 1.0))
        + _beyond_stirling(mode)
        + _beyond_stirling(n - mode)
        - _beyond_stirling(wins)
        - _beyond_stirling(n - wins)
    )


def _beyond_stirling(k: int) -> float:
    """Return the error of Stirling's formula for log k!, to double precision.

    The error is log k! − [(k + ½) log(k + 1) − (k + 1) + ½ log 2π].
    """
    x, passed = k + 1.0, 0.0
    while x < 16.0:  # raise x until the series is precise
        passed += (x + 0.5) * math.log1p(1.0 / x) - 1.0
        x += 1.0
    z = 1.0 / (x * x)
    series = (1.0 / 12 - z * (1.0 / 360 - z * (1.0 / 1260 - z * (1.0 / 1680 - z / 1188)))) / x
    return passed + series
