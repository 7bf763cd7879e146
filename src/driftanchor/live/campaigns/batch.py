"""Batch: the requests and changes of one transaction on a campaign.

Each request declares in advance which decisions, units and keys it needs, so that all of them are
read at once. Changes are collected here and written together at the end.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from driftanchor.core.record import Record
from driftanchor.errors import NotFound, shown
from driftanchor.live.campaigns.campaign_state import CampaignState
from driftanchor.live.records import state_fields
from driftanchor.live.stores.damage import damaged
from driftanchor.live.stores.journal import Detail, Entry
from driftanchor.live.stores.reader import Reader
from driftanchor.live.stores.rows import (
    KEY_SECONDS,
    Changes,
    DecisionRow,
    HistoryRow,
    KeyedRequest,
    Snapshot,
)

MIN_BETWEEN_SNAPSHOTS = 256  # events
HISTORY_SECONDS = 900.0  # per row of the history
COUNTED = ("decided", "rewarded", "defaulted", "added", "corrected")  # events in the history
History = dict[tuple[float, int], HistoryRow]  # by start and column


class Needs(NamedTuple):
    """The rows that a request must find in the batch.

    Attributes:
        ids: Decisions it is about.
        units: Units it asks for.
        keys: Keys of earlier requests.
    """

    ids: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()


NOTHING = Needs()


class Request(Protocol):
    """A request in a batch: it returns its answer, or raises without changing anything."""

    @property
    def needs(self) -> Needs:
        """The rows to read before the request runs."""

    def __call__(self, batch: Batch) -> Any:
        """Execute the request."""


class Spoiled(Exception):
    """A request failed halfway, so that the batch cannot be written."""


@dataclass
class Batch:
    """The state of one transaction: the rows it read and its changes so far.

    Attributes:
        campaign: The name of the campaign.
        current: The state of the campaign, updated by every change.
        now: The time, in seconds since 1970.
        reader: Reads the campaign as it was before the batch.
        decisions: Decisions by id.
        held: The current decisions of units.
        keyed: Requests by key, without expired keys.
        entries: The new events.
        watch: The new state of the shift tests, if they were updated.
    """

    campaign: str
    current: CampaignState
    now: float
    reader: Reader
    decisions: dict[str, DecisionRow] = field(default_factory=dict)
    held: dict[str, DecisionRow] = field(default_factory=dict)
    keyed: dict[str, KeyedRequest] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    watch: Record | None = None
    _columns: set[int] = field(default_factory=set)  # of changed arms
    _made: dict[str, DecisionRow] = field(default_factory=dict)
    _changed: dict[str, DecisionRow] = field(default_factory=dict)
    _keys: dict[str, KeyedRequest] = field(default_factory=dict)
    _history: History = field(default_factory=dict)

    def read(self, needs: Iterable[Needs]) -> None:
        """Read the rows that requests need. Rows already changed in this batch are kept."""
        ids: set[str] = set()
        units: set[str] = set()
        keys: set[str] = set()
        for own_ids, own_units, own_keys in needs:
            ids.update(own_ids)
            units.update(own_units)
            keys.update(own_keys)
        if keys:
            self.keyed.update(self.reader.keyed(sorted(keys), self.now - KEY_SECONDS))
            ids.update(*(request.ids for request in self.keyed.values()))
        missing = sorted(ids - self.decisions.keys())
        if missing:
            self.know(self.reader.decisions(missing))
        if units:
            self.know(self.reader.holding(sorted(units), self.current.counters.epoch))

    def know(self, rows: Iterable[DecisionRow]) -> None:
        """Add rows that were read, except those known already, which may have changed here."""
        arms, epoch = len(self.current.labels), self.current.counters.epoch
        for row in rows:
            if not 0 <= row.column < arms:
                raise damaged(f"decision {row.number} is for an arm {row.column} that is not there")
            known = self.decisions.setdefault(row.id, row)
            if known.holds is not None and known.epoch == epoch:
                self.held[known.holds] = known

    def decision(self, decision_id: str) -> DecisionRow:
        """Return a decision that was read.

        Raises:
            NotFound: The campaign has no such decision.
        """
        row = self.decisions.get(decision_id)
        if row is None:
            raise NotFound(
                f"campaign {self.campaign!r} has no decision {shown(decision_id)}: give the id "
                "that ask() returned"
            )
        return row

    def rewards_of(self, column: int) -> dict[int, float]:
        """Return all rewards of an arm that count, by the number of their decisions."""
        rewards = self.reader.rewards(column)
        for row in (*self._made.values(), *self._changed.values()):
            if row.column == column and row.reward is not None:
                rewards[row.number] = row.reward
        return rewards

    def execute(self, request: Request) -> Any:
        """Return the answer to a request, or the exception that it raised.

        Raises:
            Spoiled: The request failed halfway.
        """
        before = self.current.counters.seq
        try:
            return request(self)
        except Spoiled:
            raise
        except Exception as error:
            if self.current.counters.seq != before:
                raise Spoiled from error
            return error

    def record(
        self,
        kind: str,
        *,
        decision: int | None = None,
        column: int | None = None,
        value: float | None = None,
        detail: Detail | None = None,
    ) -> Entry:
        """Record an event."""
        current = self.current
        entry = Entry(current.counters.seq + 1, kind, self.now, decision, column, value, detail)
        try:
            current.apply(entry)
        except Exception as error:  # the state may have changed in part
            raise Spoiled from error
        self.entries.append(entry)
        add_to_history(self._history, entry)
        if kind == "arm_added":
            column = len(current.terms.arms) - 1
        if column is not None:
            self._columns.add(column)
        if kind == "decided" and detail is not None:
            self._columns.update(changed for changed, _ in detail.get("memory", ()))
        return entry

    def make(self, row: DecisionRow) -> None:
        """Add a new decision."""
        self._made[row.id] = self.decisions[row.id] = row
        if row.holds is not None:
            self.held[row.holds] = row

    def change(self, row: DecisionRow) -> None:
        """Mark a decision as changed."""
        if row.id not in self._made:
            self._changed[row.id] = row
        if row.unit is not None and row.holds is None and self.held.get(row.unit) is row:
            del self.held[row.unit]

    def keep_key(self, key: str, request: KeyedRequest) -> None:
        """Store a request under its key."""
        self.keyed[key] = self._keys[key] = request
        detail: Detail = {"key": key, "ids": request.ids}
        if request.digest is not None:
            detail["digest"] = request.digest
        self.record("keyed", detail=detail)

    @property
    def snapshot_due(self) -> bool:
        """Whether it is time for a new snapshot."""
        counters = self.current.counters
        since = counters.seq - counters.snapshot
        return since >= MIN_BETWEEN_SNAPSHOTS and since >= len(self.current.labels)

    def changes(self) -> Changes | None:
        """Return the changes to write; `None` if there are none."""
        if not (self.entries or self._changed or self._keys or self.watch):
            return None
        current, counters = self.current, self.current.counters
        current.seal(self.entries)
        changes = Changes(
            counters,
            self.entries,
            [current.row(column) for column in sorted(self._columns)],
            list(self._made.values()),
            list(self._changed.values()),
            list(self._history.values()),
            self._keys,
            watch=self.watch,
        )
        if self._made:
            current.traffic.check(current.decisions, counters.decisions, len(self._made))
            changes.expected = current.traffic.to_bytes()
        if self.snapshot_due:
            counters.snapshot = counters.seq
            changes.snapshot = Snapshot(counters.seq, state_fields(current.state))
        return changes


def add_to_history(history: History, entry: Entry) -> None:
    """Count an event in the history of decisions and rewards by arm and time interval."""
    _, kind, at, _, column, value, detail = entry
    if column is None or kind not in COUNTED:
        return
    if kind == "corrected" and detail is not None:
        at = detail.get("counted_at", at)  # correct the interval in which the reward counted
    start = at // HISTORY_SECONDS * HISTORY_SECONDS
    row = history.get((start, column))
    if row is None:
        row = history[start, column] = HistoryRow(start, column)
    if kind == "decided":
        row.decisions += 1
        return
    row.total += value or 0.0
    if kind == "corrected":
        row.total -= (detail or {})["before"]
    else:
        row.rewards += 1
