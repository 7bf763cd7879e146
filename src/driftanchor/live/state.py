"""State: what happened so far, as arrays that events update in place.

Only this module knows the effect of each event. `fold` applies an event to a copy.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import assert_never

import numpy as np

from driftanchor.core import check
from driftanchor.core.arms import Arms
from driftanchor.core.check import Bools, Floats, Ints
from driftanchor.core.tally import Tally
from driftanchor.errors import InvalidInput, UnreadableState
from driftanchor.live.state_events import (
    ArmAdded,
    BoundsChanged,
    Corrected,
    Decided,
    Distrusted,
    Event,
    Exposed,
    GivenUp,
    Matured,
    MemoryRow,
    Paused,
    Resumed,
    Rewarded,
)

Row = tuple[int, int, float, int]  # a column, and its pulls, total and pending before a reward
LONGEST = 1_000  # rows that are kept since a decision
FEW = 16  # columns that `changed` has room for


_Last = tuple[Arms, int, int, int, list[tuple[int, Floats]]]  # before a decision: see `decide`


class State:
    """What happened so far. Only its methods write to its arrays.

    `apply` changes it in place, at a cost that does not depend on the number of arms. `fold`
    leaves it alone and returns the next state. The arrays of a state from `fold` or `frozen` are
    read-only.

    Attributes:
        arms: The arms.
        pulls: The number of online rewards of each arm.
        totals: The reward sum of each arm.
        pending: The number of decisions of each arm that wait for a reward.
        playable: Which arms can be played.
        memory: The policy's memory between decisions, one row per arm.
        decisions: The number of decisions.
        live_pulls: Pulls that the policy sees: `pulls`, or an estimate if rewards are delayed.
        live_totals: Reward sums that the policy sees.
        live_pending: Pending pulls that the policy sees: decisions not in `live_pulls`.
        reward_count: The number of rewards, over all arms.
        pending_count: The number of pending decisions, over all arms.
        playable_count: The number of playable arms.
        changed: The columns written to since `changes` was set to 0, possibly with duplicates.
        changes: The length of `changed`; above `FEW`, any column may have changed. With few arms
            it is not counted and always above `FEW`.

    Example:
        >>> from driftanchor.live.state_events import Decided, Rewarded
        >>> state = State.start(Arms(["A", "B"]))
        >>> state.apply(Decided(1, 0))
        >>> state.pending.tolist(), state.decisions
        ([1, 0], 1)
        >>> state = fold(state, Rewarded((0,), (0.5,)))
        >>> state.pending.tolist(), state.tally.totals.tolist()
        ([0, 0], [0.5, 0.0])
    """

    def __init__(
        self,
        tally: Tally,
        pending: Ints,
        playable: Bools,
        memory: Floats,
        decisions: int,
        live: tuple[Floats, Floats] | None = None,
    ) -> None:
        """Copy arrays that are already validated.

        Args:
            tally: Online pulls and reward sums.
            pending: The number of decisions of each arm that wait for a reward.
            playable: Which arms can be played.
            memory: The policy's memory between decisions, one row per arm.
            decisions: The number of decisions.
            live: The last estimate of pulls and totals, if rewards are delayed: see `Matured`.
        """
        self.arms = tally.arms
        self.pulls = tally.pulls.copy()
        self.totals = tally.totals.copy()
        self.pending = pending.copy()
        self.playable = playable.copy()
        self.memory = memory.copy()
        self.decisions = decisions
        self.live_pulls: Ints | Floats = self.pulls
        self.live_totals: Floats = self.totals
        self.live_pending: Ints | Floats = self.pending
        if live is not None:
            self._mature(*live)
        self.reward_count = int(self.pulls.sum())
        self.pending_count = int(pending.sum())
        self.playable_count = int(np.count_nonzero(playable))
        self.changed = np.zeros(FEW, np.int64)
        self.changes = FEW + 1
        # For `before_last`: the values at the last kept decision, and the changes by each reward
        # since then; None if there is no such decision or all are settled.
        self._last: _Last | None = None
        self._rows: list[Row] | None = None
        self._before: State | None = None

    @classmethod
    def start(cls, arms: Arms, memory: int = 0) -> State:
        """Return an empty state; `memory` is the size of the policy's memory per arm."""
        count = len(arms)
        playable = np.ones(count, np.bool_)
        memories = np.zeros((count, memory))
        return cls(Tally.empty(arms), np.zeros(count, np.int64), playable, memories, 0)

    def copy(self) -> State:
        """Return a copy that can be changed."""
        return State(
            self.tally, self.pending, self.playable, self.memory, self.decisions, self.live
        )

    def frozen(self) -> State:
        """Return a copy with read-only arrays."""
        return self.copy()._freeze()

    def _freeze(self) -> State:
        for array in (self.pulls, self.totals, self.pending, self.playable, self.memory):
            check.frozen(array)
        for array in (self.live_pulls, self.live_totals, self.live_pending):
            check.frozen(array)
        return self

    @property
    def tally(self) -> Tally:
        """Online pulls and reward sums now."""
        return Tally.trusted(self.arms, self.pulls.copy(), self.totals.copy())

    @property
    def live(self) -> tuple[Floats, Floats] | None:
        """The last estimate of pulls and totals; `None` if rewards are not delayed."""
        if self.live_pulls is self.pulls:
            return None
        return self.live_pulls.astype(float), self.live_totals

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and self._values() == other._values()

    __hash__ = None  # type: ignore[assignment]

    def _values(self) -> tuple[object, ...]:
        arrays = (self.pending, self.playable, self.memory, *(self.live or ()))
        return self.tally, self.decisions, *(array.tobytes() for array in arrays)

    def apply(self, event: Event) -> None:
        """Apply an event, or raise without changing anything."""
        if not self.pending.flags.writeable:
            raise TypeError("this state is read-only: use fold, or apply the event to a copy")
        match event:
            case Decided():
                self._decide(event)
            case Exposed():
                self._expect(event.column, 1)
            case Rewarded():
                self._reward(event)
            case Corrected():
                self._correct(event)
            case GivenUp():
                self._expect(event.column, -event.count)
            case Paused() | Resumed():
                self._settle()
                self.playable[event.column] = isinstance(event, Resumed)
                self.playable_count = int(np.count_nonzero(self.playable))
                self.changes = FEW + 1  # the rivals of every arm changed
            case ArmAdded():
                self._settle()
                self._add(event.label)
            case Distrusted() | BoundsChanged():  # the terms change, and so do the beliefs
                self.changes = FEW + 1
            case Matured(pulls=None):
                self._settle()
                self._count_as_they_come()
            case Matured():
                pulls, totals = np.array(event.pulls, float), np.array(event.totals, float)
                if not self._can_be(pulls, totals):
                    raise UnreadableState(
                        f"live rewards are said to be worth {event.pulls} pulls of "
                        f"{(self.pulls + self.pending).tolist()} decisions"
                    )
                self._settle()
                self._mature(pulls, totals)
                self.changes = FEW + 1
            case _:
                assert_never(event)

    def _can_be(self, pulls: Floats, totals: Floats) -> bool:
        """Return whether an estimate is consistent with the arms and their decisions."""
        if not pulls.shape == totals.shape == self.pulls.shape:
            return False
        most = self.pulls + self.pending
        return bool(((pulls >= 0.0) & (pulls <= most) & np.isfinite(totals)).all())

    def _count_as_they_come(self) -> None:
        """Show policies the counted rewards, not an estimate."""
        self.live_pulls, self.live_totals, self.live_pending = self.pulls, self.totals, self.pending
        self.changes = FEW + 1

    def _mature(self, pulls: Floats, totals: Floats) -> None:
        self.live_pulls, self.live_totals = pulls.copy(), totals.copy()
        self.live_pending = self.pulls + self.pending - pulls

    def _owe(self, column: int) -> None:
        """Update the number of an arm's decisions that are missing from the estimate."""
        decisions = self.pulls.item(column) + self.pending.item(column)
        self.live_pending[column] = decisions - self.live_pulls.item(column)

    def _decide(self, event: Decided) -> None:
        if event.number != self.decisions + 1:
            raise UnreadableState(
                f"decision {event.number} comes after decision {self.decisions}: events are "
                "missing, repeated or out of order"
            )
        self.decide(event.column, event.memory)
        if not event.waits:
            self._expect(event.column, -1)

    def decide(self, column: int, memory: Sequence[MemoryRow] = (), keep: bool = False) -> None:
        """Apply a decision, as `Decided` does.

        Args:
            column: The arm.
            memory: The changed rows of the policy's memory.
            keep: Whether to make the state before it available through `before_last`.
        """
        waiting = self.pending.item(column)
        if keep:
            rows = [(other, self.memory[other].copy()) for other, _ in memory] if memory else []
            self._last = self.arms, self.decisions, column, waiting, rows
            self._rows, self._before = [], None
        elif self._rows is not None:
            self._settle()
        self.pending[column] = waiting + 1
        self.pending_count += 1
        self.decisions += 1
        if self.live_pulls is not self.pulls:
            self._owe(column)
        if self.changes <= FEW:
            self._note(column)
        for other, row in memory:
            self.memory[other] = row

    def _reward(self, event: Rewarded) -> None:
        if len(event.columns) == 1:
            self.learn(event.columns[0], event.rewards[0], event.late)
            return
        paid: dict[int, list[float]] = {}
        for column, reward in zip(event.columns, event.rewards, strict=True):
            paid.setdefault(column, []).append(reward)
        self.learn_all(paid, event.late)

    def learn(self, column: int, reward: float, late: bool = False) -> None:
        """Apply a reward, as `Rewarded` does, even if no decision of the arm is pending.

        Args:
            column: The arm.
            reward: The reward.
            late: Whether its decision had already been closed.
        """
        before = self.totals.item(column)
        total = before + reward
        if not -math.inf < total < math.inf:
            raise self._too_large(column, total)
        pulls, waiting = self.pulls.item(column), self.pending.item(column)
        rows = self._rows
        if rows is not None:
            rows.append((column, pulls, before, waiting))
            if len(rows) > LONGEST:
                self._settle()
        self.totals[column] = total
        self.pulls[column] = pulls + 1
        self.reward_count += 1
        if self.changes <= FEW:
            self._note(column)
        if waiting > 0 and not late:
            self.pending[column] = waiting - 1
            self.pending_count -= 1
        if self.live_pulls is not self.pulls:
            self._owe(column)

    def learn_all(self, paid: Mapping[int, Sequence[float]], late: bool = False) -> None:
        """Apply many rewards, all or none; the result is the same as with repeated `learn`.

        Args:
            paid: The rewards of each arm, in order.
            late: Whether their decisions had already been closed.
        """
        totals = {
            column: reduce(operator.add, rewards, self.totals.item(column))
            for column, rewards in paid.items()
        }
        for column in sorted(totals):
            if not -math.inf < totals[column] < math.inf:
                raise self._too_large(column, totals[column])
        for column, rewards in paid.items():
            pulls, waiting, came = self.pulls.item(column), self.pending.item(column), len(rewards)
            if self._rows is not None:
                self._rows.append((column, pulls, self.totals.item(column), waiting))
            self.totals[column] = totals[column]
            self.pulls[column] = pulls + came
            self.reward_count += came
            if self.changes <= FEW:
                self._note(column)
            if waiting > 0 and not late:
                settled = min(came, waiting)
                self.pending[column] = waiting - settled
                self.pending_count -= settled
            if self.live_pulls is not self.pulls:
                self._owe(column)
        if self._rows is not None and len(self._rows) > LONGEST:
            self._settle()

    def _expect(self, column: int, more: int) -> None:
        """Change an arm's number of pending decisions by `more`, which may be negative."""
        self._settle()
        self.pending[column] += more
        self.pending_count += more
        if self.live_pulls is not self.pulls:
            self._owe(column)
        if self.changes <= FEW:
            self._note(column)

    def _correct(self, event: Corrected) -> None:
        total = event.total
        if total is None:
            total = self.totals.item(event.column) - event.before + event.after
        if not -math.inf < total < math.inf:
            raise self._too_large(event.column, total)
        self._settle()
        self.totals[event.column] = total
        if self.changes <= FEW:
            self._note(event.column)

    def _too_large(self, column: int, total: float) -> Exception:
        return InvalidInput(
            f"of arm {self.arms[column]!r} must be finite, got {total!r}", argument="totals"
        )

    def _add(self, label: str) -> None:
        live = self.live
        self.arms = self.arms.with_arm(label)
        self.pulls = self.live_pulls = np.append(self.pulls, 0)
        self.totals = self.live_totals = np.append(self.totals, 0.0)
        self.pending = self.live_pending = np.append(self.pending, 0)
        if live is not None:
            self._mature(np.append(live[0], 0.0), np.append(live[1], 0.0))
        self.playable = np.append(self.playable, True)
        self.memory = np.vstack([self.memory, np.zeros((1, self.memory.shape[1]))])
        self.playable_count += 1
        self.changes = FEW + 1

    def _note(self, column: int) -> None:
        """Mark a column as changed."""
        if self.changes < FEW:
            self.changed[self.changes] = column
        self.changes += 1

    def before_last(self) -> State:
        """Return the state before the last kept decision; do not modify it."""
        if self._before is not None:
            return self._before
        if self._last is None or self._rows is None:
            raise LookupError("no decision was kept")
        arms, decisions, decided, waiting, memory = self._last
        pulls, totals, pending = self.pulls.copy(), self.totals.copy(), self.pending.copy()
        for column, *row in reversed(self._rows):
            pulls[column], totals[column], pending[column] = row
        pending[decided] = waiting
        remembered = self.memory.copy()
        for column, own in memory:
            remembered[column] = own
        playable = self.playable
        tally = Tally.trusted(arms, pulls, totals)
        return State(tally, pending, playable, remembered, decisions, self.live)

    def _settle(self) -> None:
        """Save the whole state before the last decision, and stop logging single changes."""
        if self._rows is not None:
            self._before = self.before_last()
            self._rows = None


def fold(state: State, event: Event) -> State:
    """Return the state after one more event, read-only; `state` stays as it is."""
    after = state.copy()
    after.apply(event)
    return after._freeze()


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
