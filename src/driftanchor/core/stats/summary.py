"""Mean, standard error and quantiles of a sample; whether rewards are binary."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from driftanchor.core.check import Bools, Floats, Ints

ROUNDING = 1e-9  # tolerance for rounding errors in a variance


def standard_error(values: Floats) -> Floats:
    """Return the standard error of the mean over the first axis; NaN for a single value.

    Example:
        >>> float(standard_error(np.array([1.0, 3.0])))
        1.0
    """
    n = values.shape[0]
    if n < 2:
        return np.full(values.shape[1:], np.nan)
    return np.asarray(values.std(axis=0, ddof=1) / np.sqrt(n))


def summarise(values: Floats, quantiles: Mapping[str, float]) -> dict[str, float]:
    """Return the mean, its standard error (`se`), the named quantiles and the maximum.

    Example:
        >>> summarise(np.array([1.0, 2.0, 6.0]), {"median": 0.5})
        {'mean': 3.0, 'se': 1.5275252316519468, 'median': 2.0, 'max': 6.0}
    """
    points = np.quantile(values, list(quantiles.values())).tolist()
    return {
        "mean": float(values.mean()),
        "se": float(standard_error(values)),
        **dict(zip(quantiles, points, strict=True)),
        "max": float(values.max()),
    }


def is_binary(n: int | Ints | Floats, mean: float | Floats, variance: float | Floats) -> Bools:
    """Return whether n rewards with this mean and sample variance could all be 0 or 1.

    If all rewards are 0 or 1, their mean determines their variance. A single reward has no sample
    variance; it counts as binary if it is 0 or 1. The arguments are scalars or arrays.

    Example:
        >>> bool(is_binary(4, 0.5, 1 / 3)), bool(is_binary(4, 0.5, 0.2))
        (True, False)
    """
    n, mean = np.asarray(n), np.asarray(mean)
    population_variance = np.where(n > 1, np.asarray(variance) * (n - 1) / n, 0.0)
    matches = np.abs(population_variance - mean * (1 - mean)) <= ROUNDING
    return np.asarray((mean >= 0) & (mean <= 1) & matches)
