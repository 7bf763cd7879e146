"""SQL that SQLite and PostgreSQL share: the columns, how to insert rows, and how to run statements.

Statements are written once, with `?` for parameters. `for_sqlite` and `for_postgres` adapt the few
words that differ.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

COLUMNS = {  # of each table, in the order of the rows that `Session.insert` takes; parents first
    name: tuple(columns.split())
    for name, columns in {
        "campaigns": "id name created_at terms settings",
        "heads": "campaign_id seq decisions epoch paused snapshot late checksum",
        "events": "campaign_id seq kind at decision arm value detail",
        "arms": "campaign_id arm label state decisions pulls total squares pending memory "
        "added_seq added distrusted_seq",
        "traffic": "campaign_id expected",
        "watches": "campaign_id record",
        "decisions": "id campaign_id number seq arm unit holds epoch propensity state asked_at "
        "exposed_at due_at settled_at reward reported",
        "history": "campaign_id start arm decisions rewards total",
        "snapshots": "campaign_id seq state",
        "request_keys": "campaign_id key decisions at digest",
        "api_keys": "id sha256 roles created_at expires_at revoked_at note campaign",
    }.items()
}
_REPLACED = {  # columns that a new row replaces if its key is stored already
    "arms": ("campaign_id, arm", (*COLUMNS["arms"][3:10], "distrusted_seq")),
    "watches": ("campaign_id", ("record",)),
    "request_keys": ("campaign_id, key", ("decisions", "at", "digest")),  # an expired key
}
UPSERT = {
    table: f"ON CONFLICT ({key}) DO UPDATE SET {', '.join(f'{x} = excluded.{x}' for x in columns)}"
    for table, (key, columns) in _REPLACED.items()
}
UPSERT["history"] = "ON CONFLICT (campaign_id, start, arm) DO UPDATE SET " + ", ".join(
    f"{x} = history.{x} + excluded.{x}" for x in ("decisions", "rewards", "total")
)


class Session(Protocol):
    """One transaction. Its statements may be delayed until the next query or the commit."""

    dialect: str  # "sqlite" or "postgres"

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a query and fetch all rows."""

    def lookup(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Like `rows`, for a few rows of a growing table: the query is planned anew each time."""

    def batches(self, sql: str) -> Iterator[list[tuple[Any, ...]]]:
        """Run a query and yield its rows in batches, in little memory."""

    def run(self, sql: str, values: Sequence[Any] = ()) -> None:
        """Run a statement."""

    def run_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """Run a statement for each row of parameters."""

    def insert(self, table: str, rows: Sequence[Sequence[Any]]) -> None:
        """Insert rows with the columns of `COLUMNS`, or update as `UPSERT` says."""

    def flush(self) -> None:
        """Run all delayed statements."""

    def listed(self, values: Sequence[str]) -> Any:
        """Return the parameter for `= ANY(?)`."""


@functools.cache
def for_sqlite(sql: str) -> str:
    """Adapt a statement to SQLite.

    Example:
        >>> for_sqlite("SELECT CAST(FLOOR(at) AS BIGINT) FROM t WHERE id = ANY(?) FOR UPDATE")
        'SELECT CAST((at) AS BIGINT) FROM t WHERE id IN (SELECT value FROM json_each(?))'
    """
    return (
        sql.replace("= ANY(?)", "IN (SELECT value FROM json_each(?))")
        .replace("FLOOR(", "(")  # casts truncate, and times are positive
        .replace(" FOR UPDATE", "")
    )


@functools.cache
def for_postgres(sql: str) -> bytes:
    """Adapt a statement to psycopg.

    Example:
        >>> for_postgres("SELECT seq FROM events INDEXED BY events_changes WHERE seq > ?")
        b'SELECT seq FROM events WHERE seq > %s'
    """
    return re.sub(r" INDEXED BY \w+", "", sql).replace("?", "%s").encode()
