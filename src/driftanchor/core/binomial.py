"""How many of n Bernoulli rewards are 1, drawn at once."""

from __future__ import annotations

import math

from driftanchor.core.noise import Stream, uniform

_FEW = 10.0  # expected wins up to which they are drawn one by one


def binomial(n: int, p: float, stream: Stream) -> int:
    """A binomial count; the time it takes hardly depends on n."""
    if p <= 0.0 or n == 0:
        return 0
    if p >= 1.0:
        return n
    if p > 0.5:
        return n - _wins(n, 1.0 - p, stream)
    return _wins(n, p, stream)


def _wins(n: int, p: float, stream: Stream) -> int:
    """A binomial count for a chance of at most one half."""
    if n * p < _FEW:
        return _one_by_one(n, p, stream)
    return _by_rejection(n, p, stream)


def _one_by_one(n: int, p: float, stream: Stream) -> int:
    """From win to win: the losses in between are geometric."""
    wins, tried = 0, 0.0
    while True:
        tried += math.floor(math.log(1.0 - uniform(stream)) / math.log1p(-p)) + 1.0
        if tried > n:
            return wins
        wins += 1


def _by_rejection(n: int, p: float, stream: Stream) -> int:
    """Transformed rejection with a squeeze (Hörmann 1993, BTRS), for at least 10 expected wins."""
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
    """Log of (n over wins)/(n over mode), in differences: the factorials have too few digits."""
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
    """Log k! − [(k + ½) log(k + 1) − (k + 1) + ½ log 2π], by as many terms as a double can tell."""
    x, passed = k + 1.0, 0.0
    while x < 16.0:  # one step up adds this much
        passed += (x + 0.5) * math.log1p(1.0 / x) - 1.0
        x += 1.0
    z = 1.0 / (x * x)
    series = (1.0 / 12 - z * (1.0 / 360 - z * (1.0 / 1260 - z * (1.0 / 1680 - z / 1188)))) / x
    return passed + series
