"""A confidence interval for the mean of bounded values, valid at every sample size.

Regret has a tail of rare runs that lose nearly everything. If a sample contains too few of them,
Student's interval is too short and too optimistic. The interval here assumes only a known range of
values, which regret has. It is derived from a betting game.

Scale the values to 0 ≤ x ≤ 1. To test a mean m, bet against it, starting with a capital of 1. Put a
share b of the capital on x and the rest on 1 − x, at odds that are fair if the mean is m. Each
value multiplies the capital by

    b x/m + (1 − b) (1 − x)/(1 − m).

If the mean is m, the probability that a betting strategy ever reaches a capital of 1/α is at most α
(Ville's inequality). The best b is known only in hindsight. But after n values, Cover and
Ordentlich's universal portfolio has at least the capital of the best b, divided by 2 √(n + 1).
Hence the set of all m with

    max_b Σ log(b x/m + (1 − b) (1 − x)/(1 − m)) ≤ log(2 √(n + 1)/α)

contains the true mean with probability at least 1 − α, at all n simultaneously. The interval
therefore stays valid if runs are added until a question is decided.
"""

from __future__ import annotations

import math

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.stats.anytime import Interval


def bounded_mean_interval(values: Floats, low: float, high: float, alpha: float) -> Interval:
    """Return an interval for the mean of independent, identically distributed bounded values.

    Args:
        values: At least one value, all between `low` and `high`.
        low: Lowest possible value.
        high: Highest possible value.
        alpha: Maximum probability that the interval ever misses the mean as values are added.

    Example:
        >>> few, many = np.full(20, 1.0), np.full(20_000, 1.0)
        >>> [[round(x, 2) for x in bounded_mean_interval(v, 0.0, 9.0, 0.05)] for v in (few, many)]
        [[0.77, 2.84], [1.0, 1.0]]
    """
    if high <= low:
        return low, high
    scaled = np.clip((values - low) / (high - low), 0.0, 1.0)
    limit = _log_capital_limit(values.size, alpha)
    bottom, top = _lower_end(scaled, limit), 1.0 - _lower_end(1.0 - scaled, limit)
    return low + (high - low) * bottom, low + (high - low) * top


def hedged_mean_interval(values: Floats, hedges: Floats, means: Floats, alpha: float) -> Interval:
    """Return an interval for the mean of values without a common range.

    Each value v comes with a random hedge h ≥ |v|, and the mean of h is known. Since v + h and
    h − v are never negative, betting gives lower bounds for their means, even without an upper
    limit on the values. Subtracting the mean of h gives both ends of the interval.

    Args:
        values: At least one value; they are independent and identically distributed.
        hedges: One or several hedges for each value, by (hedge, value). The tightest bound is used.
        means: The known mean of each hedge.
        alpha: Maximum probability that the interval ever misses the mean as values are added.

    Example:
        >>> rng = np.random.default_rng(1)
        >>> hedge = rng.exponential(1.0, 5_000).clip(3.0)
        >>> values = 0.1 * rng.uniform(-1.0, 1.0, 5_000) * hedge
        >>> ends = hedged_mean_interval(values, hedge[None], np.array([3 + np.exp(-3)]), 0.05)
        >>> [round(x, 3) for x in ends]
        [-0.015, 0.023]
    """
    limit = _log_capital_limit(values.size, alpha / (2.0 * len(means)))

    def lower_bound(values: Floats) -> float:
        sums = (np.maximum(values + hedge, 0.0) for hedge in hedges)  # clip rounding errors
        return max(_lower_end(x, limit) - float(m) for x, m in zip(sums, means, strict=True))

    mean = float(values.mean())
    return min(lower_bound(values), mean), max(-lower_bound(-values), mean)


def _log_capital_limit(n: int, alpha: float) -> float:
    """Return the log capital that a bet against a mean must reach to reject it, after n values."""
    return math.log(2.0 * math.sqrt(n + 1.0) / alpha)


def _lower_end(values: Floats, limit: float) -> float:
    """Return the lower end of a confidence interval for the mean of non-negative values.

    A mean m is rejected if the best bet against it reaches a log capital of `limit`. For m below
    the sample mean, the best bet multiplies the capital by (1 + r x)/(1 + r m) for each value x,
    with some r ≥ 0. The bet with a given r is the best one against the mean
    m(r) = Σ x/(1 + r x) / Σ 1/(1 + r x). So each r yields a mean and a final capital. The lower end
    is the mean for which the log capital equals the limit. As r grows, the bet puts more and more
    of the capital on x, and m(r) falls to the harmonic mean. Against means below the harmonic mean,
    the best bet puts everything on x, and only the odds change.
    """
    from scipy.optimize import brentq

    scale = float(values.mean())
    if scale == 0.0:
        return 0.0
    x = values / scale
    if x.min() > 0.0:
        total = float(np.log(x).sum())
        if total + x.size * math.log(float((1.0 / x).mean())) <= limit:
            return scale * math.exp((total - limit) / x.size)

    def excess(s: float) -> float:
        return _best_bet(x, s / (1.0 - s))[1] - limit

    last = math.nextafter(1.0, 0.0)
    if excess(last) <= 0.0:
        return 0.0
    s = brentq(excess, 0.0, last, xtol=1e-16)
    return scale * _best_bet(x, s / (1.0 - s))[0]


def _best_bet(x: Floats, r: float) -> tuple[float, float]:
    """Return the mean m against which the bet with this r is best, and its final log capital.

    The bet multiplies the capital by (1 + r x)/(1 + r m) for each value x.
    """
    stakes = r * x
    weights = 1.0 / (1.0 + stakes)
    mean = float((x * weights).sum() / weights.sum())
    return mean, float(np.log1p(stakes).sum()) - x.size * math.log1p(r * mean)
