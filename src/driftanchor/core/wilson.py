"""Wilson's interval for a share."""

from __future__ import annotations

import math
from statistics import NormalDist


def wilson(share: float, n: int, miss: float = 0.05) -> tuple[float, float]:
    """Where the chance of a success may be, given its share in n trials; right for rare ones too.

    Args:
        share: Successes / n.
        n: Trials.
        miss: The chance that the interval misses the truth.

    Example:
        >>> [round(x, 4) for x in wilson(0.0, 100)]
        [0.0, 0.037]
    """
    z = NormalDist().inv_cdf(1 - miss / 2)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2) / (1 + z * z / n)
    return (centre - half if share > 0 else 0.0), (centre + half if share < 1 else 1.0)
