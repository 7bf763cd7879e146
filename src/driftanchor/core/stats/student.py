"""Quantiles of Student's t, so that intervals of a few runs are as wide as they must be."""

from __future__ import annotations

import math
from statistics import NormalDist


def student(tail: float, freedom: int) -> float:
    """The value that |t| exceeds with probability `tail`.

    Hill's Algorithm 396 (Communications of the ACM 13, 1970), good to six figures; the letters are
    his.

    Args:
        tail: Both tails together, in (0, 1).
        freedom: Degrees of freedom, at least 1.

    Example:
        >>> [round(student(0.05, n), 3) for n in (1, 2, 5, 30, 10_000)]
        [12.706, 4.303, 2.571, 2.042, 1.96]
    """
    n, p = freedom, tail
    if n == 1:
        return 1.0 / math.tan(p * math.pi / 2)
    if n == 2:
        return math.sqrt(2.0 / (p * (2.0 - p)) - 2.0)
    a = 1.0 / (n - 0.5)
    b = 48.0 / a**2
    c = ((20_700 * a / b - 98) * a - 16) * a + 96.36
    d = ((94.5 / (b + c) - 3.0) / b + 1.0) * math.sqrt(a * math.pi / 2) * n
    y = (d * p) ** (2.0 / n)
    if y > 0.05 + a:
        x = NormalDist().inv_cdf(p / 2)
        y = x * x
        if n < 5:
            c += 0.3 * (n - 4.5) * (x + 0.6)
        c += (((0.05 * d * x - 5.0) * x - 7.0) * x - 2.0) * x + b
        y = (((((0.4 * y + 6.3) * y + 36.0) * y + 94.5) / c - y - 3.0) / b + 1.0) * x
        y = math.expm1(a * y * y)
    else:
        y = (
            (1.0 / (((n + 6.0) / (n * y) - 0.089 * d - 0.822) * (n + 2.0) * 3.0) + 0.5 / (n + 4.0))
            * y
            - 1.0
        ) * (n + 1.0) / (n + 2.0) + 1.0 / y
    return math.sqrt(n * y)
