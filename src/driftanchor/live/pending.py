"""Pulls whose reward has not come: made by a pull, ended by a reward or given up.

A policy may count them (see `ArmEvidence.pending`), so that it does not ask again and again for
what is on its way. Each function returns a new array: evidence that was looked at stays as it was.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from driftanchor.core import check
from driftanchor.core.arms import Arms
from driftanchor.core.check import Ints
from driftanchor.errors import InvalidInput


def none(arms: Arms) -> Ints:
    """Nothing is on its way."""
    return check.frozen(np.zeros(len(arms), np.int64))


def pulled(pending: Ints, column: int) -> Ints:
    """One more of an arm."""
    more = pending.copy()
    more[column] += 1
    return check.frozen(more)


def rewarded(pending: Ints, columns: Sequence[int]) -> Ints:
    """One less for each reward; a reward that was never pulled for takes none away."""
    less = pending.copy()
    np.subtract.at(less, list(columns), 1)
    return check.frozen(np.maximum(less, 0))


def dropped(pending: Ints, arms: Arms, label: str | None, count: int | None) -> Ints:
    """Without `count` of an arm; without all of it, or of every arm, where they are `None`."""
    if label is None:
        if count is not None:
            raise InvalidInput(f"count is {count!r} and arm is missing: say of which arm")
        return none(arms)
    column = arms.column(label)
    waiting = int(pending[column])
    gone = waiting if count is None else check.whole(count, "count")
    if gone > waiting:
        raise InvalidInput(f"count must be at most {waiting}, what arm {label!r} has, got {gone}")
    less = pending.copy()
    less[column] -= gone
    return check.frozen(less)
