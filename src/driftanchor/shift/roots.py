"""Roots of functions that only rise or only fall."""

from __future__ import annotations

import math
from collections.abc import Callable

STEPS = 80  # far more than are needed: each saves at least as much as some bisection
NEAR = 1e-9  # of the root: close enough


def where(function: Callable[[float], float], target: float, start: float) -> float:
    """The x ≥ 0 at which a monotone function reaches a target.

    The root is put between two numbers that are a factor of 4 apart, and then found by false
    position in the form of Illinois, which halves the value at an end that stays (Dowell & Jarratt
    1971).

    Args:
        function: Rising, or falling.
        target: A value that it takes or passes somewhere above 0.
        start: Where to look first, above 0.

    Raises:
        FloatingPointError: It does not reach the target below infinity.

    Example:
        >>> round(where(lambda x: 1 / (1 + x), 0.125, 1.0), 9)
        7.0
    """
    low, at_low = 0.0, function(0.0) - target
    if at_low == 0:
        return 0.0
    high, at_high = start, function(start) - target
    while at_low * at_high > 0:
        low, at_low, high = high, at_high, 4 * high
        at_high = function(high) - target
        if math.isinf(high):
            break
    if math.isinf(high) or math.isnan(at_high):
        raise FloatingPointError("the function does not reach its target")
    while low == 0 and high > 1e-150:  # nearer, in steps of 4, unless the root is 0 itself
        middle = high / 4
        value = function(middle) - target
        if at_low * value > 0:
            low, at_low = middle, value
        else:
            high, at_high = middle, value
    side = 0
    for _ in range(STEPS):
        if at_high == 0 or high - low <= NEAR * high:
            break
        middle = (low * at_high - high * at_low) / (at_high - at_low)
        if not low < middle < high:
            middle = (low + high) / 2
        value = function(middle) - target
        if value * at_low > 0:
            low, at_low = middle, value
            at_high = at_high / 2 if side == 1 else at_high
            side = 1
        else:
            high, at_high = middle, value
            at_low = at_low / 2 if side == -1 else at_low
            side = -1
    return high


def fallen(function: Callable[[float], float], target: float, start: float) -> float:
    """Where a falling function reaches a target; 0 if it starts at it or below."""
    return 0.0 if function(0.0) <= target else where(function, target, start)
