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
    """A number and its 95 % interval."""

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
    """Where the mean of rewards may be; None where their variance is not known.

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


def quantile_interval(values: Floats, q: float) -> Interval:
    """Values between which a quantile lies, of whatever law: by the ranks that it may have.

    Example:
        >>> quantile_interval(np.arange(1000.0), 0.9)
        (880.0, 918.0)
    """
    n = values.size
    half = two_sided(MISS) * math.sqrt(n * q * (1 - q))
    ranks = np.clip([math.floor(n * q - half) - 1, math.ceil(n * q + half) - 1], 0, n - 1)
    low, high = np.sort(values)[ranks]
    return float(low), float(high)
