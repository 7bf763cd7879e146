"""Quantiles of the chi-square law."""

from __future__ import annotations

import math
from statistics import NormalDist


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
