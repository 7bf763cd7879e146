"""The normal law: the width of intervals, and a fast distribution function."""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

import numpy as np

from driftanchor.core.check import Floats

FAR = 9.0  # standard deviations: the table ends there
FINE = 2_000  # values in the table for each standard deviation


def two_sided(miss: float) -> float:
    """The value that |z| exceeds with probability `miss`.

    Example:
        >>> round(two_sided(0.05), 6)
        1.959964
    """
    return NormalDist().inv_cdf(1 - miss / 2)


def normal_cdf(x: Floats) -> Floats:
    """P(z ≤ x), interpolated in a table: good to 1e-8, and fast for large arrays.

    Example:
        >>> normal_cdf(np.array([-1.96, 0.0])).round(4).tolist()
        [0.025, 0.5]
    """
    value, rise = _table()
    place = (np.clip(x, -FAR, FAR) + FAR) * FINE
    step = place.astype(np.int64)
    result: Floats = value[step] + (place - step) * rise[step]
    return result


@cache
def _table() -> tuple[Floats, Floats]:
    x = np.arange(-FAR * FINE, FAR * FINE + 2) / FINE
    value = np.array([(1 + math.erf(z / math.sqrt(2))) / 2 for z in x.tolist()])
    return value, np.diff(value)
