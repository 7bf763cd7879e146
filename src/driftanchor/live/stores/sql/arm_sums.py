"""Statements about the sums of arms."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, select

from driftanchor.live.stores.damage import parsed, typed
from driftanchor.live.stores.rows import ArmRow
from driftanchor.live.stores.sql.link import Link
from driftanchor.live.stores.sql.prepared import Insert, Prepared
from driftanchor.live.stores.sql.schema import arms

_FIXED = ("campaign_id", "arm", "label", "added_seq", "added")
_PUT = Insert(arms, replaced=tuple(x.name for x in arms.columns if x.name not in _FIXED))
_ALL = Prepared(
    select(arms).where(arms.c.campaign_id == bindparam("campaign")).order_by(arms.c.arm),
    ["campaign"],
)


def put(link: Link, campaign: int, rows: Sequence[ArmRow]) -> None:
    """Keep arms, new ones and changed ones."""
    _PUT.run(link, [_values(campaign, row) for row in rows])


def _values(campaign: int, row: ArmRow) -> tuple[Any, ...]:
    return (
        campaign,
        row.column,
        row.label,
        row.state,
        row.decisions,
        row.pulls,
        row.total,
        row.squares,
        row.pending,
        json.dumps(row.memory, allow_nan=False) if row.memory else "[]",
        row.added_seq,
        None if row.added is None else json.dumps(row.added, allow_nan=False),
        row.distrusted_seq,
    )


def all_rows(link: Link, campaign: int) -> list[ArmRow]:
    """All arms of a campaign, by column."""
    rows = []
    for _, *found in _ALL.rows(link, campaign):
        values = dict(zip(ArmRow.__slots__, found, strict=True))
        values["memory"] = parsed(values["memory"])
        if values["added"] is not None:
            values["added"] = parsed(values["added"])
        rows.append(typed(ArmRow, list(values.values())))
    return rows
