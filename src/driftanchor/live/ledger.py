"""Ledger: what happened, in arrays that events change in place.

This is the one place that knows what an event does. A `State` is a ledger that nobody can write to:
`fold` copies the state into a ledger, applies the event, and gives the state of that. Whoever
decides often keeps a ledger, where an event costs the same however many arms there are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, assert_never

import numpy as np

from driftanchor.core.arms import Arms
from driftanchor.core.check import Bools, Floats, Ints
from driftanchor.errors import InvalidInput, UnreadableState
from driftanchor.live.state_events import (
    ArmAdded,
    Corrected,
    Decided,
    Distrusted,
    Event,
    Exposed,
    GivenUp,
    MemoryRow,
    Paused,
    Resumed,
    Rewarded,
)

Written = tuple[str, int, Any]
LONGEST = 1_000  # of what is kept since `mark`
FEW = 16  # columns that `changed` has room for, and arms for which it is not worth the effort


class Ledger:
    """What has happened so far. Its arrays may be read at any time, and only `apply` writes.

    Attributes:
        arms: The arms.
        pulls: Online rewards of each arm.
        totals: Their sums.
        pending: How many decisions of each arm wait for a reward.
        playable: Which arms can be played.
        memory: What the policy keeps between decisions: one row for each arm.
        decisions: How many decisions were made.
        came: How many rewards came, of all arms.
        waiting: How many decisions wait, of all arms.
        on: How many arms can be played.
        changed: The columns that were written to since `changes` was set to 0, some repeatedly.
        changes: How many these are; more than `FEW` where any column may be. With few arms nobody
            keeps count: it is always more.

    Example:
        >>> ledger = Ledger.start(Arms(["A", "B"]))
        >>> ledger.apply(Decided(1, 0))
        >>> ledger.apply(Rewarded((0,), (0.5,)))
        >>> ledger.totals.tolist(), ledger.came, ledger.waiting
        ([0.5, 0.0], 1, 0)
    """

    def __init__(
        self,
        arms: Arms,
        pulls: Ints,
        totals: Floats,
        pending: Ints,
        playable: Bools,
        memory: Floats,
        decisions: int,
    ) -> None:
        """Copy these arrays, which were checked before."""
        self.arms = arms
        self.pulls = pulls.copy()
        self.totals = totals.copy()
        self.pending = pending.copy()
        self.playable = playable.copy()
        self.memory = memory.copy()
        self.decisions = decisions
        self.came = int(pulls.sum())
        self.waiting = int(pending.sum())
        self.on = int(np.count_nonzero(playable))
        self.changed = np.zeros(FEW, np.int64)
        self.changes = FEW + 1
        # What was written since `mark`: the array, the place, and what stood there; None where
        # nobody marked. A ledger that holds what was marked takes its place when it grows long.
        self._written: list[Written] | None = None
        self._marked: tuple[Arms, int] | Ledger = arms, decisions

    @classmethod
    def start(cls, arms: Arms, memory: int = 0) -> Ledger:
        """Nothing has happened; `memory` is how many numbers the policy keeps for each arm."""
        count = len(arms)
        none = np.zeros(count, np.int64)
        on = np.ones(count, np.bool_)
        return cls(arms, none, np.zeros(count), none, on, np.zeros((count, memory)), 0)

    def apply(self, event: Event) -> None:
        """Write down one more event, or raise and leave everything as it is."""
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
                self._keep("playable", event.column, self.playable.item(event.column))
                self.playable[event.column] = isinstance(event, Resumed)
                self.on = int(np.count_nonzero(self.playable))
                self.changes = FEW + 1  # each arm has other rivals
            case ArmAdded():
                self._add(event.label)
            case Distrusted():  # it changes the terms, and what is believed of the arm
                self.changes = FEW + 1
            case _:
                assert_never(event)

    def _decide(self, event: Decided) -> None:
        if event.number != self.decisions + 1:
            raise UnreadableState(
                f"decision {event.number} comes after decision {self.decisions}: events are "
                "missing, repeated or out of order"
            )
        self.decide(event.column, event.memory)
        if not event.waits:
            self._expect(event.column, -1)

    def decide(self, column: int, memory: Iterable[MemoryRow] = ()) -> None:
        """One more decision, as `Decided`."""
        waiting = self.pending.item(column)
        if self._written is not None:
            self._written.append(("pending", column, waiting))
        self.pending[column] = waiting + 1
        self.waiting += 1
        self.decisions += 1
        if self.changes <= FEW:
            self._note(column)
        for other, row in memory:
            self._keep("memory", other, self.memory[other].copy())
            self.memory[other] = row

    def _reward(self, event: Rewarded) -> None:
        if len(event.columns) > 1:  # all of them or none
            sums: dict[int, float] = {}
            for column, reward in zip(event.columns, event.rewards, strict=True):
                sums[column] = sums.get(column, self.totals.item(column)) + reward
            for column in sorted(sums):
                if not -math.inf < sums[column] < math.inf:
                    raise self._too_large(column, sums[column])
        for column, reward in zip(event.columns, event.rewards, strict=True):
            self.learn(column, reward, event.late)

    def learn(self, column: int, reward: float, late: bool = False) -> None:
        """One reward, as `Rewarded`; it ends no wait where none is: pulls are made elsewhere too.

        Args:
            column: The arm.
            reward: The reward.
            late: Whether its decision was given up before.
        """
        before = self.totals.item(column)
        total = before + reward
        if not -math.inf < total < math.inf:
            raise self._too_large(column, total)
        pulls, waiting = self.pulls.item(column), self.pending.item(column)
        written = self._written
        if written is not None:
            written += ("totals", column, before), ("pulls", column, pulls)
            written.append(("pending", column, waiting))
            if len(written) > LONGEST:
                self._settle()
        self.totals[column] = total
        self.pulls[column] = pulls + 1
        self.came += 1
        if self.changes <= FEW:
            self._note(column)
        if waiting > 0 and not late:
            self.pending[column] = waiting - 1
            self.waiting -= 1

    def _expect(self, column: int, more: int) -> None:
        """More decisions of an arm wait for a reward, or fewer if `more` is negative."""
        waiting = self.pending.item(column)
        self._keep("pending", column, waiting)
        self.pending[column] = waiting + more
        self.waiting += more
        if self.changes <= FEW:
            self._note(column)

    def _correct(self, event: Corrected) -> None:
        before = self.totals.item(event.column)
        total = before - event.before + event.after
        if not -math.inf < total < math.inf:
            raise self._too_large(event.column, total)
        self._keep("totals", event.column, before)
        self.totals[event.column] = total
        if self.changes <= FEW:
            self._note(event.column)

    def _too_large(self, column: int, total: float) -> Exception:
        return InvalidInput(
            f"of arm {self.arms[column]!r} must be finite, got {total!r}", argument="totals"
        )

    def _add(self, label: str) -> None:
        if self._written is not None:
            self._settle()
        self.arms = self.arms.with_arm(label)
        self.pulls = np.append(self.pulls, 0)
        self.totals = np.append(self.totals, 0.0)
        self.pending = np.append(self.pending, 0)
        self.playable = np.append(self.playable, True)
        self.memory = np.vstack([self.memory, np.zeros((1, self.memory.shape[1]))])
        self.on += 1
        self.changes = FEW + 1

    def _note(self, column: int) -> None:
        """A column is written to, and the count is not beyond what there is room for."""
        if self.changes < FEW:
            self.changed[self.changes] = column
        self.changes += 1

    def mark(self) -> None:
        """From now on keep what changes, so that `as_marked` can tell how everything was."""
        self._written = []
        self._marked = self.arms, self.decisions

    def as_marked(self) -> Ledger:
        """A ledger of how everything was at the last `mark`; only to be read."""
        if isinstance(self._marked, Ledger):
            return self._marked
        arms, decisions = self._marked
        arrays: dict[str, Any] = {
            "pulls": self.pulls.copy(),
            "totals": self.totals.copy(),
            "pending": self.pending.copy(),
            "playable": self.playable.copy(),
            "memory": self.memory.copy(),
        }
        for name, column, before in reversed(self._written or []):
            arrays[name][column] = before
        return Ledger(arms, decisions=decisions, **arrays)

    def _keep(self, name: str, column: int, before: object) -> None:
        """Keep what stands in a place of an array that is about to change."""
        if self._written is not None:
            self._written.append((name, column, before))
            if len(self._written) > LONGEST:
                self._settle()

    def _settle(self) -> None:
        """Keep what was marked as a whole; it is not called while something is half written."""
        self._marked = self.as_marked()
        self._written = None
