"""Floors: least probabilities that some arms are promised, whatever the policy says.

An arm with floor f is played with probability f + (1 − Σ floors) p, p its probability under the
policy. A floor is drawn first, from a number of its own: where it decides, the policy is not asked,
and where it does not, the policy's choice is what it would have been. So the probability of every
decision is known, and the policy's own choice stays a function of the seed and the decision alone.
"""

from __future__ import annotations

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.errors import InvalidInput, shown


def checked(floors: Floats) -> Floats:
    """The floors, if they are probabilities that leave something to the policy.

    Example:
        >>> checked(np.array([0.05, 0.0]))
        array([0.05, 0.  ])
    """
    for floor in floors.tolist():
        if not 0.0 <= floor <= 1.0:
            raise InvalidInput(
                f"a floor must be between 0 and 1, got {shown(floor)}", argument="floors"
            )
    if floors.sum() > 1.0:
        raise InvalidInput(
            f"floors add up to {floors.sum():g}, which is above 1: lower them", argument="floors"
        )
    return floors


def playable_floors(floors: Floats, playable: np.typing.NDArray[np.bool_]) -> Floats:
    """The floors of the arms that can be played; those of the others go to the policy.

    Example:
        >>> playable_floors(np.array([0.1, 0.2]), np.array([True, False]))
        array([0.1, 0. ])
    """
    return np.where(playable, floors, 0.0)


def mixed(probabilities: Floats, floors: Floats) -> Floats:
    """The probability of each arm with floors: f + (1 − Σf) p.

    Args:
        probabilities: Of each arm under the policy; they add up to 1.
        floors: Of each arm; 0 for an arm without one.

    Example:
        >>> mixed(np.array([0.9, 0.1, 0.0]), np.array([0.0, 0.1, 0.1]))
        array([0.72, 0.18, 0.1 ])
    """
    with_floors: Floats = floors + (1.0 - floors.sum()) * probabilities
    return with_floors


def floor_choice(floors: Floats, u: float) -> int | None:
    """The column that a floor decides for, or `None` where the policy decides.

    Args:
        floors: Of each arm.
        u: A uniform number on [0, 1) that nothing else uses.

    Example:
        >>> floors = np.array([0.0, 0.1, 0.1])
        >>> [floor_choice(floors, u) for u in (0.05, 0.15, 0.5)]
        [1, 2, None]
    """
    edges = np.cumsum(floors)
    column = int(np.searchsorted(edges, u, side="right"))
    return column if column < floors.size else None
