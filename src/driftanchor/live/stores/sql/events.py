"""Statements about events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import bindparam, func, select, text

from driftanchor.live.stores.damage import parsed, typed
from driftanchor.live.stores.journal import Entry, detail_text
from driftanchor.live.stores.sql.link import Link
from driftanchor.live.stores.sql.prepared import Insert, Prepared
from driftanchor.live.stores.sql.schema import IS_CHANGE, IS_MATURED, events

AT_ONCE = 5_000  # rows that are fetched together

_ADD = Insert(events)
_AFTER = Prepared(
    select(*(column for column in events.columns if column.name != "campaign_id"))
    .where(events.c.campaign_id == bindparam("campaign"))
    .where(events.c.seq > bindparam("after"))
    .order_by(events.c.seq)
    .limit(bindparam("most")),
    ["campaign", "after", "most"],
)
_CHANGES = Prepared(  # written as the index has it, which is used then
    select(*(column for column in events.columns if column.name != "campaign_id"))
    .with_hint(events, "INDEXED BY events_changes", "sqlite")  # it would read all events
    .where(text(IS_CHANGE))
    .where(events.c.campaign_id == bindparam("campaign"))
    .where(events.c.seq > bindparam("after"))
    .order_by(events.c.seq),
    ["campaign", "after"],
)
_IS_ESTIMATE = (
    select(*(column for column in events.columns if column.name != "campaign_id"))
    .where(text(IS_MATURED))
    .where(events.c.campaign_id == bindparam("campaign"))
    .limit(1)
)
_LAST_ESTIMATE = Prepared(
    _IS_ESTIMATE.with_hint(events, "INDEXED BY events_matured", "sqlite").order_by(
        events.c.seq.desc()
    ),
    ["campaign"],
)
_ESTIMATE_BEFORE = Prepared(
    _IS_ESTIMATE.with_hint(events, "INDEXED BY events_matured_at", "sqlite")
    .where(events.c.at < bindparam("before"))
    .order_by(events.c.at.desc()),
    ["campaign", "before"],
)


_CORRECTIONS = Prepared(
    select(*(column for column in events.columns if column.name != "campaign_id"))
    .where(events.c.campaign_id == bindparam("campaign"))
    .where(events.c.seq > bindparam("after"))
    .where(events.c.seq <= bindparam("through"))
    .where(text("kind IN ('corrected', 'added')"))
    .order_by(events.c.seq),
    ["campaign", "after", "through"],
)
_REPORTED = Prepared(
    select(events.c.kind, func.count())
    .where(events.c.campaign_id == bindparam("campaign"))
    .where(events.c.seq > bindparam("after"))
    .where(events.c.decision > bindparam("number"))
    .where(text("kind IN ('rewarded', 'late')"))
    .group_by(events.c.kind),
    ["campaign", "after", "number"],
)


def add(link: Link, campaign: int, entries: Sequence[Entry]) -> None:
    """Keep new events."""
    rows = [
        (campaign, *entry)
        if entry.detail is None
        else (campaign, *entry[:-1], detail_text(entry.detail))
        for entry in entries
    ]
    _ADD.run(link, rows)


def after(link: Link, campaign: int, seq: int, through: int | None = None) -> Iterator[Entry]:
    """The events after a place, in order; some at a time, so that they need not fit the memory."""
    while through is None or seq < through:
        most = AT_ONCE if through is None else min(AT_ONCE, through - seq)
        found = _AFTER.rows(link, campaign, seq, most)
        for row in found:
            seq = row[0]
            yield _entry(row)
        if len(found) < most:
            return


def changes(link: Link, campaign: int, after: int) -> list[Entry]:
    """The events after a place that change the campaign, in order."""
    return [_entry(row) for row in _CHANGES.rows(link, campaign, after)]


def corrections(link: Link, campaign: int, after: int, through: int) -> list[Entry]:
    """Return the events in a range that change a reward."""
    return [_entry(row) for row in _CORRECTIONS.rows(link, campaign, after, through)]


def reported(link: Link, campaign: int, after: int, decision: int) -> dict[str, int]:
    """Count the rewards reported in time and late, for decisions after a number."""
    return dict(_REPORTED.rows(link, campaign, after, decision))


def matured(link: Link, campaign: int, before: float | None) -> Entry | None:
    """Return the last estimate of live rewards, or the last before a time."""
    if before is None:
        found = _LAST_ESTIMATE.rows(link, campaign)
    else:
        found = _ESTIMATE_BEFORE.rows(link, campaign, before)
    return _entry(found[0]) if found else None


def _entry(row: Sequence[Any]) -> Entry:
    *rest, detail = row
    return typed(Entry, (*rest, None if detail is None else parsed(detail)))
