"""State: what happened since the terms were agreed, as a fold over events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

import numpy as np

from driftanchor.core import check
from driftanchor.core.arms import Arms
from driftanchor.core.check import Bools, Floats, Ints
from driftanchor.core.tally import Tally
from driftanchor.errors import UnreadableState
from driftanchor.live.state_events import (
    ArmAdded,
    Decided,
    Distrusted,
    Event,
    GivenUp,
    MemoryRow,
    Paused,
    Resumed,
    Rewarded,
)


@dataclass(frozen=True, eq=False, slots=True)
class State:
    """What has happened so far. It never changes: `fold` gives the next state.

    Its arrays are read-only, and a fold shares with the state before it what an event leaves as it
    was. So a state can be kept, to explain a decision later.

    Attributes:
        tally: Online pulls and reward sums.
        pending: How many decisions of each arm wait for a reward. A store that keeps one row for
            each decision counts its open rows.
        playable: Which arms can be played.
        memory: What the policy keeps between decisions: one row for each arm.
        decisions: How many decisions were made.

    Example:
        >>> state = State.start(Arms(["A", "B"]))
        >>> state = fold(state, Decided(1, 0))
        >>> state.pending.tolist(), state.decisions
        ([1, 0], 1)
        >>> state = fold(state, Rewarded((0,), (0.5,)))
        >>> state.pending.tolist(), state.tally.totals.tolist()
        ([0, 0], [0.5, 0.0])
    """

    tally: Tally
    pending: Ints
    playable: Bools
    memory: Floats
    decisions: int

    @classmethod
    def start(cls, arms: Arms, memory: int = 0) -> State:
        """Nothing has happened; `memory` is how many numbers the policy keeps for each arm."""
        return cls(
            Tally.empty(arms),
            check.frozen(np.zeros(len(arms), np.int64)),
            check.frozen(np.ones(len(arms), np.bool_)),
            check.frozen(np.zeros((len(arms), memory))),
            0,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    def _values(self) -> tuple[object, ...]:
        arrays = (self.pending, self.playable, self.memory)
        return self.tally, self.decisions, *(array.tobytes() for array in arrays)


def fold(state: State, event: Event) -> State:
    """The state after one more event; `state` stays as it is.

    Its cost does not depend on what happened before: the touched arrays are copied, one number of
    each is changed, and nothing is checked again.
    """
    match event:
        case Decided():
            return _after_decision(state, event)
        case Rewarded():
            tally = state.tally.plus(event.columns, event.rewards)
            pending = state.pending if event.late else _rewarded(state.pending, event.columns)
            return State(tally, pending, state.playable, state.memory, state.decisions)
        case GivenUp():
            pending = _with(
                state.pending, event.column, state.pending.item(event.column) - event.count
            )
            return State(state.tally, pending, state.playable, state.memory, state.decisions)
        case Paused() | Resumed():
            playable = _with(state.playable, event.column, isinstance(event, Resumed))
            return State(state.tally, state.pending, playable, state.memory, state.decisions)
        case ArmAdded():
            return _with_arm(state, event.label)
        case Distrusted():  # it changes the terms, and nothing has happened
            return state
        case _:
            assert_never(event)


def changed_rows(before: Floats, after: Floats) -> tuple[MemoryRow, ...]:
    """The rows of a policy's memory that a decision changed, to the bit.

    Example:
        >>> changed_rows(np.zeros((3, 2)), np.array([[0.0, 0.0], [1.0, 0.5], [0.0, 0.0]]))
        ((1, (1.0, 0.5)),)
    """
    if before.tobytes() == after.tobytes():
        return ()
    changed = (before.view(np.int64) != after.view(np.int64)).any(axis=1)
    return tuple((int(i), tuple(after[i].tolist())) for i in np.flatnonzero(changed))


def _after_decision(state: State, event: Decided) -> State:
    if event.number != state.decisions + 1:
        raise UnreadableState(
            f"decision {event.number} comes after decision {state.decisions}: events are missing, "
            "repeated or out of order"
        )
    pending = _with(state.pending, event.column, state.pending.item(event.column) + 1)
    memory = state.memory
    if event.memory:
        memory = memory.copy()
        for column, row in event.memory:
            memory[column] = row
        check.frozen(memory)
    return State(state.tally, pending, state.playable, memory, event.number)


def _rewarded(pending: Ints, columns: tuple[int, ...]) -> Ints:
    """One less for each reward, but never below 0: a reward may be for a pull made elsewhere."""
    less = pending.copy()
    for column in columns:
        less[column] = max(less.item(column) - 1, 0)
    return check.frozen(less)


def _with_arm(state: State, label: str) -> State:
    width = state.memory.shape[1]
    return State(
        state.tally.with_arm(label),
        check.frozen(np.append(state.pending, 0)),
        check.frozen(np.append(state.playable, True)),
        check.frozen(np.vstack([state.memory, np.zeros((1, width))])),
        state.decisions,
    )


def _with(array: check.Array, column: int, value: int | bool) -> check.Array:
    copy = array.copy()
    copy[column] = value
    return check.frozen(copy)
