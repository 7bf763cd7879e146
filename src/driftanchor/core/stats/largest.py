"""The largest of several normal variables, and the loss from choosing another one.

All variables μ_j share a random move; conditional on its value, they are independent. The loss from
choosing μ_L is max_j μ_j − μ_L. Let h be the density of max_{j≠L} μ_j. The mean loss is

    E loss = ∫ h(x) E max(x − μ_L, 0) dx.

The loss exceeds q if some other μ_j exceeds μ_L + q. `core.win_chances` computes the probability of
this event. It also supplies the quadrature nodes for the integral.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from driftanchor.core.check import Floats, Ints
from driftanchor.core.index_law import one_sample
from driftanchor.core.win_chances import MEAN, SD, TINY, chunks, nodes_of_largest, win_chances

SQRT_2_PI = math.sqrt(2.0 * math.pi)


class Loss(NamedTuple):
    """Mean and a quantile of the loss: the largest variable minus the chosen one."""

    mean: float
    quantile: float


def best_chances(means: Floats, sds: Floats, weights: Floats) -> Floats:
    """Return the probability that each of several normal variables is the largest.

    All variables share a random move. Conditional on its value, they are independent.

    Args:
        means: Array of shape (values of the shared move, variables): the mean of a variable, given
            a value of the move.
        sds: The standard deviations, an array of the same shape; above 0.
        weights: The probability of each value of the move.

    Example:
        >>> best_chances(np.array([[0.0, 1.0]]), np.ones((1, 2)), np.ones(1)).round(4)
        array([0.2398, 0.7602])
    """
    chances: Floats = weights @ win_chances(_normals(means, sds))
    return chances / max(float(chances.sum()), TINY)


def loss_of(means: Floats, sds: Floats, weights: Floats, chosen: int, q: float = 0.95) -> Loss:
    """Return the mean and the q-quantile of the loss from choosing one of several normal variables.

    The loss is the largest variable minus the one in column `chosen`. The other arguments are those
    of `best_chances`.

    Example:
        >>> loss = loss_of(np.array([[0.0, 1.0]]), np.ones((1, 2)), np.ones(1), 1)
        >>> round(loss.mean, 4), round(loss.quantile, 4)
        (0.1996, 1.3262)
    """
    from scipy.special import ndtr

    laws = _normals(means, sds)
    rows, x, width = nodes_of_largest(laws)
    mass = weights[rows] * width * _density_of_rivals(means, sds, rows, x, chosen)
    away, sd = x - means[rows, chosen], sds[rows, chosen]
    z = away / sd
    gain = away * ndtr(z) + sd * np.exp(-0.5 * z * z) / SQRT_2_PI
    return Loss(float(mass @ gain), _quantile(laws, weights, chosen, 1.0 - q))


def _normals(means: Floats, sds: Floats) -> Floats:
    """Return the normal distributions as an array of `IndexLaw` fields, for `win_chances`."""
    laws = np.empty((*means.shape, 6))
    laws[:] = one_sample(0.0, 1.0)
    laws[..., MEAN], laws[..., SD] = means, sds
    return laws


def _density_of_rivals(means: Floats, sds: Floats, rows: Ints, x: Floats, chosen: int) -> Floats:
    """Return the density at x of the largest variable other than the chosen one."""
    from scipy.special import ndtr

    density = np.empty(x.size)
    for part in chunks(x.size, means.shape[1]):
        row = rows[part]
        z = (x[part, None] - means[row]) / sds[row]
        law = np.maximum(ndtr(z), TINY)
        slope = np.exp(-0.5 * z * z) / (SQRT_2_PI * sds[row])
        law[:, chosen], slope[:, chosen] = 1.0, 0.0
        density[part] = law.prod(axis=1) * (slope / law).sum(axis=1)
    return density


def _quantile(laws: Floats, weights: Floats, chosen: int, above: float) -> float:
    """Return the loss that is exceeded with probability `above`.

    Returns 0 if the chosen variable is the largest with probability at least 1 − `above`.
    """
    from scipy.optimize import brentq
    from scipy.special import ndtri

    def excess(q: float) -> float:
        shifted = laws.copy()
        shifted[:, chosen, MEAN] += q
        return 1.0 - float(weights @ win_chances(shifted)[:, chosen]) - above

    if excess(0.0) <= 0.0:
        return 0.0
    means, sds = laws[..., MEAN], laws[..., SD]
    highest = (means - ndtri(0.5 * above / means.shape[1]) * sds).max(axis=1)
    lowest = means[:, chosen] + ndtri(0.5 * above) * sds[:, chosen]
    top = float((highest - lowest).max())  # exceeded with probability at most `above`
    return float(brentq(excess, 0.0, top, xtol=1e-8 * top))
