"""Statements about campaigns and their heads."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from sqlalchemy import bindparam, insert, select, update

from driftanchor.core import record
from driftanchor.live.stores.damage import damaged, typed
from driftanchor.live.stores.rows import ArmRow, CampaignRow, Counters
from driftanchor.live.stores.sql import arm_sums
from driftanchor.live.stores.sql.link import Link
from driftanchor.live.stores.sql.prepared import Prepared
from driftanchor.live.stores.sql.schema import campaigns, decisions, heads, traffic

_FIELDS = [field.name for field in dataclasses.fields(Counters)]
_VALUES = attrgetter(*_FIELDS)
_HERE = select(*(heads.c[name] for name in _FIELDS)).where(
    heads.c.campaign_id == bindparam("campaign")
)
_COUNTERS = Prepared(_HERE, ["campaign"])
_LOCK = Prepared(_HERE.with_for_update(), ["campaign"])
_MOVE = Prepared(
    update(heads)
    .where(heads.c.campaign_id == bindparam("campaign"))
    .values({name: bindparam(name) for name in _FIELDS}),
    [*_FIELDS, "campaign"],
)
_EXPECTED = Prepared(
    select(traffic.c.expected).where(traffic.c.campaign_id == bindparam("campaign")), ["campaign"]
)
_EXPECT = Prepared(
    update(traffic)
    .where(traffic.c.campaign_id == bindparam("campaign"))
    .values(expected=bindparam("sums")),
    ["sums", "campaign"],
)
_BY_NAME = Prepared(select(campaigns).where(campaigns.c.name == bindparam("name")), ["name"])
_NAMES = Prepared(select(campaigns.c.name), [])
_ALL_COUNTERS = Prepared(
    select(campaigns.c.name, *(heads.c[name] for name in _FIELDS)).join(
        heads, heads.c.campaign_id == campaigns.c.id
    ),
    [],
)
_OWNER = Prepared(
    select(campaigns.c.name)
    .join(decisions, decisions.c.campaign_id == campaigns.c.id)
    .where(decisions.c.id == bindparam("decision")),
    ["decision"],
)
_ADD = Prepared(insert(campaigns), ["name", "created_at", "terms", "settings"])
_ADD_COUNTERS = Prepared(insert(heads), ["campaign_id", *_FIELDS])
_ADD_TRAFFIC = Prepared(insert(traffic), ["campaign_id", "expected"])


def create(link: Link, row: CampaignRow, arms: Sequence[ArmRow]) -> CampaignRow:
    """Keep a new campaign; as it is kept, with its id."""
    terms, settings = (json.dumps(x, allow_nan=False) for x in (row.terms, row.settings))
    _ADD.run(link, row.name, row.created_at, terms, settings)
    kept = find(link, row.name)
    assert kept is not None
    _ADD_COUNTERS.run(link, kept.id, *_VALUES(Counters()))
    _ADD_TRAFFIC.run(link, kept.id, b"")
    arm_sums.put(link, kept.id, arms)
    return kept


def find(link: Link, name: str) -> CampaignRow | None:
    """The campaign of this name."""
    found = _BY_NAME.rows(link, name)
    return _row(found[0]) if found else None


def names(link: Link) -> list[str]:
    """The names of all campaigns."""
    return sorted(name for (name,) in _NAMES.rows(link))


def all_counters(link: Link) -> dict[str, Counters]:
    """Where each campaign is, by name."""
    return {name: _head(row) for name, *row in _ALL_COUNTERS.rows(link)}


def owner(link: Link, decision_id: str) -> str | None:
    """The name of the campaign of a decision."""
    found = _OWNER.rows(link, decision_id)
    return found[0][0] if found else None


def head(link: Link, campaign: int, *, lock: bool = False) -> Counters | None:
    """Where a campaign is; with `lock`, nobody else writes to it until the transaction ends."""
    found = (_LOCK if lock else _COUNTERS).rows(link, campaign)
    return _head(found[0]) if found else None


def _head(row: Sequence[Any]) -> Counters:
    head = typed(Counters, row)
    head.paused = bool(head.paused)  # SQLite has numbers only
    return head


def move(link: Link, campaign: int, head: Counters) -> None:
    """Keep where a campaign is."""
    _MOVE.run(link, *_VALUES(head), campaign)


def expected(link: Link, campaign: int) -> bytes:
    """The sums of propensities."""
    found = _EXPECTED.rows(link, campaign)
    if not found or not isinstance(found[0][0], bytes):
        raise damaged("the sums of propensities are missing")
    return found[0][0]


def expect(link: Link, campaign: int, sums: bytes) -> None:
    """Keep the sums of propensities."""
    _EXPECT.run(link, sums, campaign)


def _row(found: tuple[Any, ...]) -> CampaignRow:
    number, name, created_at, terms, settings = found
    return typed(CampaignRow, (number, name, created_at, _parsed(terms), _parsed(settings)))


def _parsed(text: object) -> record.Record:
    parsed = record.parse(text) if isinstance(text, str) else None
    return parsed if isinstance(parsed, dict) else {}
