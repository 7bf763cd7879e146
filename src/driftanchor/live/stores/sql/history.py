"""Statements about the history, the snapshots and the watch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import BigInteger, Connection, bindparam, cast, func, insert, select

from driftanchor.core.record import Record
from driftanchor.live.stores.damage import parsed, typed
from driftanchor.live.stores.sql.prepared import Prepared, Upsert
from driftanchor.live.stores.sql.schema import history, snapshots, watches
from driftanchor.live.stores.store_rows import HistoryRow, Snapshot

_WATCH = Prepared(
    select(watches.c.record).where(watches.c.campaign_id == bindparam("campaign")), ["campaign"]
)
_KEEP_WATCH = Upsert(watches, replaced=("record",))
_COUNTS = ("decisions", "rewards", "total")
_ADD = Upsert(history, added=_COUNTS)


def add(connection: Connection, campaign: int, rows: Sequence[HistoryRow]) -> None:
    """Add what happened to the history."""
    values = [
        (campaign, row.start, row.column, row.decisions, row.rewards, row.total) for row in rows
    ]
    _ADD.run(connection, sorted(values))


def rows(
    connection: Connection, campaign: int, since: float | None, stretch: float | None = None
) -> list[HistoryRow]:
    """The history, in order; with `stretch`, the database adds rows up to stretches as long."""
    start: Any = history.c.start
    counts: list[Any] = [history.c[name] for name in _COUNTS]
    if stretch is not None:
        start = func.floor(history.c.start / stretch) * stretch
        counts = [cast(func.sum(column), BigInteger) for column in counts[:2]] + [
            func.sum(counts[2])
        ]
    wanted = select(start, history.c.arm, *counts).where(history.c.campaign_id == campaign)
    if since is not None:
        wanted = wanted.where(history.c.start >= since)
    if stretch is not None:
        wanted = wanted.group_by(start, history.c.arm)
    found = connection.execute(wanted.order_by(start, history.c.arm))
    return [typed(HistoryRow, row) for row in found]


def watch(connection: Connection, campaign: int) -> Record | None:
    """What is kept to watch the promises."""
    found = _WATCH.rows(connection, campaign)
    return parsed(found[0].record) if found else None


def keep_watch(connection: Connection, campaign: int, record: Record) -> None:
    """Keep it."""
    _KEEP_WATCH.run(connection, [(campaign, json.dumps(record, allow_nan=False))])


def keep(connection: Connection, campaign: int, snapshot: Snapshot) -> None:
    """Keep a snapshot."""
    state = json.dumps(snapshot.state, allow_nan=False)
    values = {"campaign_id": campaign, "seq": snapshot.seq, "state": state}
    connection.execute(insert(snapshots), values)


def snapshot(connection: Connection, campaign: int, through: int) -> Snapshot | None:
    """The last snapshot at a place or before it."""
    wanted = select(snapshots.c.seq, snapshots.c.state).where(snapshots.c.campaign_id == campaign)
    wanted = wanted.where(snapshots.c.seq <= through).order_by(snapshots.c.seq.desc()).limit(1)
    found = connection.execute(wanted).one_or_none()
    return None if found is None else typed(Snapshot, (found.seq, parsed(found.state)))
