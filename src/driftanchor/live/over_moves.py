"""The mean of what depends on the common move, which is normal, over all common moves."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.kronrod import GAUSS, KRONROD, PLACES

REACH = 5.2  # a normal is further from its mean, in sds, with a chance of 2e-7
MIDDLE = 1.4  # where its range is cut first
CLOSE = 3e-7  # how far off a part may be
RARE = 1e-6  # the chance of moves in a part that is not cut again
FEW = 40  # places, at most, at equal distances
AGREE = 0.02  # with every second place left out; the error is about the fourth power of this
SWITCHES = 20  # more are not looked at

RowsByMove = Callable[[Floats], Floats]  # from moves, in sds, to a row for each


def over_moves(given: RowsByMove, sharpness: float, switches: list[float]) -> Floats:
    """The mean of `given` over a standard normal move, right to about 1e-6.

    Args:
        given: Of some moves, an array (moves, arms) of numbers between 0 and 1.
        sharpness: The sum of the squares of how far the mean of each arm's sample moves with one
            sd of the move, in sds of the sample; ∞ where `given` may have edges.
        switches: Where `given` may jump.
    """
    inside = [x for x in switches if abs(x) < REACH]
    if not inside:
        smooth = _at_equal_distances(given, sharpness)
        if smooth is not None:
            return smooth
    cuts = inside if 0 < len(inside) <= SWITCHES else [-MIDDLE, MIDDLE]
    return _by_halves(given, [-REACH, *sorted(cuts), REACH])


def _at_equal_distances(given: RowsByMove, sharpness: float) -> Floats | None:
    """The mean over places at equal distances; `None` where they would be too many or too few.

    For smooth functions under a normal density no rule needs fewer: the error falls with
    exp(−2π² s²/h²), where h is the distance and s = 1/√(1 + sharpness) the narrowest width.
    """
    half = math.ceil(REACH * math.sqrt(1.0 + sharpness)) if sharpness < FEW * FEW else FEW
    if 2 * half + 1 > FEW:
        return None
    moves: Floats = np.arange(-half, half + 1, dtype=np.float64) * (REACH / half)
    weights = np.exp(-0.5 * moves * moves)
    values = given(moves)
    fine, rough = weights @ values / weights.sum(), weights[::2] @ values[::2] / weights[::2].sum()
    return fine if np.abs(fine - rough).max() <= AGREE else None


def _by_halves(given: RowsByMove, edges: list[float]) -> Floats:
    """The mean by Kronrod's rule on parts that are halved until it agrees with Gauss's."""
    waiting, total, known = list(itertools.pairwise(edges)), np.zeros(0), 0.0
    while waiting:
        left, right = waiting.pop()
        half, middle = 0.5 * (right - left), 0.5 * (right + left)
        moves = middle + half * PLACES
        density = half * np.exp(-0.5 * moves * moves) / math.sqrt(2.0 * math.pi)
        values = given(moves)
        fine, rough = (KRONROD * density) @ values, (GAUSS * density) @ values
        # The finer rule is right to far more digits than the two agree (QUADPACK's estimate).
        error = (200.0 * np.abs(fine - rough).max()) ** 1.5
        if error <= CLOSE or 2.0 * density.max() <= RARE:
            total = total + fine if total.size else fine
            known += float(KRONROD @ density)
        else:
            waiting += [(left, middle), (middle, right)]
    mean: Floats = total / known
    return mean
