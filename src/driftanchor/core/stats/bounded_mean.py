"""Where the mean of bounded values is, whatever their law: exact at every sample size.

Regret has a tail of rare runs that lose almost all there is to lose. Where a sample has few of
them, Student's interval is too short, and too short on the side that flatters. The interval here
makes no assumption but the range of a value, which is known for regret. It is by betting:

A gambler who thinks that the mean is not m puts a share b of the capital on x and the rest on
1 − x, at odds that are fair if the mean is m: each value multiplies the capital by

    b x/m + (1 − b) (1 − x)/(1 − m).

If the mean is m, then no way of betting makes the capital grow to 1/ε, ever, with a probability
above ε (Ville). Cover and Ordentlich's universal portfolio bets without knowing the best b, and
after n values it has at least the capital of the best b in hindsight over 2 √(n + 1). So the m for
which

    max_b Σ log(b x/m + (1 − b) (1 − x)/(1 − m)) ≤ log(2 √(n + 1)/ε)

hold the true mean with probability 1 − ε, at all n together: runs may be added until a question is
decided, and the interval stays right.
"""

from __future__ import annotations

import math

import numpy as np

from driftanchor.core.check import Floats

Interval = tuple[float, float]
STEPS = 60  # of a bisection: more than a double can tell apart


def bounded_mean_interval(values: Floats, low: float, high: float, miss: float) -> Interval:
    """Where the mean of independent values of one law is, if all values are in a range.

    Args:
        values: At least one, from `low` to `high`.
        low: The lowest value possible.
        high: The highest value possible.
        miss: The chance that the interval misses the mean, at any of all sample sizes.

    Example:
        >>> few, many = np.full(20, 1.0), np.full(20_000, 1.0)
        >>> [[round(x, 2) for x in bounded_mean_interval(v, 0.0, 9.0, 0.05)] for v in (few, many)]
        [[0.77, 2.84], [1.0, 1.0]]
    """
    if high <= low:
        return low, high
    scaled = np.clip((values - low) / (high - low), 0.0, 1.0)
    limit = math.log(2.0 * math.sqrt(values.size + 1.0) / miss)
    top = _upper_end(scaled, limit)
    bottom = 1.0 - _upper_end(1.0 - scaled, limit)
    return low + (high - low) * bottom, low + (high - low) * top


def _upper_end(x: Floats, limit: float) -> float:
    """The largest mean m that the limit allows.

    The best bet against m has stakes 1 + r x up to a factor, r from −1 to 0 where m is above the
    sample mean. It is the best against m(r) = Σ x/(1 + r x) / Σ 1/(1 + r x), so each r gives a
    mean and its capital, and the end is where the capital meets the limit. At r = −1 all is put
    on 1 − x. Beyond that m only the odds change.
    """
    if _capital(x, -1.0)[1] <= limit:  # even the boldest bet does not reach it
        return 1.0 - math.exp((float(np.log1p(-x).sum()) - limit) / x.size)
    low, high = -1.0, 0.0
    for _ in range(STEPS):
        r = 0.5 * (low + high)
        low, high = (r, high) if _capital(x, r)[1] > limit else (low, r)
    return _capital(x, low)[0]


def _capital(x: Floats, r: float) -> tuple[float, float]:
    """The mean against which a bet is the best one, and the logarithm of its capital."""
    if r <= -1.0 and x.max() >= 1.0:  # the limit of bolder and bolder bets
        return 1.0, math.inf
    bets = r * x
    weights = 1.0 / (1.0 + bets)
    mean = float((x * weights).sum() / weights.sum())
    return mean, float(np.log1p(bets).sum()) - x.size * math.log1p(r * mean)
