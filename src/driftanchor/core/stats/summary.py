"""What many values amount to: their mean, its standard error, quantiles and maximum."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from driftanchor.core.check import Floats


def standard_error(values: Floats) -> Floats:
    """Standard error of the mean over the first axis; NaN for a single value.

    Example:
        >>> float(standard_error(np.array([1.0, 3.0])))
        1.0
    """
    n = values.shape[0]
    if n < 2:
        return np.full(values.shape[1:], np.nan)
    return np.asarray(values.std(axis=0, ddof=1) / np.sqrt(n))


def summarise(values: Floats, quantiles: Mapping[str, float]) -> dict[str, float]:
    """Mean, its standard error (`se`), the quantiles by their names, and the maximum.

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
