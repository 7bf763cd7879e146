"""Read one campaign in a transaction, and write its changes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from driftanchor.core.record import Record, parse
from driftanchor.errors import shown
from driftanchor.live.stores.damage import damaged, parsed
from driftanchor.live.stores.journal import CHANGES, Entry, detail_text
from driftanchor.live.stores.rows import (
    KEY_SECONDS,
    ArmRow,
    CampaignRow,
    Changes,
    CohortRow,
    Counters,
    DecisionRow,
    HistoryRow,
    KeyedRequest,
    Snapshot,
    UnclosedRow,
)
from driftanchor.live.stores.statements import COLUMNS, Session

T = TypeVar("T")
PAGE = 5_000  # rows to fetch at once
MAX_EXPIRED = 5_000  # expired request keys to delete at once

COUNTERS = ", ".join(COLUMNS["heads"][1:])
EVENT = f"SELECT {', '.join(COLUMNS['events'][1:])} FROM events"
DECISION = f"SELECT {', '.join(x for x in COLUMNS['decisions'] if x != 'campaign_id')}"
DECISIONS = f"{DECISION} FROM decisions WHERE"
KEY = "SELECT key, decisions, digest, at FROM request_keys WHERE campaign_id = ? AND"
IS_CHANGE = f"kind IN ({', '.join(repr(kind) for kind in CHANGES)})"  # as in the index
# The slots of `Reader.cohorts`, and the decision of an event.
SHOWN_SLOT = "CAST(FLOOR(decisions.exposed_at / ?) AS BIGINT)"
EVENT_SLOT = "CAST(FLOOR(events.at / ?) AS BIGINT)"
WITH_DECISION = (
    "FROM events JOIN decisions ON decisions.campaign_id = events.campaign_id "
    "AND decisions.number = events.decision WHERE events.campaign_id = ? AND events.seq > ? "
    "AND decisions.number > ? AND decisions.exposed_at IS NOT NULL AND"
)


class Reader:
    """Reads one campaign in one transaction.

    Args:
        session: The transaction.
        campaign: The campaign's id.
        counters: Its counters.
    """

    def __init__(self, session: Session, campaign: int, counters: Counters) -> None:
        self._session, self._campaign = session, campaign
        self.counters = counters

    def entries(self, after: int, through: int | None = None) -> Iterator[Entry]:
        """Yield the events after a sequence number, in order, up to another if given."""
        last = self.counters.seq if through is None else min(through, self.counters.seq)
        while after < last:
            rows = self._session.rows(
                f"{EVENT} WHERE campaign_id = ? AND seq > ? ORDER BY seq LIMIT ?",
                (self._campaign, after, min(PAGE, last - after)),
            )
            if not rows:
                return
            yield from map(_entry, rows)
            after = rows[-1][0]

    def changes(self, after: int = 0) -> list[Entry]:
        """Return later events that are neither decisions nor rewards: see `CHANGES`."""
        return self._entries(  # without the hint SQLite reads all events
            f"{EVENT} INDEXED BY events_changes "
            f"WHERE {IS_CHANGE} AND campaign_id = ? AND seq > ? ORDER BY seq",
            after,
        )

    def corrections(self, after: int, through: int) -> list[Entry]:
        """Return the `corrected` and `added` events between two sequence numbers."""
        return self._entries(
            f"{EVENT} WHERE campaign_id = ? AND seq > ? AND seq <= ? "
            "AND kind IN ('corrected', 'added') ORDER BY seq",
            after,
            through,
        )

    def matured(self, before: float | None = None) -> Entry | None:
        """Return the last `matured` event, or the last before a time."""
        if before is None:
            found = self._entries(
                f"{EVENT} INDEXED BY events_matured "
                "WHERE kind = 'matured' AND campaign_id = ? ORDER BY seq DESC LIMIT 1"
            )
        else:
            found = self._entries(
                f"{EVENT} INDEXED BY events_matured_at "
                "WHERE kind = 'matured' AND campaign_id = ? AND at < ? ORDER BY at DESC LIMIT 1",
                before,
            )
        return found[0] if found else None

    def reported(self, after: int, decision: int) -> dict[str, int]:
        """Count the rewards reported in time (`rewarded`) and late (`late`).

        Args:
            after: Count only events after this sequence number.
            decision: Count only rewards of decisions after this number.
        """
        rows = self._rows(
            "SELECT kind, count(*) FROM events WHERE campaign_id = ? AND seq > ? AND decision > ? "
            "AND kind IN ('rewarded', 'late') GROUP BY kind",
            after,
            decision,
        )
        return {kind: count for kind, count in rows}

    def arms(self) -> list[ArmRow]:
        """Return all arms, by column."""
        columns = ", ".join(COLUMNS["arms"][1:])
        arms = []
        for row in self._rows(f"SELECT {columns} FROM arms WHERE campaign_id = ? ORDER BY arm"):
            arm = ArmRow(*row)
            arm.memory = parsed(row[8], list)
            arm.added = None if row[10] is None else parsed(row[10], dict)
            arms.append(arm)
        return arms

    def expected(self) -> bytes:
        """Return the sums of propensities, as in `PropensitySums`; empty if there are none."""
        rows = self._rows("SELECT expected FROM traffic WHERE campaign_id = ?")
        if not rows:
            raise damaged("the sums of propensities are missing")
        return bytes(rows[0][0])

    def decisions(self, ids: Sequence[str]) -> list[DecisionRow]:
        """Return the campaign's decisions with these ids."""
        known = [x for x in ids if x.isascii() and x.isprintable()]  # drivers refuse other text
        # The plus disables the index on the campaign: SQLite would read all its decisions with it.
        return self._lookup(
            f"{DECISIONS} +campaign_id = ? AND id = ANY(?)", self._session.listed(known)
        )

    def all_decisions(self, after: int = 0, page: int = PAGE) -> Iterator[DecisionRow]:
        """Yield every decision after a number, in order, fetched `page` at a time."""
        while True:
            rows = self._decisions(
                f"{DECISIONS} campaign_id = ? AND number > ? ORDER BY number LIMIT ?", after, page
            )
            yield from rows
            if len(rows) < page:
                return
            after = rows[-1].number

    def holding(self, units: Sequence[str], epoch: int) -> list[DecisionRow]:
        """Return the current decisions of these units in this epoch, at most one per unit."""
        if self._session.dialect == "sqlite":  # without the hint it reads all decisions
            return self._lookup(
                f"{DECISION} FROM decisions INDEXED BY decisions_holds "
                "WHERE campaign_id = ? AND epoch = ? AND holds = ANY(?)",
                epoch,
                self._session.listed(units),
            )
        if len(units) == 1:
            return self._lookup(
                f"{DECISIONS} campaign_id = ? AND epoch = ? AND holds = ?", epoch, units[0]
            )
        # PostgreSQL's statistics of a growing campaign lag behind, so it would read all decisions.
        # LIMIT 1 makes it look up each unit in the index.
        rows = self._session.lookup(
            "SELECT held.* FROM unnest(?::text[]) AS asked (unit) CROSS JOIN LATERAL "
            f"({DECISIONS} campaign_id = ? AND epoch = ? AND holds = asked.unit LIMIT 1) AS held",
            (list(dict.fromkeys(units)), self._campaign, epoch),
        )
        return [DecisionRow(*row) for row in rows]

    def due(self, now: float, limit: int) -> list[DecisionRow]:
        """Return pending decisions whose window has ended, longest overdue first."""
        return self._decisions(
            f"{DECISIONS} campaign_id = ? AND state = 'open' AND due_at IS NOT NULL "
            "AND due_at <= ? ORDER BY due_at LIMIT ?",
            now,
            limit,
        )

    def of_unit(self, unit: str, after: int, through: int) -> list[DecisionRow]:
        """Return the decisions of a unit in a range of decision numbers."""
        return self._decisions(
            f"{DECISIONS} campaign_id = ? AND number > ? AND number <= ? AND unit = ? "
            "ORDER BY number",
            after,
            through,
            unit,
        )

    def rewards(self, column: int) -> dict[int, float]:
        """Return all rewards of an arm that count, by decision number."""
        rows = self._rows(
            "SELECT number, reward FROM decisions "
            "WHERE campaign_id = ? AND arm = ? AND reward IS NOT NULL",
            column,
        )
        return {number: reward for number, reward in rows}

    def keyed(self, keys: Sequence[str], since: float) -> dict[str, KeyedRequest]:
        """Return the requests with these keys since a time."""
        # Compare times in Python: with them in SQL, SQLite might search by time instead of by key.
        listed = (self._campaign, self._session.listed(keys))
        rows = self._session.lookup(f"{KEY} key = ANY(?)", listed)
        return {key: KeyedRequest(_ids(ids), digest) for key, ids, digest, at in rows if at > since}

    def all_keyed(self) -> Iterator[tuple[str, KeyedRequest, float]]:
        """Yield every stored request key with its request and time."""
        after = ""
        while rows := self._rows(f"{KEY} key > ? ORDER BY key LIMIT ?", after, PAGE):
            for key, ids, digest, at in rows:
                yield key, KeyedRequest(_ids(ids), digest), at
            after = rows[-1][0]

    def history(self, since: float | None = None, stretch: float | None = None) -> list[HistoryRow]:
        """Return the history of each arm by time interval; `stretch` sets longer intervals."""
        start = -math.inf if since is None else since
        if stretch is None:
            rows = self._rows(
                "SELECT start, arm, decisions, rewards, total FROM history "
                "WHERE campaign_id = ? AND start >= ? ORDER BY start, arm",
                start,
            )
        else:
            rows = self._session.rows(
                "SELECT CAST(CAST(start AS BIGINT) / ? * ? AS DOUBLE PRECISION), arm, "
                "CAST(sum(decisions) AS BIGINT), CAST(sum(rewards) AS BIGINT), sum(total) "
                "FROM history WHERE campaign_id = ? AND start >= ? GROUP BY 1, 2 ORDER BY 1, 2",
                (int(stretch), int(stretch), self._campaign, start),
            )
        return [HistoryRow(*row) for row in rows]

    def cohorts(
        self, after: int, number: int, length: float, default: float, old: int
    ) -> list[CohortRow]:
        """Count decisions and their rewards by the time slot in which decisions were shown.

        Successive calls count each event once, because each skips the events up to `after`.

        Args:
            after: Count only events after this sequence number.
            number: The number of decisions at that event.
            length: The length of a slot, in seconds.
            default: The default reward; such rewards do not count as reports.
            old: Skip decisions up to this number, which were made under earlier terms.
        """
        rows = self._session.rows
        shown_rows = rows(
            f"SELECT arm, {SHOWN_SLOT}, count(*) FROM decisions "
            "WHERE campaign_id = ? AND number > ? AND exposed_at IS NOT NULL GROUP BY 1, 2",
            (length, self._campaign, number),
        )
        events = rows(
            f"SELECT events.kind, decisions.arm, {SHOWN_SLOT}, {EVENT_SLOT}, count(*), "
            f"coalesce(sum(events.value - ?), 0.0) {WITH_DECISION} "
            "(events.kind = 'rewarded' AND events.value <> ? OR events.kind = 'expired' "
            "OR events.kind = 'exposed' AND decisions.number <= ?) GROUP BY 1, 2, 3, 4",
            (length, length, default, self._campaign, after, old, default, number),
        )
        corrected = rows(
            f"SELECT decisions.arm, {SHOWN_SLOT}, events.value, events.detail {WITH_DECISION} "
            "events.kind = 'corrected'",
            (length, self._campaign, after, old),
        )
        return [
            *(CohortRow("shown", arm, slot, slot, count, 0.0) for arm, slot, count in shown_rows),
            *(CohortRow(*row) for row in events),
            *(
                CohortRow("corrected", arm, slot, slot, 0, value - parsed(detail, dict)["before"])
                for arm, slot, value, detail in corrected
            ),
        ]

    def unclosed(self, old: int, now: float, default: float) -> list[UnclosedRow]:
        """Count decisions up to number `old` with an open window, or that wait without one."""
        rows = self._session.rows(
            "SELECT arm, count(*), count(reward), coalesce(sum(reward - ?), 0.0) FROM decisions "
            "WHERE campaign_id = ? AND number <= ? AND exposed_at IS NOT NULL "
            "AND state <> 'expired' AND (due_at > ? OR due_at IS NULL AND state = 'open') "
            "GROUP BY arm",
            (default, self._campaign, old, now),
        )
        return [UnclosedRow(*row) for row in rows]

    def watch(self) -> Record | None:
        """Return the stored state of the shift tests; `None` before the first test."""
        rows = self._rows("SELECT record FROM watches WHERE campaign_id = ?")
        return parsed(rows[0][0], dict) if rows else None

    def snapshot(self, through: int) -> Snapshot | None:
        """Return the last snapshot at or before a sequence number."""
        rows = self._rows(
            "SELECT seq, state FROM snapshots WHERE campaign_id = ? AND seq <= ? "
            "ORDER BY seq DESC LIMIT 1",
            through,
        )
        return Snapshot(rows[0][0], parsed(rows[0][1], dict)) if rows else None

    def _rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._session.rows(sql, (self._campaign, *values))

    def _entries(self, sql: str, *values: Any) -> list[Entry]:
        return [_entry(row) for row in self._rows(sql, *values)]

    def _lookup(self, sql: str, *values: Any) -> list[DecisionRow]:
        rows = self._session.lookup(sql, (self._campaign, *values))
        return [DecisionRow(*row) for row in rows]

    def _decisions(self, sql: str, *values: Any) -> list[DecisionRow]:
        return [DecisionRow(*row) for row in self._rows(sql, *values)]


