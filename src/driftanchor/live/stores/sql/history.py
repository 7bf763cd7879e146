"""Statements about the history, the snapshots and the watch."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, insert, select

from driftanchor.core.record import Record
from driftanchor.live.stores.damage import parsed, typed
from driftanchor.live.stores.sql.prepared import Prepared, Upsert
from driftanchor.live.stores.sql.schema import history, snapshots, watches
from driftanchor.live.stores.store_rows import HistoryRow, Snapshot

_WATCH = Prepared(
    select(watches.c.record).where(watches.c.campaign_id == bindparam("campaign")), ["campaign"]
)
_KEEP_WATCH = Upsert(watches, replaced=("record",))
_ADD = Upsert(history, added=("decisions", "rewards", "total"))


def add(connection: Connection, campaign: int, rows: Sequence[HistoryRow]) -> None:
    """Add what happened to the history."""
    values = [
        (campaign, row.start, row.column, row.decisions, row.rewards, row.total) for row in rows
    ]
    _ADD.run(connection, sorted(values))


def rows(connection: Connection, campaign: int, since: float | None) -> list[HistoryRow]:
    """The history, in order."""
    columns = [column for column in history.columns if column.name != "campaign_id"]
    wanted = select(*columns).where(history.c.campaign_id == campaign)
    if since is not None:
        wanted = wanted.where(history.c.start >= since)
    found = connection.execute(wanted.order_by(history.c.start, history.c.arm))
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
