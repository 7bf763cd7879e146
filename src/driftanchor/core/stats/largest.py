"""Which of some normal numbers is the largest, and how far below it a chosen one is: no draws.

Given a shared move the numbers are independent, so one integral over the largest of the others
gives everything: with the density h of max_{j≠L} μ_j and the law N(m, s²) of the chosen μ_L, the
loss max(max_j μ_j − μ_L, 0) has

    P(loss > q) = ∫ h(x) Φ((x − q − m)/s) dx,   E loss = ∫ h(x) E(x − μ_L)⁺ dx.

The line is cut into panels at which no law bends by more than a standard deviation, with five
points of Gauss and Legendre's rule each.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from driftanchor.core.check import Bools, Floats
from driftanchor.core.stats.distributions import normal_cdf

REACH = 8.0  # standard deviations beyond which nothing happens
MOST = 2_000  # panels
ROWS = 200_000  # numbers held at once
TINY = 1e-300
STEPS = 45  # of a bisection
_PLACES, _WEIGHTS = np.polynomial.legendre.leggauss(5)


class Largest(NamedTuple):
    """What is believed of the largest."""

    chances: Floats  # of each number to be the largest
    loss: float  # expected: how far the chosen one is below the largest
    quantile: float  # of that loss


def largest(
    means: Floats, sds: Floats, weights: Floats, chosen: int, q: float = 0.95, panels: int = MOST
) -> Largest:
    """Which is the largest, and what choosing one of them loses.

    Args:
        means: Of each number, a row for each value of what they share.
        sds: Their standard deviations, of the same shape; above 0.
        weights: The probability of each row.
        chosen: The column whose loss is asked for.
        q: Which quantile of the loss.
        panels: How finely the line is cut where there are many numbers. Fewer are faster, and good
            enough for a picture.

    Example:
        >>> two = largest(np.array([[0.0, 1.0]]), np.ones((1, 2)), np.ones(1), 1)
        >>> two.chances.round(4).tolist(), round(two.loss, 4), round(two.quantile, 4)
        ([0.2398, 0.7602], 0.1996, 1.3262)
    """
    chances = np.zeros(means.shape[1])
    points: list[Floats] = []
    masses: list[Floats] = []
    loss, rows = 0.0, zip(means, sds, weights.tolist(), strict=True)
    for mean, sd, weight in rows:
        alive = _alive(mean, sd, chosen)
        place = int(np.flatnonzero(alive).searchsorted(chosen))
        x, w = _nodes(mean[alive], sd[alive], place, panels)
        won, rival = _shares(mean[alive], sd[alive], x, w, place)
        chances[alive] += weight * won
        z = (x - mean[chosen]) / sd[chosen]
        gain = z * normal_cdf(z) + np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
        loss += weight * float(rival @ gain) * float(sd[chosen])
        points.append(np.stack([x - mean[chosen], np.full_like(x, sd[chosen])]))
        masses.append(weight * rival)
    away, sd = np.concatenate(points, axis=1)
    mass = np.concatenate(masses)
    chances /= max(chances.sum(), TINY)
    return Largest(chances, loss, _quantile(away, sd, mass, 1.0 - q))


def _alive(mean: Floats, sd: Floats, chosen: int) -> Bools:
    """Those that are not below another for sure, and the chosen one."""
    alive: Bools = mean + REACH * sd >= (mean - REACH * sd).max()
    alive[chosen] = True
    return alive


def _nodes(mean: Floats, sd: Floats, chosen: int, panels: int) -> tuple[Floats, Floats]:
    """Points and weights of the rule."""
    low, high = float((mean - REACH * sd).max()), float((mean + REACH * sd).max())
    low = min(low, float(mean[chosen] - REACH * sd[chosen]))
    if high <= low:
        return np.array([low]), np.zeros(1)
    cuts = (mean + sd * np.arange(-REACH, REACH + 0.5)[:, None]).ravel()
    fine = np.arange(low, high, max(float(sd[chosen]), (high - low) / panels))
    cuts = np.concatenate([[low], np.sort(np.concatenate([cuts, fine])), [high]])
    cuts = cuts[(cuts >= low) & (cuts <= high)]
    if cuts.size > 2 * panels:  # many arms: their laws are much alike
        cells = np.floor((cuts - low) / (high - low) * panels)
        cuts = np.append(cuts[np.unique(cells, return_index=True)[1]], high)
    half = np.diff(cuts) / 2
    keep = half > 0
    half, left = half[keep], cuts[:-1][keep]
    x = (left + half)[:, None] + half[:, None] * _PLACES
    return x.ravel(), (half[:, None] * _WEIGHTS).ravel()


def _shares(mean: Floats, sd: Floats, x: Floats, w: Floats, chosen: int) -> tuple[Floats, Floats]:
    """The chance of each to be the largest, and the masses of the largest of the others at x."""
    won, rival = np.zeros(mean.size), np.empty(x.size)
    step = max(1, ROWS // mean.size)
    for i in range(0, x.size, step):
        part = slice(i, i + step)
        z = (x[part, None] - mean) / sd
        law = np.maximum(normal_cdf(z), TINY)
        ratio = np.exp(-0.5 * z * z) / (math.sqrt(2 * math.pi) * sd) / law
        logs = np.log(law)
        whole = logs.sum(axis=1)
        won += (w[part] * np.exp(whole)) @ ratio
        ratio[:, chosen] = 0.0
        rival[part] = w[part] * np.exp(whole - logs[:, chosen]) * ratio.sum(axis=1)
    return won, rival


def _quantile(away: Floats, sd: Floats, mass: Floats, above: float) -> float:
    """The loss that is exceeded with a probability; 0 where a loss above 0 is rarer."""
    alive = mass > 1e-13
    away, sd, mass = away[alive], sd[alive], mass[alive]

    def exceeds(q: float) -> bool:
        return float(mass @ normal_cdf((away - q) / sd)) > above

    if not exceeds(0.0):
        return 0.0
    low, high = 0.0, float((away + REACH * sd).max())
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if exceeds(middle) else (low, middle)
    return high
