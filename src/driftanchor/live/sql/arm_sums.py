"""Statements about the sums of arms."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, select
from sqlalchemy.dialects import postgresql, sqlite

from driftanchor.live.sql.schema import arms
from driftanchor.live.store_rows import ArmRow

_CHANGING = [
    column.name
    for column in arms.columns
    if column.name not in ("campaign_id", "arm", "label", "added_seq", "added")
]


def upsert(connection: Connection, table: Any) -> Any:
    """An `INSERT … ON CONFLICT` in the dialect of the connection."""
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    return dialect.insert(table)


def put(connection: Connection, campaign: int, rows: Sequence[ArmRow]) -> None:
    """Keep arms, new ones and changed ones."""
    if not rows:
        return
    statement = upsert(connection, arms)
    statement = statement.on_conflict_do_update(
        index_elements=["campaign_id", "arm"],
        set_={name: statement.excluded[name] for name in _CHANGING},
    )
    connection.execute(statement, [_values(campaign, row) for row in rows])


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
    wanted = select(arms).where(arms.c.campaign_id == campaign).order_by(arms.c.arm)
    rows = []
    for found in connection.execute(wanted):
        values = found._asdict()
        del values["campaign_id"]
        values["column"] = values.pop("arm")
        values["memory"] = json.loads(values["memory"])
        if values["added"] is not None:
            values["added"] = json.loads(values["added"])
        rows.append(ArmRow(**values))
    return rows
