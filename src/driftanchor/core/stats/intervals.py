"""Where a mean, a share, a difference of means or a quantile may be."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.record import encode
from driftanchor.core.stats.coins import like_coins
from driftanchor.core.stats.normal import two_sided
from driftanchor.core.stats.student import student
from driftanchor.core.stats.summary import standard_error

MISS = 0.05  # the chance that an interval misses the truth, unless another is asked for

Interval = tuple[float, float]


class Estimate(NamedTuple):
    """A number and its interval, of 95 % where nothing else is said."""

    value: float
    low: float
    high: float

    def to_json(self) -> dict[str, float | str | None]:
        """For programs."""
        return {name: encode(x) for name, x in self._asdict().items()}


def mean_estimate(values: Floats) -> Estimate:
    """The mean of many independent values, with its normal interval.

    Example:
        >>> mean_estimate(np.array([1.0, 3.0] * 50)).value
        2.0
    """
    mean, half = float(values.mean()), float(standard_error(values))
    half *= two_sided(MISS)
    return Estimate(mean, mean - half, mean + half)


def mean_interval(n: int, mean: float, variance: float) -> Interval | None:
    """Where the mean of rewards may be; None if their variance is not known.

    Rewards that are all 0 or 1 have Wilson's interval, which is right for rare successes too.
    Others have Student's.

    Args:
        n: Rewards.
        mean: Their mean.
        variance: Their sample variance.

    Example:
        >>> [round(x, 4) for x in mean_interval(100, 0.0, 0.0)]
        [0.0, 0.037]
        >>> [round(x, 4) for x in mean_interval(5, 2.0, 4.0)]
        [-0.4833, 4.4833]
    """
    if n < 2 or math.isnan(variance):
        return None
    if like_coins(n, mean, variance):
        return wilson(mean, n)
    half = student(MISS, n - 1) * math.sqrt(variance / n)
    return mean - half, mean + half


def wilson(share: float, n: int, miss: float = MISS) -> Interval:
    """Where the chance of a success may be, given its share in n trials; right for rare ones too.

    Args:
        share: Successes / n.
        n: Trials.
        miss: The chance that the interval misses the truth.

    Example:
        >>> [round(x, 4) for x in wilson(0.0, 100)]
        [0.0, 0.037]
    """
    z = two_sided(miss)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2) / (1 + z * z / n)
    return (centre - half if share > 0 else 0.0), (centre + half if share < 1 else 1.0)


def difference(
    first: float, first_interval: Interval | None, second: float, second_interval: Interval | None
) -> Estimate:
    """How far a second mean is from a first one, with an interval made from those of both.

    With the intervals (l₁, u₁) of m₁ and (l₂, u₂) of m₂, the ends are
    d − √((m₂ − l₂)² + (u₁ − m₁)²) and d + √((u₂ − m₂)² + (m₁ − l₁)²), after Newcombe (1998), which
    is right for rare successes too. They are infinite where an interval is not known.

    Example:
        >>> difference(1.0, (0.6, 1.3), 2.0, (1.6, 2.3))
        Estimate(value=1.0, low=0.5, high=1.5)
    """
    l1, u1 = first_interval or (-math.inf, math.inf)
    l2, u2 = second_interval or (-math.inf, math.inf)
    d = second - first
    low = d - math.hypot(second - l2, u1 - first)
    return Estimate(d, low, d + math.hypot(u2 - second, first - l1))


def quantile_interval(
    values: Floats, q: float, miss: float = MISS, ends: Interval = (-math.inf, math.inf)
) -> Interval:
    """Values between which a quantile lies, of whatever law: by the ranks that it may have.

    How many of n values are below the quantile is binomial, so the ranks are exact.

    Args:
        values: A sample.
        q: Which quantile.
        miss: The chance that the interval misses it.
        ends: The lowest and the highest value possible, for a sample too small to tell.

    Example:
        >>> quantile_interval(np.arange(1000.0), 0.9)
        (880.0, 918.0)
        >>> quantile_interval(np.arange(100.0), 0.99, ends=(0.0, 500.0))
        (96.0, 500.0)
    """
    below = np.cumsum(_binomial(values.size, q))  # the chance of at most 0, 1, … values below
    lower = int(np.searchsorted(below, miss / 2, side="right")) - 1
    upper = int(np.searchsorted(below, 1 - miss / 2))
    ranked = np.sort(values)
    return (
        float(ranked[lower]) if lower >= 0 else ends[0],
        float(ranked[upper]) if upper < values.size else ends[1],
    )


def _binomial(n: int, q: float) -> Floats:
    """The chances of 0 to n successes in n trials."""
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1.0, n + 1.0)))])
    k = np.arange(n + 1.0)
    chances: Floats = np.exp(
        logs[n] - logs - logs[::-1] + k * math.log(q) + (n - k) * math.log1p(-q)
    )
    return chances
