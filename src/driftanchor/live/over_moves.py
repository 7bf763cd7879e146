"""Average a function of the common move over the normal distribution of that move."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from driftanchor.core.check import Floats

REACH = 5.2  # in sds: a normal is farther from its mean with probability 2e-7
CUTS = [-2.9, -1.4, -0.1, 1.3, 2.7]  # of the range, so that narrow features are not missed
MIN_POINTS, MAX_POINTS = 17, 65  # equally spaced
AGREE = 3e-6  # allowed change without every other point; smooth functions are far more exact
CLOSE = 1e-6  # allowed change of an interval's integral when it is halved
RARE = 2e-7  # intervals with a smaller probability are not halved again
MAX_SWITCHES = 40  # with more, the range is not cut at them
NODES, WEIGHTS = np.polynomial.legendre.leggauss(5)

RowsByMove = Callable[[Floats], Floats]  # maps moves, in sds, to one row each


def over_moves(given: RowsByMove, switches: list[float]) -> Floats:
    """Return the mean of `given` over a standard normal move, with an error of about 1e-6.

    Args:
        given: Maps moves to an array (moves, arms) of numbers between 0 and 1.
        switches: Moves at which `given` may jump.
    """
    inside = [x for x in switches if abs(x) < REACH]
    if not inside:
        smooth = _at_equal_spacing(given)
        if smooth is not None:
            return smooth
    cuts = CUTS + (inside if len(inside) <= MAX_SWITCHES else [])
    return _by_halves(given, np.unique([-REACH, *cuts, REACH]))


def _at_equal_spacing(given: RowsByMove) -> Floats | None:
    """Return the mean over equally spaced points; `None` if it does not converge.

    For smooth functions under a normal density no rule needs fewer points: the error falls like
    exp(−c/h²), where h is the spacing.
    """
    moves = np.linspace(-REACH, REACH, MIN_POINTS)
    values = given(moves)
    while True:
        weights = np.exp(-0.5 * moves * moves)
        fine: Floats = weights @ values / weights.sum()
        rough = weights[::2] @ values[::2] / weights[::2].sum()
        if np.abs(fine - rough).max() <= AGREE:
            return fine
        if moves.size >= MAX_POINTS:
            return None
        places, between = np.arange(1, moves.size), 0.5 * (moves[1:] + moves[:-1])
        moves = np.insert(moves, places, between)
        values = np.insert(values, places, given(between), axis=0)


def _by_halves(given: RowsByMove, edges: Floats) -> Floats:
    """Return the mean by Gauss–Legendre on intervals, halved until their integrals settle."""
    left, right = edges[:-1], edges[1:]
    parts, _ = _parts(given, left, right)
    total, known = np.zeros(parts.shape[1]), 0.0
    while left.size:
        middle = 0.5 * (left + right)
        left, right = (np.stack(x, axis=1).ravel() for x in ((left, middle), (middle, right)))
        halves, weights = _parts(given, left, right)
        both = halves[::2] + halves[1::2]
        done = np.abs(both - parts).max(axis=1) <= CLOSE
        done |= weights[::2] + weights[1::2] <= RARE
        total += both[done].sum(axis=0)
        done = done.repeat(2)
        known += float(weights[done].sum())
        left, right, parts = left[~done], right[~done], halves[~done]
    mean: Floats = total / known
    return mean


def _parts(given: RowsByMove, left: Floats, right: Floats) -> tuple[Floats, Floats]:
    """Return the integrals over some intervals, one row each, and their probabilities."""
    half = 0.5 * (right - left)[:, None]
    moves = 0.5 * (left + right)[:, None] + half * NODES
    weights = half * WEIGHTS * np.exp(-0.5 * moves * moves) / math.sqrt(2.0 * math.pi)
    values = given(moves.ravel()).reshape(*moves.shape, -1)
    parts: Floats = (weights[..., None] * values).sum(axis=1)
    return parts, weights.sum(axis=1)
