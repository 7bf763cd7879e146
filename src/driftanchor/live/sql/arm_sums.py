"""Statements about the sums of arms."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, select

from driftanchor.live.sql.schema import arms
from driftanchor.live.sql.upserts import Upsert
from driftanchor.live.store_rows import ArmRow

_FIXED = ("campaign_id", "arm", "label", "added_seq", "added")
_PUT = Upsert(arms, replaced=tuple(x.name for x in arms.columns if x.name not in _FIXED))
_ALL = select(arms).where(arms.c.campaign_id == bindparam("campaign")).order_by(arms.c.arm)


def put(connection: Connection, campaign: int, rows: Sequence[ArmRow]) -> None:
    """Keep arms, new ones and changed ones."""
    _PUT.run(connection, [_values(campaign, row) for row in rows])


def _values(campaign: int, row: ArmRow) -> dict[str, Any]:
    return {
        "campaign_id": campaign,
        "arm": row.column,
        "label": row.label,
        "state": row.state,
        "decisions": row.decisions,
        "pulls": row.pulls,
        "total": row.total,
        "squares": row.squares,
        "pending": row.pending,
        "memory": json.dumps(row.memory, allow_nan=False),
        "added_seq": row.added_seq,
        "added": None if row.added is None else json.dumps(row.added, allow_nan=False),
        "distrusted_seq": row.distrusted_seq,
    }


def all_rows(connection: Connection, campaign: int) -> list[ArmRow]:
    """All arms of a campaign, by column."""
    rows = []
    for found in connection.execute(_ALL, {"campaign": campaign}):
        values = found._asdict()
        del values["campaign_id"]
        values["column"] = values.pop("arm")
        values["memory"] = json.loads(values["memory"])
        if values["added"] is not None:
            values["added"] = json.loads(values["added"])
        rows.append(ArmRow(**values))
    return rows
