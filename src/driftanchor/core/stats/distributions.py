"""The normal, Student's t and chi-square distributions.

SciPy is imported on the first call, so that `import driftanchor` stays fast.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from driftanchor.core.check import Floats

UNDERFLOW = 1e-280  # below this, logarithms of probabilities come from a series


def normal_cdf(x: Floats) -> Floats:
    """Return P(z ≤ x) for a standard normal z.

    Example:
        >>> normal_cdf(np.array([-1.96, 0.0])).round(4).tolist()
        [0.025, 0.5]
    """
    from scipy.special import ndtr

    cdf: Floats = ndtr(x)
    return cdf


def critical_z(alpha: float) -> float:
    """Return the value that |z| exceeds with probability alpha, for a standard normal z.

    Example:
        >>> round(critical_z(0.05), 6)
        1.959964
    """
    return NormalDist().inv_cdf(1 - alpha / 2)


def critical_t(alpha: float, df: float) -> float:
    """Return the value that |t| exceeds with probability alpha, for Student's t distribution.

    `df` is the number of degrees of freedom.

    Example:
        >>> [round(critical_t(0.05, df), 3) for df in (1, 2, 5, 30, 10_000)]
        [12.706, 4.303, 2.571, 2.042, 1.96]
    """
    from scipy.special import stdtrit

    return float(stdtrit(df, 1 - alpha / 2))


def log_chi_square_cdf(x: Floats, df: Floats | float) -> Floats:
    """Return log P(χ² ≤ x). The result is precise even if the probability itself underflows.

    Tiny probabilities come from the power series of the incomplete gamma function (Abramowitz &
    Stegun 6.5.12), with a = df/2::

        P = (x/2)^a e^(−x/2) / Γ(a + 1) · ₁F₁(1; a + 1; x/2)

    Example:
        >>> x, df = np.array([3.841, 5.991]), np.array([1.0, 2.0])
        >>> np.exp(log_chi_square_cdf(x, df)).round(4).tolist()
        [0.95, 0.95]
    """
    from scipy.special import gammainc, gammaln, hyp1f1

    a, half = np.broadcast_arrays(np.asarray(df) / 2, x / 2)
    p = gammainc(a, half)
    small = p < UNDERFLOW
    with np.errstate(divide="ignore"):
        log_p: Floats = np.log(p)
        a, half = a[small], half[small]
        log_p[small] = a * np.log(half) - half - gammaln(a + 1) + np.log(hyp1f1(1.0, a + 1, half))
    return log_p
