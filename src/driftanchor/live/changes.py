"""What callers ask to change, checked and turned into events.

Every function here either returns events that `fold` can take, or raises and nothing has changed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from driftanchor.core import check
from driftanchor.core.offline import Summary
from driftanchor.errors import InvalidInput
from driftanchor.live.state import State
from driftanchor.live.state_events import ArmAdded, GivenUp, Paused, Resumed, Rewarded
from driftanchor.live.terms import Terms


def rewards(terms: Terms, arm: str | Sequence[str], reward: float | Sequence[float]) -> Rewarded:
    """One reward, or a batch in its order; the whole batch is refused if one of it is wrong."""
    one = isinstance(arm, str)
    labels = [arm] if one else check.ordered(arm, "arms")
    given = [reward] if one else check.ordered(reward, "rewards")
    if len(labels) != len(given):
        raise InvalidInput(f"{len(labels)} arms and {len(given)} rewards: give one for each")
    columns = [terms.arms.column(label) for label in labels]
    low, high = terms.reward_range
    numbers = [
        check.number(x, "reward", of=f"arm {label!r}", low=low, high=high)
        for label, x in zip(labels, given, strict=True)
    ]
    return Rewarded(tuple(columns), tuple(numbers))


def add_arm(
    terms: Terms,
    label: str,
    offline: Summary,
    bias_bound: float | None,
    relative_bound: float | None,
) -> ArmAdded:
    """A new arm, if the terms allow it; `Terms.after` gives the terms with it."""
    terms.with_arm(label, offline, bias_bound, relative_bound)
    return ArmAdded(label, tuple(offline), bias_bound, relative_bound)


def give_up(state: State, label: str | None, count: int | None) -> list[GivenUp]:
    """Stop waiting for `count` rewards of an arm; `None` for all of it, or for all arms."""
    arms, pending = state.tally.arms, state.pending
    if label is None:
        if count is not None:
            raise InvalidInput(
                f"is {count!r} and arm is missing: say of which arm", argument="count"
            )
        return [GivenUp(int(i), pending.item(i)) for i in np.flatnonzero(pending)]
    column = arms.column(label)
    waiting = pending.item(column)
    gone = waiting if count is None else check.whole(count, "count")
    if gone > waiting:
        raise InvalidInput(
            f"must be at most {waiting}, what arm {label!r} has, got {gone}", argument="count"
        )
    return [GivenUp(column, gone)]


def pause(state: State, label: str) -> Paused:
    """Stop playing an arm, unless no other arm would be left."""
    column = state.tally.arms.column(label)
    if state.playable[column] and state.playable.sum() == 1:
        raise InvalidInput(
            f"{label!r} is the last one that can be played: add another first", argument="arm"
        )
    return Paused(column)


def resume(state: State, label: str) -> Resumed:
    """Play a paused arm again."""
    return Resumed(state.tally.arms.column(label))
