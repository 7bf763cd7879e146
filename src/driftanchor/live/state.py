"""State: everything that happened so far, as arrays that events update in place.

Only this module knows the effect of each event. `fold` applies an event to a copy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
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


class State:
    """Everything that happened so far. Only its methods may change it.

    `apply` changes it in place, at a cost that does not depend on the number of arms. `fold`
    leaves it alone and returns the next state. The arrays of a state from `fold` or `frozen` are
    read-only.

    Attributes:
        arms: The arms.
        pulls: The number of online rewards of each arm.
        totals: The reward sum of each arm.
        pending: The number of decisions of each arm that wait for a reward.
        playable: Which arms can be played; replaced, never written to.
        memory: The policy's memory between decisions, one row per arm; replaced, never written to.
        decisions: The number of decisions.
        live_pulls: Pulls that the policy sees: `pulls`, or an estimate if rewards are delayed.
        live_totals: Reward sums that the policy sees.
        live_pending: Pending pulls that the policy sees: decisions not in `live_pulls`.
        reward_count: The number of rewards, over all arms.
        pending_count: The number of pending decisions, over all arms.
        playable_count: The number of playable arms.

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
        """Create a state from copies of validated arrays."""
        self.arms = tally.arms
        self.pulls = tally.pulls.copy()
        self.totals = tally.totals.copy()
        self.pending = pending.copy()
        self.playable = check.frozen(playable.copy())
        self.memory = check.frozen(memory.copy())
        self.decisions = decisions
        self.live_pulls: Ints | Floats = self.pulls
        self.live_totals: Floats = self.totals
        self.live_pending: Ints | Floats = self.pending
        if live is not None:
            self._mature(*live)
        self.reward_count = int(self.pulls.sum())
        self.pending_count = int(pending.sum())
        self.playable_count = int(np.count_nonzero(playable))

    @classmethod
    def start(cls, arms: Arms, memory: int = 0) -> State:
        """Return an empty state; `memory` is the size of the policy's memory per arm."""
        count = len(arms)
        playable = np.ones(count, np.bool_)
        memories = np.zeros((count, memory))
        return cls(Tally.empty(arms), np.zeros(count, np.int64), playable, memories, 0)

    def copy(self) -> State:
        """Return a copy that can be changed."""
        copy = State.__new__(State)
        copy.arms, copy.decisions = self.arms, self.decisions
        copy.reward_count, copy.pending_count = self.reward_count, self.pending_count
        copy.playable_count = self.playable_count
        copy.pulls = copy.live_pulls = self.pulls.copy()
        copy.totals = copy.live_totals = self.totals.copy()
        copy.pending = copy.live_pending = self.pending.copy()
        copy.playable, copy.memory = self.playable, self.memory  # never written to
        if self.live_pulls is not self.pulls:
            copy.live_pulls = self.live_pulls.copy()
            copy.live_totals = self.live_totals.copy()
            copy.live_pending = self.live_pending.copy()
        return copy

    def frozen(self) -> State:
        """Return a copy with read-only arrays."""
        return self.copy()._freeze()

    def _freeze(self) -> State:
        arrays = self.pulls, self.totals, self.pending
        for array in (*arrays, self.live_pulls, self.live_totals, self.live_pending):
            array.flags.writeable = False
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
        """Apply an event made by this package, or raise without changing anything."""
        if not self.pending.flags.writeable:
            raise TypeError("this state is read-only: use fold, or apply the event to a copy")
        match event:
            case Decided():
                self._decide(event)
            case Exposed():
                self._change_pending(event.column, 1)
            case Rewarded():
                self._reward(event)
            case Corrected():
                self._correct(event)
            case GivenUp():
                self._change_pending(event.column, -event.count)
            case Paused() | Resumed():
                playable = self.playable.copy()
                playable[event.column] = isinstance(event, Resumed)
                self.playable = check.frozen(playable)
                self.playable_count = int(np.count_nonzero(playable))
            case ArmAdded():
                self._add(event.label)
            case Distrusted() | BoundsChanged():  # only the terms change
                pass
            case Matured(pulls=None):
                self.live_pulls, self.live_totals = self.pulls, self.totals
                self.live_pending = self.pending
            case Matured():
                pulls, totals = np.array(event.pulls, float), np.array(event.totals, float)
                decisions = self.pulls + self.pending
                same = pulls.shape == totals.shape == decisions.shape
                if not (same and ((pulls >= 0) & (pulls <= decisions) & np.isfinite(totals)).all()):
                    raise UnreadableState(
                        f"live rewards are said to be worth {event.pulls} pulls of "
                        f"{decisions.tolist()} decisions"
                    )
                self._mature(pulls, totals)
            case _:
                assert_never(event)

    def _mature(self, pulls: Floats, totals: Floats) -> None:
        """Show policies this estimate, not the counted rewards."""
        self.live_pulls, self.live_totals = pulls.copy(), totals.copy()
        self.live_pending = self.pulls + self.pending - pulls

    def _update_live_pending(self, column: int) -> None:
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
            self._change_pending(event.column, -1)

    def decide(self, column: int, memory: Sequence[MemoryRow] = ()) -> None:
        """Apply a valid decision, as `Decided` does."""
        self.pending[column] = self.pending.item(column) + 1
        self.pending_count += 1
        self.decisions += 1
        if self.live_pulls is not self.pulls:
            self._update_live_pending(column)
        if memory:
            after = self.memory.copy()
            for other, row in memory:
                after[other] = row
            self.memory = check.frozen(after)

    def _reward(self, event: Rewarded) -> None:
        totals: dict[int, float] = {}
        for column, reward in zip(event.columns, event.rewards, strict=True):
            totals[column] = totals.get(column, self.totals.item(column)) + reward
        for column in sorted(totals):  # before the first reward is counted
            self._check_total(column, totals[column])
        for column, reward in zip(event.columns, event.rewards, strict=True):
            self.learn(column, reward, event.late)

    def learn(self, column: int, reward: float, late: bool = False) -> None:
        """Apply a valid reward, as `Rewarded` does, even if no decision of the arm is pending."""
        total = self.totals.item(column) + reward
        self._check_total(column, total)
        pending = self.pending.item(column)
        self.totals[column] = total
        self.pulls[column] = self.pulls.item(column) + 1
        self.reward_count += 1
        if pending > 0 and not late:
            self.pending[column] = pending - 1
            self.pending_count -= 1
        if self.live_pulls is not self.pulls:
            self._update_live_pending(column)

    def _change_pending(self, column: int, more: int) -> None:
        """Change an arm's number of pending decisions by `more`, which may be negative."""
        self.pending[column] += more
        self.pending_count += more
        if self.live_pulls is not self.pulls:
            self._update_live_pending(column)

    def _correct(self, event: Corrected) -> None:
        total = event.total
        if total is None:
            total = self.totals.item(event.column) - event.before + event.after
        self._check_total(event.column, total)
        self.totals[event.column] = total

    def _check_total(self, column: int, total: float) -> None:
        if not -math.inf < total < math.inf:
            raise InvalidInput(
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
        self.playable = check.frozen(np.append(self.playable, True))
        rows = [self.memory, np.zeros((1, self.memory.shape[1]))]
        self.memory = check.frozen(np.vstack(rows))
        self.playable_count += 1


def fold(state: State, event: Event) -> State:
    """Return the state after one more event, read-only; `state` stays as it is."""
    after = state.copy()
    after.apply(event)
    return after._freeze()


def changed_rows(before: Floats, after: Floats) -> tuple[MemoryRow, ...]:
    """Return the rows of a policy's memory that a decision changed, compared bit by bit.

    Example:
        >>> changed_rows(np.zeros((3, 2)), np.array([[0.0, 0.0], [1.0, 0.5], [0.0, 0.0]]))
        ((1, (1.0, 0.5)),)
    """
    if before.tobytes() == after.tobytes():
        return ()
    changed = (before.view(np.int64) != after.view(np.int64)).any(axis=1)
    return tuple((int(i), tuple(after[i].tolist())) for i in np.flatnonzero(changed))