def find(session: Session, name: str) -> CampaignRow | None:
    """Return the campaign of a name, if there is one."""
    rows = session.rows(
        "SELECT id, name, created_at, terms, settings FROM campaigns WHERE name = ?", (name,)
    )
    if not rows:
        return None
    number, name, created_at, terms, settings = rows[0]
    return CampaignRow(number, name, created_at, _record(terms), _record(settings))


def read_counters(session: Session, campaign: int, *, lock: bool = False) -> Counters | None:
    """Return the counters of a campaign; `lock` keeps other writers out until the transaction ends.

    SQLite needs no lock here: it has one for the whole file.
    """
    sql = f"SELECT {COUNTERS} FROM heads WHERE campaign_id = ?"
    rows = session.rows(f"{sql} FOR UPDATE" if lock else sql, (campaign,))
    return to_counters(rows[0]) if rows else None


def to_counters(row: Sequence[Any]) -> Counters:
    """Convert a row of `COUNTERS`."""
    counters = Counters(*row)
    counters.paused = bool(counters.paused)  # SQLite has numbers only
    return counters


def insert_campaign(session: Session, row: CampaignRow, arms: Sequence[ArmRow]) -> CampaignRow:
    """Insert a campaign and return it with its id."""
    session.run(
        "INSERT INTO campaigns (name, created_at, terms, settings) VALUES (?, ?, ?, ?)",
        (row.name, row.created_at, _json(row.terms), _json(row.settings)),
    )
    stored = find(session, row.name)
    assert stored is not None
    session.insert("heads", [(stored.id, *_counter_values(Counters()))])
    session.run("INSERT INTO traffic (campaign_id, expected) VALUES (?, ?)", (stored.id, b""))
    session.insert("arms", [_arm_values(stored.id, arm) for arm in arms])
    return stored


