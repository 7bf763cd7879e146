"""Statements about the history, the snapshots and the watch."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from sqlalchemy import BigInteger, Double, bindparam, cast, func, insert, select

from driftanchor.core.record import Record
from driftanchor.live.stores.damage import all_typed, parsed, typed
from driftanchor.live.stores.rows import HistoryRow, Snapshot
from driftanchor.live.stores.sql.link import Link
from driftanchor.live.stores.sql.prepared import Insert, Prepared
from driftanchor.live.stores.sql.schema import history, snapshots, watches

_WATCH = Prepared(
    select(watches.c.record).where(watches.c.campaign_id == bindparam("campaign")), ["campaign"]
)
_KEEP_WATCH = Insert(watches, replaced=("record",))
_ROWS = Prepared(
    select(*(column for column in history.columns if column.name != "campaign_id"))
    .where(history.c.campaign_id == bindparam("campaign"))
    .where(history.c.start >= bindparam("since"))
    .order_by(history.c.start, history.c.arm),
    ["campaign", "since"],
)
_SECONDS = cast(bindparam("stretch"), BigInteger)
_STRETCH = cast(cast(history.c.start, BigInteger) // _SECONDS * _SECONDS, Double).label("begins")
_LONGER = Prepared(  # the database adds up, so that few rows come back
    select(
        _STRETCH,
        history.c.arm,
        cast(func.sum(history.c.decisions), BigInteger),
        cast(func.sum(history.c.rewards), BigInteger),
        func.sum(history.c.total),
    )
    .where(history.c.campaign_id == bindparam("campaign"))
    .where(history.c.start >= bindparam("since"))
    .group_by(_STRETCH, history.c.arm)
    .order_by(_STRETCH, history.c.arm),
    ["campaign", "since", "stretch"],
)
_KEEP = Prepared(insert(snapshots), ["campaign_id", "seq", "state"])
_SNAPSHOT = Prepared(
    select(snapshots.c.seq, snapshots.c.state)
    .where(snapshots.c.campaign_id == bindparam("campaign"))
    .where(snapshots.c.seq <= bindparam("through"))
    .order_by(snapshots.c.seq.desc())
    .limit(1),
    ["campaign", "through"],
)
_ADD = Insert(history, added=("decisions", "rewards", "total"))


def add(link: Link, campaign: int, rows: Sequence[HistoryRow]) -> None:
    """Add what happened to the history."""
    values = [
        (campaign, row.start, row.column, row.decisions, row.rewards, row.total) for row in rows
    ]
    _ADD.run(link, sorted(values))


def rows(
    link: Link, campaign: int, since: float | None, stretch: float | None = None
) -> list[HistoryRow]:
    """The history, in order; with `stretch`, its rows added up to stretches as long."""
    start = -math.inf if since is None else since
    if stretch is None:
        found = _ROWS.rows(link, campaign, start)
    else:
        found = _LONGER.rows(link, campaign, start, stretch)
    return all_typed(HistoryRow, found)


def watch(link: Link, campaign: int) -> Record | None:
    """What is kept to watch the promises."""
    found = _WATCH.rows(link, campaign)
    return parsed(found[0][0]) if found else None


def keep_watch(link: Link, campaign: int, record: Record) -> None:
    """Keep it."""
    _KEEP_WATCH.run(link, [(campaign, json.dumps(record, allow_nan=False))])


def keep(link: Link, campaign: int, snapshot: Snapshot) -> None:
    """Keep a snapshot."""
    state = json.dumps(snapshot.state, allow_nan=False)
    _KEEP.run(link, campaign, snapshot.seq, state)


def snapshot(link: Link, campaign: int, through: int) -> Snapshot | None:
    """The last snapshot at a place or before it."""
    found = _SNAPSHOT.rows(link, campaign, through)
    return typed(Snapshot, (found[0][0], parsed(found[0][1]))) if found else None
