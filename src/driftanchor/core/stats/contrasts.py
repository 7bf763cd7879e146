"""Contrasts: weighted sums of the means, or of a quantile, of several paired samples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.stats.summary import standard_error

RESAMPLES = 200  # of the bootstrap


class Contrast(NamedTuple):
    """A contrast and its standard error, which is NaN for a single run."""

    value: float
    se: float


def mean_contrast(factors: Floats, samples: Floats) -> Contrast:
    """The sum of factor times mean, over samples that are paired run by run.

    Args:
        factors: One for each sample.
        samples: Values by (sample, run).

    Example:
        >>> mean_contrast(np.array([1.0, -1.0]), np.array([[3.0, 5.0], [1.0, 1.0]]))
        Contrast(value=3.0, se=1.0)
    """
    runs = factors @ samples
    return Contrast(float(runs.mean()), float(standard_error(runs)))


def quantile_contrast(factors: Floats, samples: Floats, quantile: float) -> Contrast:
    """As `mean_contrast`, of a quantile; its standard error is by bootstrap over runs."""
    runs = samples.shape[1]
    rng = np.random.default_rng(0)
    again = [
        factors @ np.quantile(samples[:, rng.integers(0, runs, runs)], quantile, axis=1)
        for _ in range(RESAMPLES)
    ]
    value = factors @ np.quantile(samples, quantile, axis=1)
    return Contrast(float(value), float(np.std(again, ddof=1)))
