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
    limit = _limit(values.size, miss)
    bottom, top = _lower_end(scaled, limit), 1.0 - _lower_end(1.0 - scaled, limit)
    return low + (high - low) * bottom, low + (high - low) * top


def hedged_mean_interval(values: Floats, hedges: Floats, means: Floats, miss: float) -> Interval:
    """Where the mean of independent values of one law is, if each value has its own range.

    A hedge h is drawn with each value v, |v| ≤ h, and its mean is known. So v + h and h − v are at
    least 0, and a lower bound of either mean needs no upper end: it bounds the mean of v.

    Args:
        values: At least one.
        hedges: One or several hedges, by (hedge, value); the best one counts.
        means: The mean of each hedge.
        miss: The chance that the interval misses the mean, at any of all sample sizes.

    Example:
        >>> rng = np.random.default_rng(1)
        >>> hedge = rng.exponential(1.0, 5_000).clip(3.0)
        >>> values = 0.1 * rng.uniform(-1.0, 1.0, 5_000) * hedge
        >>> ends = hedged_mean_interval(values, hedge[None], np.array([3 + np.exp(-3)]), 0.05)
        >>> [round(x, 3) for x in ends]
        [-0.015, 0.023]
    """
    limit = _limit(values.size, miss / (2.0 * len(means)))

    def low_end(values: Floats) -> float:
        above = (np.maximum(values + hedge, 0.0) for hedge in hedges)  # rounding may go below 0
        return max(_lower_end(x, limit) - float(m) for x, m in zip(above, means, strict=True))

    mean = float(values.mean())
    return min(low_end(values), mean), max(-low_end(-values), mean)


def _limit(n: int, miss: float) -> float:
    """The logarithm of the capital at which a mean is excluded."""
    return math.log(2.0 * math.sqrt(n + 1.0) / miss)


def _lower_end(values: Floats, limit: float) -> float:
    """The smallest mean m of values ≥ 0 that the limit allows.

    The best bet against m has stakes 1 + r x up to a factor, r ≥ 0 where m is below the sample
    mean. It is the best against m(r) = Σ x/(1 + r x) / Σ 1/(1 + r x), so each r gives a mean and
    its capital, and the end is where the capital meets the limit. As r grows, all is put on x, and
    m(r) falls to the harmonic mean. Below that only the odds change.
    """
    scale = float(values.mean())
    if scale == 0.0:
        return 0.0
    x = values / scale
    if x.min() > 0.0:
        total = float(np.log(x).sum())
        if total + x.size * math.log(float((1.0 / x).mean())) <= limit:
            return scale * math.exp((total - limit) / x.size)
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        s = 0.5 * (low + high)
        low, high = (low, s) if _capital(x, s / (1.0 - s))[1] > limit else (s, high)
    return scale * _capital(x, high / (1.0 - high))[0] if high < 1.0 else 0.0


def _capital(x: Floats, r: float) -> tuple[float, float]:
    """The mean against which a bet is the best one, and the logarithm of its capital."""
    bets = r * x
    weights = 1.0 / (1.0 + bets)
    mean = float((x * weights).sum() / weights.sum())
    return mean, float(np.log1p(bets).sum()) - x.size * math.log1p(r * mean)
