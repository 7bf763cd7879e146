"""Root finder for decreasing functions."""

from __future__ import annotations

import math
from collections.abc import Callable


def falling_root(function: Callable[[float], float], target: float, start: float) -> float:
    """Return the x ≥ 0 at which a decreasing function equals `target`.

    Returns 0 if the function is at most `target` at x = 0.

    Args:
        function: Decreasing for x ≥ 0.
        target: Value of the function at the root.
        start: Initial upper bracket, above 0; quadrupled until it contains the root.

    Raises:
        FloatingPointError: The function never reaches the target.

    Example:
        >>> round(falling_root(lambda x: 1 / (1 + x), 0.125, 1.0), 9)
        7.0
    """
    from scipy.optimize import brentq

    def above(x: float) -> float:
        return function(x) - target

    if above(0.0) <= 0:
        return 0.0
    low, high = 0.0, start
    while above(high) > 0:
        low, high = high, 4 * high
        if math.isinf(high):
            raise FloatingPointError("the function does not reach its target")
    return float(brentq(above, low, high, xtol=1e-300, rtol=1e-12, maxiter=1_000))