def write(session: Session, campaign: int, changes: Changes) -> None:
    """Write the changes of a transaction."""
    at = changes.entries[0].at if changes.entries else 0.0
    session.insert("events", [_entry_values(campaign, entry) for entry in changes.entries])
    session.run_many(  # before the new decisions, because units release their old ones
        "UPDATE decisions SET holds = ?, state = ?, exposed_at = ?, due_at = ?, settled_at = ?, "
        "reward = ?, reported = ? WHERE id = ?",
        [
            (x.holds, x.state, x.exposed_at, x.due_at, x.settled_at, x.reward, x.reported, x.id)
            for x in changes.updated
        ],
    )
    session.insert("decisions", [_decision_values(campaign, row) for row in changes.made])
    session.insert("arms", [_arm_values(campaign, row) for row in changes.arms])
    session.insert(
        "history",
        sorted(
            (campaign, x.start, x.column, x.decisions, x.rewards, x.total) for x in changes.history
        ),
    )
    session.insert(
        "request_keys",
        [(campaign, key, _json(x.ids), at, x.digest) for key, x in changes.keys.items()],
    )
    if changes.expected is not None:
        session.run(
            "UPDATE traffic SET expected = ? WHERE campaign_id = ?", (changes.expected, campaign)
        )
    if changes.watch is not None:
        session.insert("watches", [(campaign, _json(changes.watch))])
    if changes.snapshot is not None:
        if changes.entries:
            session.run(
                "DELETE FROM request_keys WHERE campaign_id = ? AND key IN (SELECT key FROM "
                "request_keys WHERE campaign_id = ? AND at <= ? ORDER BY at LIMIT ?)",
                (campaign, campaign, at - KEY_SECONDS, MAX_EXPIRED),
            )
        snapshot = changes.snapshot
        session.insert("snapshots", [(campaign, snapshot.seq, _json(snapshot.state))])
    session.run(
        f"UPDATE heads SET {', '.join(f'{x} = ?' for x in COLUMNS['heads'][1:])} "
        "WHERE campaign_id = ?",
        (*_counter_values(changes.counters), campaign),
    )


