"""Maturing: estimates live rewards while rewards are delayed.

With a reward window and a default reward, a conversion is reported when it happens, but a decision
without one is settled only when its window closes. So the mean of the rewards counted so far is too
high. Policies, `status` and the page use an estimate instead: see `driftanchor.core.delays`.

Time is divided into slots. The first request of a slot computes an estimate from all earlier slots
and records it as a `matured` event. So decisions depend on events alone, not on the clock, and are
replayed exactly. A decision counts from the slot after it was shown.

Each worker counts recent decisions by slot in memory, and updates its counts at each estimate. The
counts are not stored: a new worker counts the last two windows once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from driftanchor.core.check import Floats, Ints
from driftanchor.core.delays import Cohorts, arrival, effective, slot_count, slot_length
from driftanchor.live.campaigns.batch import Batch
from driftanchor.live.campaigns.campaign_state import CampaignState
from driftanchor.live.stores.damage import reads_store
from driftanchor.live.stores.reader import Reader
from driftanchor.live.stores.rows import CohortRow, DecisionRow, UnclosedRow


class CohortCounts:
    """Recent decisions and their reports, by the slot in which the decisions were shown.

    Args:
        window: The reward window.
        default: The default reward.
        since: The event that set window and default; 0 if they are the initial ones.
        number: The number of decisions before that event. They have other terms, and count once
            their windows have closed or, without a window, once their rewards are reported.
        closed: The time by which the windows of all earlier decisions have closed.

    Attributes:
        seq: The last event counted; `since` if nothing was counted yet.
    """

    def __init__(
        self,
        window: float,
        default: float,
        since: int = 0,
        number: int = 0,
        closed: float = -math.inf,
    ) -> None:
        self.terms = window, default, since, number, closed
        self.default = default
        self._length, self._slots = slot_length(window), slot_count(window)
        self._estimated: int | None = None  # the slot of this worker's last estimate
        self._uncommitted: int | None = None  # the slot of an uncommitted estimate
        self._forget()

    def _forget(self) -> None:
        """Reset the counts."""
        self.seq, self._number = self.terms[2:4]
        self._latest: int | None = None  # the slot of the last count
        self._shown: dict[tuple[int, int], int] = {}  # by slot and arm
        self._gained: dict[tuple[int, int], float] = {}
        self._reports: dict[tuple[int, int], int] = {}  # by slot and delay
        self._unclosed: list[UnclosedRow] = []  # decisions under earlier terms

    @property
    def has_counted(self) -> bool:
        """Whether anything was counted yet."""
        return self.seq > self.terms[2]

    def slot(self, at: float) -> int:
        """Return the slot number of a time."""
        return math.floor(at / self._length)

    def is_due(self, now: float, last: float | None) -> bool:
        """Return whether an estimate is due: none exists for this slot or a later one.

        The clock of another worker may be up to an eighth of the window ahead. Estimates further
        ahead come from a wrong clock and are ignored.

        Args:
            now: The time.
            last: When the last estimate was recorded.
        """
        slot = self.slot(now)
        if slot == self._estimated:
            return False
        return last is None or not slot <= self.slot(last) <= slot + self._slots // 8

    def committed(self) -> None:
        """Mark the estimate of the last transaction as committed."""
        if self._uncommitted is not None:
            self._estimated, self._uncommitted = self._uncommitted, None

    @reads_store
    def catch_up(self, reader: Reader, now: float) -> None:
        """Count the events since the last call; the first call counts the last two windows.

        If the clock was ahead at the last call, recent decisions may have been dropped as old ones,
        so the counts are reset.
        """
        slot = self.slot(now)
        if self._latest is not None and slot < self._latest:
            self._forget()
        self._latest = slot
        seq, number = self.seq, self._number
        if not self.has_counted:
            long_ago = reader.matured(now - 2.0 * (self._slots + 1) * self._length)
            if long_ago is not None and long_ago.seq > seq:
                seq, number = long_ago.seq, (long_ago.detail or {})["decisions"]
        old, closed = self.terms[3:]
        for row in reader.cohorts(seq, number, self._length, self.default, old):
            self._count(row)
        self._unclosed = reader.unclosed(old, now, self.default) if now < closed else []
        self.seq, self._number = reader.counters.seq, reader.counters.decisions
        oldest = slot - 2 * self._slots
        for counts in (self._shown, self._gained, self._reports):
            for key in [key for key in counts if key[0] < oldest]:
                del counts[key]

    def _count(self, row: CohortRow) -> None:
        key = row.slot, row.column
        if row.kind in ("shown", "exposed"):
            self._shown[key] = self._shown.get(key, 0) + row.count
        elif row.kind == "expired":
            self._shown[key] = self._shown.get(key, 0) - row.count
        else:
            self._gained[key] = self._gained.get(key, 0.0) + row.gained
        if row.kind == "rewarded":
            delay = row.slot, min(max(row.event_slot - row.slot, 0), self._slots)
            self._reports[delay] = self._reports.get(delay, 0) + row.count

    def estimate(self, current: CampaignState, now: float) -> tuple[Floats, Floats]:
        """Return each arm's effective number of pulls and the matching reward total."""
        self._uncommitted = slot = self.slot(now)
        terms, state, default = current.terms, current.state, self.default
        arms, ages = len(terms.arms), self._slots + 1
        shown: Ints = np.zeros((arms, ages), np.int64)
        gained: Floats = np.zeros((arms, ages))
        reports: Ints = np.zeros((2 * self._slots + 1, ages), np.int64)
        for (start, column), count in self._shown.items():
            if slot - start < ages:
                shown[column, max(slot - start, 0)] += count  # the clocks of workers may differ
        for (start, column), gain in self._gained.items():
            if slot - start < ages:
                gained[column, max(slot - start, 0)] += gain
        for (start, delay), count in self._reports.items():
            if 0 <= slot - start < len(reports):
                reports[slot - start, delay] += count
        decided = state.pulls + state.pending
        closed = decided - shown.sum(axis=1)
        late = state.totals - default * state.pulls - gained.sum(axis=1)
        for column, count, _, gain in self._unclosed:
            closed[column] -= count
            late[column] -= gain
        closed = np.maximum(closed, 0)
        cohorts = Cohorts(shown, gained, closed, np.where(closed > 0, late, 0.0))
        noise = terms.policy.noise
        curve = arrival(reports)
        pulls, totals = effective(cohorts, default, curve, noise, _expected(current, default))
        pulls = np.clip(pulls, 0.0, decided)
        some = pulls > 0.0  # an end may be infinite
        low, high = (np.multiply(x, pulls, np.zeros(arms), where=some) for x in terms.reward_range)
        return pulls, np.clip(totals, low, high) + 0.0


