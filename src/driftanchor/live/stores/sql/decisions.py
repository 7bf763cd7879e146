"""Statements about decisions and the keys of requests."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any

from sqlalchemy import (
    BindParameter,
    Select,
    String,
    bindparam,
    delete,
    func,
    select,
    text,
    true,
    update,
)
from sqlalchemy.dialects import postgresql

from driftanchor.errors import shown
from driftanchor.live.stores.damage import all_typed, damaged, parsed
from driftanchor.live.stores.rows import DecisionRow, KeyedRequest
from driftanchor.live.stores.sql.link import Link
from driftanchor.live.stores.sql.prepared import Insert, Prepared, PreparedList
from driftanchor.live.stores.sql.schema import decisions, request_keys

PAGE = 5_000  # rows that are fetched together
FORGOTTEN = 5_000  # expired request keys to remove at once

_FIELDS = [column for column in decisions.columns if column.name != "campaign_id"]
_NUMBER = [column.name for column in _FIELDS].index("number")
_ROW = attrgetter(*DecisionRow.__slots__)  # in the order of the columns
_CHANGING = ("holds", "state", "exposed_at", "due_at", "settled_at", "reward", "reported")
_ADD = Insert(decisions)
_CHANGE = Prepared(
    update(decisions)
    .where(decisions.c.id == bindparam("which"))
    .values({name: bindparam(name) for name in _CHANGING}),
    [*_CHANGING, "which"],
)
_ALL = select(*_FIELDS).where(decisions.c.campaign_id == bindparam("campaign"))
# For a list of a few values SQLite would rather read all decisions of the campaign. The plus hides
# the campaign from it, and for units a hint leaves it one index.
_BY_ID = PreparedList(
    lambda ids: (
        select(*_FIELDS)
        .where(text("+decisions.campaign_id = :campaign"))
        .where(decisions.c.id.in_(ids))
    ),
    "campaign",
)


def _held(units: list[BindParameter[Any]]) -> Select[*tuple[Any, ...]]:
    """The decisions that units hold, in SQLite."""
    return (
        _ALL.with_hint(decisions, "INDEXED BY decisions_holds", "sqlite")
        .where(decisions.c.epoch == bindparam("epoch"))
        .where(decisions.c.holds.in_(units))
    )


def _held_one_by_one(units: list[BindParameter[Any]]) -> Select[*tuple[Any, ...]]:
    """The same in PostgreSQL, which is told to look for each unit by itself.

    It knows a campaign that grows only as it was a minute ago. For a list of units it may then read
    all that the campaign holds. One unit alone needs no list, which takes longer to plan.
    """
    of_epoch = _ALL.where(decisions.c.epoch == bindparam("epoch"))
    if len(units) == 1:
        return of_epoch.where(decisions.c.holds == units[0])
    asked = select(func.unnest(postgresql.array[Any](units, type_=String)).label("unit")).distinct()
    unit = asked.subquery("asked")
    one = of_epoch.where(decisions.c.holds == unit.c.unit).limit(1).lateral("held")
    return select(*one.c).select_from(unit.join(one, true()))


_HOLDING = {
    "sqlite": PreparedList(_held, "campaign", "epoch"),
    "postgresql": PreparedList(_held_one_by_one, "campaign", "epoch"),
}
_DUE = Prepared(  # written as the index has it, which is used then
    _ALL.where(text("state = 'open' AND due_at IS NOT NULL"))
    .where(decisions.c.due_at <= bindparam("now"))
    .order_by(decisions.c.due_at)
    .limit(bindparam("most")),
    ["campaign", "now", "most"],
)
_REWARDS = Prepared(
    select(decisions.c.number, decisions.c.reward)
    .where(decisions.c.campaign_id == bindparam("campaign"))
    .where(decisions.c.arm == bindparam("arm"))
    .where(decisions.c.reward.is_not(None)),
    ["campaign", "arm"],
)
_PAGE = Prepared(
    _ALL.where(decisions.c.number > bindparam("after"))
    .order_by(decisions.c.number)
    .limit(bindparam("most")),
    ["campaign", "after", "most"],
)
_OF_UNIT = Prepared(
    _ALL.where(decisions.c.number > bindparam("after"))
    .where(decisions.c.number <= bindparam("through"))
    .where(decisions.c.unit == bindparam("unit"))
    .order_by(decisions.c.number),
    ["campaign", "after", "through", "unit"],
)
_ADD_KEYS = Insert(request_keys, replaced=("decisions", "at", "digest"))  # an expired one
_OF_KEY = [request_keys.c[name] for name in ("key", "decisions", "digest", "at")]
_KEYED = PreparedList(
    lambda keys: (
        select(*_OF_KEY)
        .where(request_keys.c.campaign_id == bindparam("campaign"))
        .where(request_keys.c.key.in_(keys))
    ),
    "campaign",
)
_EXPIRED = (
    select(request_keys.c.key)
    .where(request_keys.c.campaign_id == bindparam("campaign"))
    .where(request_keys.c.at <= bindparam("before"))
    .order_by(request_keys.c.at)
    .limit(bindparam("most"))
)
_FORGET_KEYS = Prepared(
    delete(request_keys)
    .where(request_keys.c.campaign_id == bindparam("of_campaign"))
    .where(request_keys.c.key.in_(_EXPIRED)),
    ["of_campaign", "campaign", "before", "most"],
)
_KEYS = Prepared(
    select(*_OF_KEY)
    .where(request_keys.c.campaign_id == bindparam("campaign"))
    .where(request_keys.c.key > bindparam("after"))
    .order_by(request_keys.c.key)
    .limit(bindparam("most")),
    ["campaign", "after", "most"],
)


def add(link: Link, campaign: int, rows: Sequence[DecisionRow]) -> None:
    """Keep new decisions."""
    _ADD.run(link, [_values(campaign, row) for row in rows])


def change(link: Link, rows: Sequence[DecisionRow]) -> None:
    """Keep what became of earlier decisions."""
    values = [
        (x.holds, x.state, x.exposed_at, x.due_at, x.settled_at, x.reward, x.reported, x.id)
        for x in rows
    ]  # in the order of `_CHANGING`
    _CHANGE.run_for(link, values)


def _values(campaign: int, row: DecisionRow) -> list[Any]:
    first, *rest = _ROW(row)
    return [first, campaign, *rest]


def by_id(link: Link, campaign: int, ids: Sequence[str]) -> list[DecisionRow]:
    """Decisions by their ids; what cannot be one is not asked for, as no driver takes any text."""
    known = [x for x in ids if x.isascii() and x.isprintable()]
    return all_typed(DecisionRow, _BY_ID.rows(link, known, campaign))


def holding(link: Link, campaign: int, units: Sequence[str], epoch: int) -> list[DecisionRow]:
    """The decisions that units hold."""
    return all_typed(DecisionRow, _HOLDING[link.database].rows(link, units, campaign, epoch))


def of_unit(link: Link, campaign: int, unit: str, after: int, through: int) -> list[DecisionRow]:
    """The decisions of a unit, of a range of numbers: only these are looked at."""
    found = _OF_UNIT.rows(link, campaign, after, through, unit)
    return all_typed(DecisionRow, found)


def due(link: Link, campaign: int, now: float, most: int) -> list[DecisionRow]:
    """Decisions that wait although their window has ended."""
    return all_typed(DecisionRow, _DUE.rows(link, campaign, now, most))


def rewards(link: Link, campaign: int, column: int) -> dict[int, float]:
    """All rewards of an arm that count, by the number of their decisions."""
    return {int(number): float(paid) for number, paid in _REWARDS.rows(link, campaign, column)}


def all_rows(link: Link, campaign: int, number: int = 0, page: int = PAGE) -> Iterator[DecisionRow]:
    """Yield decisions after a number, fetched in pages to limit memory."""
    while True:
        found = _PAGE.rows(link, campaign, number, page)
        yield from all_typed(DecisionRow, found)
        if len(found) < page:
            return
        number = found[-1][_NUMBER]


def keyed(link: Link, campaign: int, keys: Sequence[str], since: float) -> dict[str, KeyedRequest]:
    """Return requests since a time, by key."""
    # Times are compared here, because the database might search by time instead of by key.
    found = _KEYED.rows(link, keys, campaign)
    return {key: KeyedRequest(_ids(ids), digest) for key, ids, digest, at in found if at > since}


def all_keyed(link: Link, campaign: int) -> Iterator[tuple[str, KeyedRequest, float]]:
    """Yield every request key with its request and time."""
    key = ""
    while True:
        found = _KEYS.rows(link, campaign, key, PAGE)
        yield from ((key, KeyedRequest(_ids(ids), digest), at) for key, ids, digest, at in found)
        if len(found) < PAGE:
            return
        key = found[-1][0]


def _ids(text: Any) -> list[str]:
    ids = parsed(text)
    if not isinstance(ids, list) or not all(isinstance(x, str) for x in ids):
        raise damaged(f"the decisions of a key are {shown(ids)}")
    return ids


def add_keys(link: Link, campaign: int, keys: dict[str, KeyedRequest], at: float) -> None:
    """Insert request keys."""
    rows = [(campaign, key, json.dumps(x.ids), at, x.digest) for key, x in keys.items()]
    _ADD_KEYS.run(link, rows)


def forget_keys(link: Link, campaign: int, before: float) -> None:
    """Delete request keys up to a time, oldest first."""
    _FORGET_KEYS.run(link, campaign, campaign, before, FORGOTTEN)