def was_committed(session: Session, campaign: int, changes: Changes) -> bool:
    """Return whether a transaction whose commit was interrupted was committed."""
    if not changes.entries:
        return False  # writing them again changes nothing
    rows = session.rows(
        f"{EVENT} WHERE campaign_id = ? AND seq = ?", (campaign, changes.entries[0].seq)
    )
    ids = [row.id for row in changes.made[:1]]
    made = session.rows("SELECT id FROM decisions WHERE id = ANY(?)", (session.listed(ids),))
    return [_entry(row) for row in rows] == changes.entries[:1] and len(made) == len(ids)


def _entry(row: Sequence[Any]) -> Entry:
    seq, kind, at, decision, column, value, detail = row
    detail = None if detail is None else parsed(detail, dict)
    return Entry(seq, kind, at, decision, column, value, detail)


def _entry_values(campaign: int, entry: Entry) -> tuple[Any, ...]:
    if entry.detail is None:
        return (campaign, *entry)
    return (campaign, *entry[:-1], detail_text(entry.detail))


def _decision_values(campaign: int, row: DecisionRow) -> tuple[Any, ...]:
    return (
        row.id,
        campaign,
        row.number,
        row.seq,
        row.column,
        row.unit,
        row.holds,
        row.epoch,
        row.propensity,
        row.state,
        row.asked_at,
        row.exposed_at,
        row.due_at,
        row.settled_at,
        row.reward,
        row.reported,
    )


def _arm_values(campaign: int, row: ArmRow) -> tuple[Any, ...]:
    return (
        campaign,
        row.column,
        row.label,
        row.state,
        row.decisions,
        row.pulls,
        row.total,
        row.squares,
        row.pending,
        _json(row.memory) if row.memory else "[]",
        row.added_seq,
        None if row.added is None else _json(row.added),
        row.distrusted_seq,
    )


def _counter_values(counters: Counters) -> tuple[Any, ...]:
    return tuple(getattr(counters, name) for name in Counters.__slots__)


def _ids(text: str) -> list[str]:
    ids = parsed(text, list)
    if not all(isinstance(x, str) for x in ids):
        raise damaged(f"the decisions of a key are {shown(ids)}")
    return ids


def _record(text: str) -> Record:
    record = parse(text)
    return record if isinstance(record, dict) else {}


def _json(value: object) -> str:
    return json.dumps(value, allow_nan=False)
