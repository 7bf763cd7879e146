"""State: an immutable summary of all events, computed by a fold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driftanchor.core import check
from driftanchor.core.arms import Arms
from driftanchor.core.check import Bools, Floats, Ints
from driftanchor.core.tally import Tally
from driftanchor.live.ledger import Ledger
from driftanchor.live.state_events import Event, MemoryRow


@dataclass(frozen=True, eq=False, slots=True)
class State:
    """The current state. It is immutable: `fold` returns the next state.

    Its arrays are read-only, so a state can be kept to explain a decision later. For many events
    in a row, a `Ledger` applies each without a copy.

    Attributes:
        tally: Online pulls and reward sums.
        pending: The number of decisions of each arm that wait for a reward. In a store with one
            row per decision, this is the number of open rows.
        playable: Which arms can be played.
        memory: The policy's memory between decisions, one row per arm.
        decisions: The number of decisions.
        live: The pulls and totals that policies see, if rewards are delayed: see `Matured`.

    Example:
        >>> from driftanchor.live.state_events import Decided, Rewarded
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
    live: tuple[Floats, Floats] | None = None

    @classmethod
    def start(cls, arms: Arms, memory: int = 0) -> State:
        """Return an empty state; `memory` is the size of the policy's memory per arm."""
        return cls.of(Ledger.start(arms, memory))

    @classmethod
    def of(cls, ledger: Ledger) -> State:
        """Return the current state of a ledger."""
        return cls(
            Tally.trusted(ledger.arms, ledger.pulls.copy(), ledger.totals.copy()),
            check.frozen(ledger.pending.copy()),
            check.frozen(ledger.playable.copy()),
            check.frozen(ledger.memory.copy()),
            ledger.decisions,
            ledger.live and (check.frozen(ledger.live[0]), check.frozen(ledger.live[1].copy())),
        )

    def ledger(self) -> Ledger:
        """Return a ledger that continues from this state."""
        tally = self.tally
        return Ledger(
            tally.arms,
            tally.pulls,
            tally.totals,
            self.pending,
            self.playable,
            self.memory,
            self.decisions,
            self.live,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    def _values(self) -> tuple[object, ...]:
        arrays = (self.pending, self.playable, self.memory, *(self.live or ()))
        return self.tally, self.decisions, *(array.tobytes() for array in arrays)


def fold(state: State, event: Event) -> State:
    """The state after one more event; `state` stays as it is.

    Its cost does not depend on what happened before: the arrays are copied, the numbers that change
    are written, and nothing is checked again.
    """
    ledger = state.ledger()
    ledger.apply(event)
    return State.of(ledger)


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
