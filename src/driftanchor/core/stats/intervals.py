"""Fixed-sample intervals for means, shares, differences, quantiles and contrasts.

A contrast is a weighted sum of the means of several samples, or of their quantiles at one level,
such as their medians. Its interval assumes only that values lie between 0 and a known maximum. The
interval is valid both for independent samples and for samples paired by run.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.record import encode
from driftanchor.core.stats.anytime import Interval
from driftanchor.core.stats.bounded_mean import bounded_mean_interval
from driftanchor.core.stats.distributions import critical_t, critical_z
from driftanchor.core.stats.summary import is_binary, standard_error

ALPHA = 0.05  # default probability that an interval misses the truth


class Estimate(NamedTuple):
    """An estimate and the ends of its confidence interval; the level is 95 % unless stated."""

    value: float
    low: float
    high: float

    def to_json(self) -> dict[str, float | str | None]:
        """Return a dict for JSON, in which infinity is `"inf"` and NaN is null."""
        return {name: encode(x) for name, x in self._asdict().items()}


def mean_estimate(values: Floats) -> Estimate:
    """Return the mean of many independent values, with a 95 % normal-approximation interval.

    Example:
        >>> mean_estimate(np.array([1.0, 3.0] * 50)).value
        2.0
    """
    mean = float(values.mean())
    half_width = float(standard_error(values)) * critical_z(ALPHA)
    return Estimate(mean, mean - half_width, mean + half_width)


def mean_interval(n: int, mean: float, variance: float) -> Interval | None:
    """Return a 95 % interval for a mean reward; None if n is below 2 or the variance is unknown.

    Binary rewards get Wilson's interval, which is reliable even for rare successes. Other rewards
    get Student's t interval.

    Example:
        >>> [round(x, 4) for x in mean_interval(100, 0.0, 0.0)]
        [0.0, 0.037]
        >>> [round(x, 4) for x in mean_interval(5, 2.0, 4.0)]
        [-0.4833, 4.4833]
    """
    if n < 2 or math.isnan(variance):
        return None
    if is_binary(n, mean, variance):
        return wilson(mean, n)
    half_width = critical_t(ALPHA, n - 1) * math.sqrt(variance / n)
    return mean - half_width, mean + half_width


def wilson(share: float, n: int, alpha: float = ALPHA) -> Interval:
    """Return Wilson's interval for the probability of success, from the share of successes.

    Example:
        >>> [round(x, 4) for x in wilson(0.0, 100)]
        [0.0, 0.037]
    """
    z = critical_z(alpha)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half_width = z * math.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2) / (1 + z * z / n)
    return (centre - half_width if share > 0 else 0.0), (centre + half_width if share < 1 else 1.0)


def difference(
    first: float, first_interval: Interval | None, second: float, second_interval: Interval | None
) -> Estimate:
    """Return the second mean minus the first, with an interval for this difference.

    Let (l₁, u₁) and (l₂, u₂) be the intervals of the means m₁ and m₂, and d = m₂ − m₁. Newcombe's
    method (1998), which is reliable even for rare successes, gives the interval::

        d − √((m₂ − l₂)² + (u₁ − m₁)²)   to   d + √((u₂ − m₂)² + (m₁ − l₁)²)

    If either interval is unknown, both ends are infinite.

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
    values: Floats, q: float, alpha: float = ALPHA, support: Interval = (-math.inf, math.inf)
) -> Interval:
    """Return a distribution-free interval for the q-quantile, wrong with probability alpha.

    The number of values below the quantile is binomial. This determines which two sample values
    are the ends of the interval. If the sample is too small, an end of `support` is used.

    Example:
        >>> quantile_interval(np.arange(1000.0), 0.9)
        (880.0, 918.0)
        >>> quantile_interval(np.arange(100.0), 0.99, support=(0.0, 500.0))
        (96.0, 500.0)
    """
    from scipy.special import bdtr

    n = values.size
    cdf = bdtr(np.arange(n + 1.0), n, q)  # P(at most 0, 1, …, n values lie below the quantile)
    lower = int(np.searchsorted(cdf, alpha / 2, side="right")) - 1
    upper = int(np.searchsorted(cdf, 1 - alpha / 2))
    ranked = np.sort(values)
    return (
        float(ranked[lower]) if lower >= 0 else support[0],
        float(ranked[upper]) if upper < n else support[1],
    )


def mean_contrast(factors: Floats, samples: Floats, maxima: Floats, alpha: float) -> Estimate:
    """Return a weighted sum of sample means, with an interval that is valid as runs are added.

    `samples` has shape (samples, runs), and its values lie between 0 and `maxima`. The interval
    ever misses the true sum with probability at most alpha.

    Example:
        >>> runs = np.array([[3.0, 5.0] * 500, [1.0, 1.0] * 500])
        >>> contrast = mean_contrast(np.array([1.0, -1.0]), runs, np.array([9.0, 9.0]), 0.05)
        >>> [round(x, 2) for x in contrast]
        [3.0, 2.87, 3.12]
    """
    runs, ends = factors @ samples, factors * maxima
    low, high = float(ends[ends < 0].sum()), float(ends[ends > 0].sum())
    return Estimate(float(runs.mean()), *bounded_mean_interval(runs, low, high, alpha))


def quantile_contrast(
    factors: Floats, samples: Floats, maxima: Floats, alpha: float, *, quantile: float
) -> Estimate:
    """Return a weighted sum of the samples' quantiles at one level, with an interval.

    The intervals of the single quantiles share alpha evenly. The other arguments are those of
    `mean_contrast`.
    """
    intervals = np.array(
        [
            quantile_interval(sample, quantile, alpha / len(factors), (0.0, float(maximum)))
            for sample, maximum in zip(samples, maxima, strict=True)
        ]
    )
    value = factors @ np.quantile(samples, quantile, axis=1)
    ends = np.sort(factors[:, None] * intervals, axis=1).sum(axis=0)
    return Estimate(float(value), float(ends[0]), float(ends[1]))
