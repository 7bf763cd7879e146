"""Two functions that the models of moves share: a root finder and the log of a chi-square law."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from driftanchor.core.check import Floats

UNDERFLOW = 1e-200  # below this probability its logarithm is computed directly


def falling_root(function: Callable[[float], float], target: float, start: float) -> float:
    """Return the x ≥ 0 at which a falling function reaches a target; 0 if it starts below it.

    Args:
        function: Falls from 0 on.
        target: Its value at the root.
        start: First guess of an upper end, above 0.

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


def log_chi_square(x: Floats, df: Floats | float) -> Floats:
    """Return log P(χ² ≤ x), finite even if the probability underflows.

    Probabilities below `UNDERFLOW` use the power series of the incomplete gamma function
    (Abramowitz & Stegun 6.5.29), with a = df/2 and h = x/2::

        P = h^a e^(−h) / Γ(a + 1) · M(1, a + 1, h)

    Args:
        x: At least 0.
        df: Degrees of freedom, above 0; need not be whole.

    Example:
        >>> np.exp(log_chi_square(np.array([3.841, 5.991]), np.array([1.0, 2.0]))).round(4).tolist()
        [0.95, 0.95]
    """
    from scipy.special import gammainc, gammaln, hyp1f1

    a, half = np.broadcast_arrays(np.asarray(df) / 2, x / 2)
    probability = gammainc(a, half)
    tiny = probability < UNDERFLOW
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(probability)
        a, half = a[tiny], half[tiny]
        logs[tiny] = a * np.log(half) - half - gammaln(a + 1) + np.log(hyp1f1(1.0, a + 1, half))
    return logs
