"""Contrasts: weighted sums of the means, or of a quantile, of several samples.

The intervals make no assumption about the law of the values but that they are from 0 to a known
most. They hold for samples that are paired, run by run, and for independent ones.
"""

from __future__ import annotations

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.stats.bounded_mean import bounded_mean_interval
from driftanchor.core.stats.intervals import Estimate, quantile_interval


def mean_contrast(factors: Floats, samples: Floats, most: Floats, miss: float) -> Estimate:
    """The sum of factor times mean; its interval is right at all numbers of runs together.

    Args:
        factors: One for each sample.
        samples: Values by (sample, run).
        most: The highest value possible in each sample; the lowest is 0.
        miss: The chance that the interval misses the truth.

    Example:
        >>> runs = np.array([[3.0, 5.0] * 500, [1.0, 1.0] * 500])
        >>> found = mean_contrast(np.array([1.0, -1.0]), runs, np.array([9.0, 9.0]), 0.05)
        >>> [round(x, 2) for x in found]
        [3.0, 2.87, 3.12]
    """
    runs, ends = factors @ samples, factors * most
    low, high = float(ends[ends < 0].sum()), float(ends[ends > 0].sum())
    return Estimate(float(runs.mean()), *bounded_mean_interval(runs, low, high, miss))


def quantile_contrast(
    factors: Floats, samples: Floats, most: Floats, miss: float, *, quantile: float
) -> Estimate:
    """The sum of factor times quantile; its interval is made from those of the quantiles.

    The other arguments are those of `mean_contrast`.
    """
    each = miss / len(factors)
    intervals = np.array(
        [
            quantile_interval(sample, quantile, each, (0.0, float(end)))
            for sample, end in zip(samples, most, strict=True)
        ]
    )
    value = factors @ np.quantile(samples, quantile, axis=1)
    ends = np.sort(factors[:, None] * intervals, axis=1).sum(axis=0)
    return Estimate(float(value), float(ends[0]), float(ends[1]))
