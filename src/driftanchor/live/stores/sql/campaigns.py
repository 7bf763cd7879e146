"""Statements about campaigns and their heads."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, bindparam, insert, select, update

from driftanchor.core import record
from driftanchor.live.stores.damage import damaged, typed
from driftanchor.live.stores.sql import arm_sums
from driftanchor.live.stores.sql.prepared import Prepared
from driftanchor.live.stores.sql.schema import campaigns, decisions, heads, traffic
from driftanchor.live.stores.store_rows import ArmRow, CampaignRow, Head

_FIELDS = [field.name for field in dataclasses.fields(Head)]
_HERE = select(*(heads.c[name] for name in _FIELDS)).where(
    heads.c.campaign_id == bindparam("campaign")
)
_HEAD = Prepared(_HERE, ["campaign"])
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
_BY_NAME = select(campaigns).where(campaigns.c.name == bindparam("name"))


def create(connection: Connection, row: CampaignRow, arms: Sequence[ArmRow]) -> int:
    """Keep a new campaign; its id."""
    values = {
        "name": row.name,
        "created_at": row.created_at,
        "terms": json.dumps(row.terms, allow_nan=False),
        "settings": json.dumps(row.settings, allow_nan=False),
    }
    made = connection.execute(insert(campaigns).values(values)).inserted_primary_key
    assert made is not None
    number = int(made[0])
    head = {"campaign_id": number, **dataclasses.asdict(Head())}
    connection.execute(insert(heads).values(head))
    connection.execute(insert(traffic).values(campaign_id=number, expected=b""))
    arm_sums.put(connection, number, arms)
    return number


def find(connection: Connection, name: str) -> CampaignRow | None:
    """The campaign of this name."""
    found = connection.execute(_BY_NAME, {"name": name}).one_or_none()
    return None if found is None else _row(found)


def names(connection: Connection) -> list[str]:
    """The names of all campaigns."""
    return sorted(connection.execute(select(campaigns.c.name)).scalars())


def all_heads(connection: Connection) -> dict[str, Head]:
    """Where each campaign is, by name."""
    columns = [heads.c[name] for name in _FIELDS]
    joined = select(campaigns.c.name, *columns).join(heads, heads.c.campaign_id == campaigns.c.id)
    return {name: _head(row) for name, *row in connection.execute(joined).all()}


def owner(connection: Connection, decision_id: str) -> str | None:
    """The name of the campaign of a decision."""
    joined = select(campaigns.c.name).join(decisions, decisions.c.campaign_id == campaigns.c.id)
    return connection.execute(joined.where(decisions.c.id == decision_id)).scalar_one_or_none()


def head(connection: Connection, campaign: int, *, lock: bool = False) -> Head | None:
    """Where a campaign is; with `lock`, nobody else writes to it until the transaction ends."""
    found = (_LOCK if lock else _HEAD).rows(connection, campaign)
    return _head(found[0]) if found else None


def _head(row: Sequence[Any]) -> Head:
    head = typed(Head, row)
    head.paused = bool(head.paused)  # SQLite has numbers only
    return head


def move(connection: Connection, campaign: int, head: Head) -> None:
    """Keep where a campaign is."""
    _MOVE.run(connection, *(getattr(head, name) for name in _FIELDS), campaign)


def expected(connection: Connection, campaign: int) -> bytes:
    """The sums of propensities."""
    found = _EXPECTED.rows(connection, campaign)
    if not found or not isinstance(found[0][0], bytes):
        raise damaged("the sums of propensities are missing")
    return found[0][0]


def expect(connection: Connection, campaign: int, sums: bytes) -> None:
    """Keep the sums of propensities."""
    _EXPECT.run(connection, sums, campaign)


def _row(found: Row[*tuple[Any, ...]]) -> CampaignRow:
    number, name, created_at, terms, settings = found
    return typed(CampaignRow, (number, name, created_at, _parsed(terms), _parsed(settings)))


def _parsed(text: object) -> record.Record:
    parsed = record.parse(text) if isinstance(text, str) else None
    return parsed if isinstance(parsed, dict) else {}
