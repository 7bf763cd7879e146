"""Batch: the requests and changes of one transaction on a campaign.

Each request declares in advance which decisions, units and keys it needs, so that all of them are
read at once. Changes are collected here and written together at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from driftanchor.core.record import Record
from driftanchor.live.campaigns.campaign_state import CampaignState
from driftanchor.live.campaigns.past import Past, remember, remember_rewards
from driftanchor.live.records import state_fields
from driftanchor.live.stores.damage import damaged
from driftanchor.live.stores.journal import Detail, Entry
from driftanchor.live.stores.rows import KEY_SECONDS, DecisionRow, KeyedRequest, Snapshot
from driftanchor.live.stores.store import Changes, Reader

LEAST_BETWEEN_SNAPSHOTS = 256  # events


class Needs(NamedTuple):
    """What a request must find in the batch.

    Attributes:
        ids: Decisions it is about.
        units: Units it asks for.
        keys: Keys of requests that may have been made before.
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


@dataclass
class Batch:
    """The state of one transaction: the rows it read and its changes so far.

    Attributes:
        campaign: The name of the campaign.
        current: The state of the campaign, updated by every change.
        now: The time, in seconds since 1970.
        found: Decisions by id.
        held: The current decisions of units.
        keyed: Requests by key, without expired keys.
        watch: The state of the shift tests, if it was read.
        reader: Reads the campaign as it was before the batch.
    """

    campaign: str
    current: CampaignState
    now: float
    found: dict[str, DecisionRow] = field(default_factory=dict)
    held: dict[str, DecisionRow] = field(default_factory=dict)
    keyed: dict[str, KeyedRequest] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    columns: set[int] = field(default_factory=set)
    made: dict[str, DecisionRow] = field(default_factory=dict)
    changed: dict[str, DecisionRow] = field(default_factory=dict)
    keys: dict[str, KeyedRequest] = field(default_factory=dict)
    past: Past = field(default_factory=dict)
    watch: Record | None = None
    reader: Reader | None = None

    def rewards_of(self, column: int) -> dict[int, float]:
        """All rewards of an arm that count, by the number of their decisions."""
        assert self.reader is not None
        rewards = self.reader.rewards(column)
        for row in (*self.made.values(), *self.changed.values()):
            if row.column == column and row.reward is not None:
                rewards[row.number] = row.reward
        return rewards

    def read(self, reader: Reader, needs: Iterable[Needs]) -> None:
        """Read the rows that requests need. Rows already changed in this batch are kept."""
        self.reader = reader
        ids: set[str] = set()
        units: set[str] = set()
        keys: set[str] = set()
        for own_ids, own_units, own_keys in needs:
            ids.update(own_ids)
            units.update(own_units)
            keys.update(own_keys)
        if keys:
            self.keyed.update(reader.keyed(sorted(keys), self.now - KEY_SECONDS))
            ids.update(*(request.ids for request in self.keyed.values()))
        missing = sorted(ids - self.found.keys())
        if missing:
            self.know(reader.decisions(missing))
        if units:
            self.know(reader.holding(sorted(units), self.current.counters.epoch))

    def know(self, rows: Iterable[DecisionRow]) -> None:
        """Add rows that were read, except those known already, which may have changed here."""
        arms, epoch, found = len(self.current.labels), self.current.counters.epoch, self.found
        for row in rows:
            if not 0 <= row.column < arms:
                raise damaged(f"decision {row.number} is for an arm {row.column} that is not there")
            known = found.setdefault(row.id, row)
            if known.holds is not None and known.epoch == epoch:
                self.held[known.holds] = known

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
        current.go_on(entry)
        self.entries.append(entry)
        remember(self.past, entry)
        if kind == "arm_added":
            column = len(current.terms.arms) - 1
        if column is not None:
            self.columns.add(column)
        if kind == "decided" and detail is not None:
            self.columns.update(changed for changed, _ in detail.get("memory", ()))
        return entry

    def record_rewards(self, rows: Sequence[DecisionRow]) -> None:
        """Record the reward events of decisions whose rows are already updated."""
        seq, now = self.current.counters.seq, self.now
        paid: dict[int, list[float]] = {}
        for place, row in enumerate(rows, seq + 1):
            column, reward = row.column, row.reward
            assert reward is not None
            paid.setdefault(column, []).append(reward)
            event = place, "rewarded", now, row.number, column, reward, None
            self.entries.append(Entry._make(event))
        self.current.learn(paid)
        remember_rewards(self.past, now, paid)
        self.columns.update(paid)

    def make(self, row: DecisionRow) -> None:
        """Add a new decision."""
        self.made[row.id] = self.found[row.id] = row
        if row.holds is not None:
            self.held[row.holds] = row

    def change(self, *rows: DecisionRow) -> None:
        """Mark decisions as changed."""
        made, changed, held = self.made, self.changed, self.held
        for row in rows:
            if row.id not in made:
                changed[row.id] = row
            if row.unit is not None and row.holds is None and held.get(row.unit) is row:
                del held[row.unit]

    def keep_key(self, key: str, request: KeyedRequest) -> None:
        """Remember a request under its key."""
        self.keyed[key] = self.keys[key] = request
        detail: Detail = {"key": key, "ids": request.ids}
        if request.digest is not None:
            detail["digest"] = request.digest
        self.record("keyed", detail=detail)

    def is_long_ago(self) -> bool:
        """Return whether a new snapshot is due."""
        counters = self.current.counters
        since = counters.seq - counters.snapshot
        return since >= LEAST_BETWEEN_SNAPSHOTS and since >= len(self.current.labels)

    def changes(self) -> Changes | None:
        """Return the changes to write; `None` if there are none."""
        if not (self.entries or self.changed or self.keys or self.watch):
            return None
        current = self.current
        current.seal(self.entries)
        changes = Changes(
            current.counters,
            self.entries,
            [current.row(column) for column in sorted(self.columns)],
            list(self.made.values()),
            list(self.changed.values()),
            list(self.past.values()),
            self.keys,
        )
        if self.made:
            current.traffic.weigh(current.decisions, current.counters.decisions, len(self.made))
            changes.expected = current.traffic.to_bytes()
        changes.watch = self.watch
        if self.is_long_ago():
            current.counters.snapshot = current.counters.seq
            changes.snapshot = Snapshot(current.counters.seq, state_fields(current.state))
        return changes


class Spoiled(Exception):
    """A request failed halfway, so that the batch cannot be written."""


def outcome(batch: Batch, request: Callable[[Batch], Any]) -> Any:
    """The answer to a request, or what it raised."""
    before = batch.current.counters.seq
    try:
        return request(batch)
    except Spoiled:
        raise
    except Exception as error:
        if batch.current.counters.seq != before:
            raise Spoiled from error
        return error
