"""What a bandit is made from, checked."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from driftanchor.core import check
from driftanchor.core.arms import Arms
from driftanchor.core.check import LARGEST, Floats
from driftanchor.errors import InvalidInput, shown


def noise_of(value: object, arms: Arms) -> Floats:
    """The standard deviation of each arm's rewards: one number for all arms, or one for each."""
    if not isinstance(value, Iterable) or isinstance(value, str):
        one = check.number(value, "noise", above=0.0, high=LARGEST)
        return np.full(len(arms), one)
    return check.per_arm(value, "noise", arms, above=0.0, high=LARGEST)


def moved_together(means: Floats, move: float, arms: Arms, low: float, high: float) -> Floats:
    """The online means after the move that all arms share."""
    if move == 0:
        return means
    moved = means + move
    for label, mean in zip(arms, moved.tolist(), strict=True):
        if not low <= mean <= high:
            raise InvalidInput(
                f"is {move:g} and moves the online mean of arm {label!r} "
                f"to {mean:g}: it must stay between {low:g} and {high:g}",
                argument="common_shift",
            )
    return moved


def pool_of(rewards: object, arm: int) -> Floats:
    """The observed rewards of an arm."""
    of = f"of arm {arm}"
    try:
        pool = np.asarray(rewards, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(
            f"{of} must be a list of numbers, got {shown(rewards)}", argument="rewards"
        ) from None
    if pool.ndim != 1 or pool.size == 0:
        raise InvalidInput(
            f"{of} must be a list of at least one number, got {shown(rewards)}", argument="rewards"
        )
    odd = pool[~(np.abs(pool) <= LARGEST)]
    if odd.size:
        raise InvalidInput(
            f"{of} must be finite and at most {LARGEST:g}, got {odd[0]:g}", argument="rewards"
        )
    return check.frozen(pool.copy())
