"""Statements that count decisions and rewards by cohort, the slot in which decisions were shown.

They count only new events, so that each event is counted once.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Double,
    and_,
    bindparam,
    cast,
    func,
    or_,
    select,
)

from driftanchor.live.stores.damage import all_typed, parsed
from driftanchor.live.stores.rows import CohortRow, UnclosedRow
from driftanchor.live.stores.sql.link import Link
from driftanchor.live.stores.sql.prepared import Prepared
from driftanchor.live.stores.sql.schema import decisions, events


def _slot(at: ColumnElement[Any], database: str) -> ColumnElement[Any]:
    """Return SQL for the slot number of a time; SQLite truncates, but PostgreSQL rounds."""
    slot = at / cast(bindparam("length"), Double)
    return cast(slot if database == "sqlite" else func.floor(slot), BigInteger)


def _shown(database: str) -> Prepared:
    """Prepare the query for new decisions that were shown."""
    slot = _slot(decisions.c.exposed_at, database).label("slot")
    return Prepared(
        select(decisions.c.arm, slot, func.count())
        .where(decisions.c.campaign_id == bindparam("campaign"))
        .where(decisions.c.number > bindparam("number"))
        .where(decisions.c.exposed_at.is_not(None))
        .group_by(decisions.c.arm, slot),
        ["length", "campaign", "number"],
    )


_OF_ONE = and_(
    decisions.c.campaign_id == events.c.campaign_id, decisions.c.number == events.c.decision
)


def _happened(database: str) -> Prepared:
    """Prepare the query for new exposures, expiries and rewards."""
    slot = _slot(decisions.c.exposed_at, database).label("slot")
    came = _slot(events.c.at, database).label("came")
    default = cast(bindparam("default"), Double)
    kind = events.c.kind
    return Prepared(
        select(
            kind,
            decisions.c.arm,
            slot,
            came,
            func.count(),
            func.coalesce(func.sum(events.c.value - default), 0.0),
        )
        .select_from(events.join(decisions, _OF_ONE))
        .where(events.c.campaign_id == bindparam("campaign"))
        .where(events.c.seq > bindparam("after"))
        .where(decisions.c.number > bindparam("old"))
        .where(
            or_(
                and_(kind == "rewarded", events.c.value != default),
                kind == "expired",
                and_(kind == "exposed", decisions.c.number <= bindparam("number")),
            )
        )
        .where(decisions.c.exposed_at.is_not(None))
        .group_by(kind, decisions.c.arm, slot, came),
        ["length", "default", "campaign", "after", "old", "number"],
    )


def _corrected(database: str) -> Prepared:
    """Prepare the query for corrected rewards."""
    slot = _slot(decisions.c.exposed_at, database)
    return Prepared(
        select(decisions.c.arm, slot, events.c.value, events.c.detail)
        .select_from(events.join(decisions, _OF_ONE))
        .where(events.c.campaign_id == bindparam("campaign"))
        .where(events.c.seq > bindparam("after"))
        .where(decisions.c.number > bindparam("old"))
        .where(events.c.kind == "corrected")
        .where(decisions.c.exposed_at.is_not(None)),
        ["length", "campaign", "after", "old"],
    )


_UNCLOSED = Prepared(
    select(
        decisions.c.arm,
        func.count(),
        func.count(decisions.c.reward),
        func.coalesce(func.sum(decisions.c.reward - cast(bindparam("default"), Double)), 0.0),
    )
    .where(decisions.c.campaign_id == bindparam("campaign"))
    .where(decisions.c.number <= bindparam("old"))
    .where(decisions.c.exposed_at.is_not(None))
    .where(decisions.c.state != "expired")
    .where(
        or_(
            decisions.c.due_at > bindparam("now"),
            and_(decisions.c.due_at.is_(None), decisions.c.state == "open"),
        )
    )
    .group_by(decisions.c.arm),
    ["default", "campaign", "old", "now"],
)
_SHOWN = {name: _shown(name) for name in ("sqlite", "postgresql")}
_HAPPENED = {name: _happened(name) for name in _SHOWN}
_CORRECTED = {name: _corrected(name) for name in _SHOWN}


def rows(
    link: Link, campaign: int, after: int, number: int, length: float, default: float, old: int
) -> list[CohortRow]:
    """Count new events by cohort; the arguments are those of `Reader.cohorts`."""
    name = link.database
    shown = _SHOWN[name].rows(link, length, campaign, number)
    happened = _HAPPENED[name].rows(link, length, default, campaign, after, old, number)
    corrected = [
        ("corrected", arm, slot, slot, 0, value - parsed(detail)["before"])
        for arm, slot, value, detail in _CORRECTED[name].rows(link, length, campaign, after, old)
    ]
    found = [*[("shown", arm, slot, slot, n, 0.0) for arm, slot, n in shown], *happened, *corrected]
    return all_typed(CohortRow, found)


def unclosed(link: Link, campaign: int, old: int, now: float, default: float) -> list[UnclosedRow]:
    """Count old decisions with an open window; the arguments are those of `Reader.unclosed`."""
    found = _UNCLOSED.rows(link, default, campaign, old, now)
    return all_typed(UnclosedRow, found)