def counts_for(current: CampaignState, kept: CohortCounts | None) -> CohortCounts | None:
    """Return the worker's counts, or new ones if the window or the default changed.

    Return `None` if rewards are not delayed.
    """
    window, default = current.settings.reward_window, current.settings.default_reward
    if window is None or default is None:
        return None
    terms = window, default, *current.delayed_since
    return kept if kept is not None and kept.terms == terms else CohortCounts(*terms)


def mature(batch: Batch, reader: Reader, counts: CohortCounts, due: Sequence[DecisionRow]) -> None:
    """Update the estimate of live rewards in the first batch of a slot.

    An unchanged estimate is not recorded. While decisions made under earlier terms are `due`, the
    estimate is left to a later batch, because they may have another default, or none.
    """
    current, old = batch.current, counts.terms[3]
    if not counts.is_due(batch.now, current.matured_at) or any(row.number <= old for row in due):
        return
    counts.catch_up(reader, batch.now)
    pulls, totals = counts.estimate(current, batch.now)
    live = current.state.live
    if live is not None and all(map(np.array_equal, live, (pulls, totals))):
        return
    detail = {
        "pulls": pulls.tolist(),
        "totals": totals.tolist(),
        "decisions": current.counters.decisions,
    }
    batch.record("matured", detail=detail)


def count_as_they_come(batch: Batch, reader: Reader) -> None:
    """Drop the last estimate once rewards are no longer delayed.

    Earlier decisions may still have a window and a default. Until their windows have closed, the
    estimate leaves out their rewards and is updated in each slot.
    """
    current = batch.current
    state, at = current.state, current.matured_at
    if state.live is None:
        return
    detail = {"pulls": None, "totals": None, "decisions": current.counters.decisions}
    old, window, closed = current.delayed_until
    if batch.now < closed:
        length = slot_length(window)
        if at is not None and math.floor(at / length) == math.floor(batch.now / length):
            return
        pulls, totals = state.pulls.astype(float), state.totals.copy()
        for column, _, settled, gained in reader.unclosed(old, batch.now, 0.0):
            pulls[column] -= settled
            totals[column] = totals[column] - gained if pulls[column] else 0.0
        if all(map(np.array_equal, state.live, (pulls, totals))):
            return
        detail.update(pulls=pulls.tolist(), totals=totals.tolist())
    batch.record("matured", detail=detail)


def warm(reader: Reader, counts: CohortCounts, now: float) -> None:
    """Count two windows of decisions before a transaction that will need them.

    Counting inside the transaction would block other writers.
    """
    last = reader.matured()
    if reader.counters.decisions and counts.is_due(now, None if last is None else last.at):
        counts.catch_up(reader, now)


def _expected(current: CampaignState, default: float) -> float:
    """Return the mean distance of logged rewards from the default; without logs, the noise."""
    logs = current.terms.offline
    seen = logs.n > 0
    if not seen.any():
        return current.terms.policy.noise
    return abs(float(np.average(logs.mean[seen], weights=logs.n[seen])) - default)
