"""Ledger: what happened, in arrays that events change in place.

This is the one place that knows what an event does. A `State` is a ledger that nobody can write to:
`fold` copies the state into a ledger, applies the event, and gives the state of that. Whoever
decides often keeps a ledger, where an event costs the same however many arms there are.
"""

from __future__ import annotations

import math
from typing import assert_never

import numpy as np

from driftanchor.core import check
from driftanchor.core.arms import Arms
from driftanchor.core.check import Bools, Floats, Ints
from driftanchor.errors import UnreadableState
from driftanchor.live.state_events import (
    ArmAdded,
    Corrected,
    Decided,
    Event,
    Exposed,
    GivenUp,
    Paused,
    Resumed,
    Rewarded,
)

Row = tuple[int, float, int, bool, list[float]]  # the numbers of one arm


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
        # The arms that changed since `mark`, as they were then; None where nobody asked for it.
        self._then: dict[int, Row] | None = None
        self._marked = arms, decisions

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
                self._keep(event.column)
                self.pending[event.column] += 1
                self.waiting += 1
            case Rewarded():
                self._reward(event)
            case Corrected():
                self._correct(event)
            case GivenUp():
                self._keep(event.column)
                self.pending[event.column] -= event.count
                self.waiting -= event.count
            case Paused() | Resumed():
                self._keep(event.column)
                self.playable[event.column] = isinstance(event, Resumed)
            case ArmAdded():
                self._add(event.label)
            case _:
                assert_never(event)

    def _decide(self, event: Decided) -> None:
        if event.number != self.decisions + 1:
            raise UnreadableState(
                f"decision {event.number} comes after decision {self.decisions}: events are "
                "missing, repeated or out of order"
            )
        column = event.column
        self._keep(column)
        self.pending[column] = self.pending.item(column) + event.waits
        self.waiting += event.waits
        self.decisions = event.number
        for changed, row in event.memory:
            self._keep(changed)
            self.memory[changed] = row

    def _reward(self, event: Rewarded) -> None:
        if len(event.columns) > 1:  # all of them or none
            sums: dict[int, float] = {}
            for column, reward in zip(event.columns, event.rewards, strict=True):
                sums[column] = sums.get(column, self.totals.item(column)) + reward
            for column in sorted(sums):
                self._checked(column, sums[column])
        for column, reward in zip(event.columns, event.rewards, strict=True):
            self._learn(column, reward, event.late)

    def _learn(self, column: int, reward: float, late: bool) -> None:
        """One reward: it ends one wait, if there is one. It may be for a pull made elsewhere."""
        total = self._checked(column, self.totals.item(column) + reward)
        self._keep(column)
        self.totals[column] = total
        self.pulls[column] = self.pulls.item(column) + 1
        self.came += 1
        waiting = self.pending.item(column)
        if waiting > 0 and not late:
            self.pending[column] = waiting - 1
            self.waiting -= 1

    def _correct(self, event: Corrected) -> None:
        total = self.totals.item(event.column) - event.before + event.after
        self._checked(event.column, total)
        self._keep(event.column)
        self.totals[event.column] = total

    def _checked(self, column: int, total: float) -> float:
        """The sum of an arm's rewards, if it is still a finite number."""
        if -math.inf < total < math.inf:
            return total
        return check.number(total, "totals", of=f"arm {self.arms[column]!r}")

    def _add(self, label: str) -> None:
        self.arms = self.arms.with_arm(label)
        self.pulls = np.append(self.pulls, 0)
        self.totals = np.append(self.totals, 0.0)
        self.pending = np.append(self.pending, 0)
        self.playable = np.append(self.playable, True)
        self.memory = np.vstack([self.memory, np.zeros((1, self.memory.shape[1]))])

    def mark(self) -> None:
        """From now on keep what changes, so that `as_marked` can tell how everything was."""
        self._then = {}
        self._marked = self.arms, self.decisions

    def as_marked(self) -> Ledger:
        """A ledger of how everything was at the last `mark`."""
        arms, decisions = self._marked
        there = slice(len(arms))
        then = Ledger(
            arms,
            self.pulls[there],
            self.totals[there],
            self.pending[there],
            self.playable[there],
            self.memory[there],
            decisions,
        )
        for column, row in (self._then or {}).items():
            if column < len(arms):
                then._write(column, row)
        return then

    def _write(self, column: int, row: Row) -> None:
        pulls, total, pending, playable, memory = row
        self.came += pulls - self.pulls.item(column)
        self.waiting += pending - self.pending.item(column)
        self.pulls[column], self.totals[column] = pulls, total
        self.pending[column], self.playable[column] = pending, playable
        self.memory[column] = memory

    def _keep(self, column: int) -> None:
        """Remember an arm as it is, if it is about to change for the first time since `mark`."""
        then = self._then
        if then is not None and column not in then:
            then[column] = (
                self.pulls.item(column),
                self.totals.item(column),
                self.pending.item(column),
                self.playable.item(column),
                self.memory[column].tolist() if self.memory.size else [],
            )
