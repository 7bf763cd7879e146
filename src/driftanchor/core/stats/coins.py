"""Whether rewards are all 0 or 1, as far as their mean and variance tell."""

from __future__ import annotations

import numpy as np

from driftanchor.core.check import Bools, Floats, Ints

NEAR = 1e-9  # what rounding may change in a variance


def like_coins(n: int | Ints | Floats, mean: float | Floats, variance: float | Floats) -> Bools:
    """Whether the sample variance is that of n rewards which are all 0 or 1.

    A single reward has no variance; it must be 0 or 1 itself.

    Args:
        n: Rewards, at least 1; a number or an array, as the others.
        mean: Their mean.
        variance: Their sample variance; NaN where it is not known.

    Example:
        >>> bool(like_coins(4, 0.5, 1 / 3)), bool(like_coins(4, 0.5, 0.2))
        (True, False)
    """
    count, centre = np.asarray(n), np.asarray(mean)
    spread = np.where(count > 1, np.asarray(variance) * (count - 1) / count, 0.0)
    near = np.abs(spread - centre * (1 - centre)) <= NEAR
    return np.asarray((centre >= 0) & (centre <= 1) & near)
