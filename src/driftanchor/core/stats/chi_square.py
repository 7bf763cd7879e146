"""The chi-square law, of which NumPy has only the draws."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from driftanchor.core.check import Floats

ROWS = 256  # whose terms are held at once: they stay near the processor


def log_chi_square(x: Floats, freedom: Floats) -> Floats:
    """Log P(χ² ≤ x), also where the chance itself is too small for a float.

    The power series of the incomplete gamma function, all of whose terms are positive
    (Abramowitz & Stegun 6.5.29), with a = freedom/2::

        P = (x/2)^a e^(−x/2) / Γ(a + 1) · (1 + (x/2)/(a + 1) + (x/2)²/((a + 1)(a + 2)) + …)

    Args:
        x: At least 0.
        freedom: Degrees of freedom, above 0; need not be whole.

    Example:
        >>> np.exp(log_chi_square(np.array([3.841, 5.991]), np.array([1.0, 2.0]))).round(4).tolist()
        [0.95, 0.95]
    """
    if freedom.size == 1:
        log_gamma = np.array([math.lgamma(f / 2 + 1) for f in freedom.tolist()])
    else:  # few differ, however many arms there are
        kinds, kind = np.unique(freedom, return_inverse=True)
        log_gamma = np.array([math.lgamma(f / 2 + 1) for f in kinds.tolist()])[kind]
    x, freedom, log_gamma = np.broadcast_arrays(x, freedom, log_gamma)
    a = freedom / 2
    half = np.minimum(x / 2, a + 40 + 12 * np.sqrt(a))  # further up the chance is 1
    terms = 60 + int(10 * math.sqrt(half.max()) + max(0.0, (half - a).max()))  # beyond: < 1e-16
    steps = np.arange(1, terms)
    series = np.ones_like(half)
    for i in range(0, len(half), ROWS):
        rows = slice(i, i + ROWS)
        series[rows] += np.cumprod(half[rows, None] / (a[rows, None] + steps), axis=1).sum(axis=1)
    with np.errstate(divide="ignore"):
        first = a * np.log(half) - half - log_gamma
    log_chance: Floats = np.minimum(first + np.log(series), 0.0)
    return log_chance


def chi_square_ratio(chance: float, freedom: float) -> float:
    """The quantile of the chi-square law over its ν degrees of freedom, by Wilson & Hilferty 1931.

    With z the normal quantile of the chance::

        χ²/ν ≈ (1 − 2/(9 ν) + z √(2/(9 ν)))³

    Args:
        chance: In (0, 1).
        freedom: ν, degrees of freedom, at least 2.

    Example:
        >>> round(10 * chi_square_ratio(0.05, 10), 2)  # tables have 3.94
        3.93
    """
    z = NormalDist().inv_cdf(1 - chance)
    spread = 2 / (9 * freedom)
    return (1 - spread - z * math.sqrt(spread)) ** 3
