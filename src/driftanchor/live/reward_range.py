"""The range that rewards can lie in, as callers declare it."""

import math

from driftanchor.core import check

Range = tuple[float, float]
ANYTHING: Range = (-math.inf, math.inf)


def valid_range(value: object) -> Range:
    """The lowest and the highest reward possible; `None` allows every finite reward.

    Example:
        >>> valid_range((0, 1)), valid_range(None)
        ((0.0, 1.0), (-inf, inf))
    """
    return ANYTHING if value is None else check.rising_pair(value, "reward_range")
