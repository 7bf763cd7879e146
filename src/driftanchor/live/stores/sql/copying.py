"""Copying a store: for backups, and to move from SQLite to PostgreSQL or back."""

from __future__ import annotations

import contextlib
import os
from itertools import islice
from pathlib import Path

from sqlalchemy import Connection, func, insert, select, text

from driftanchor.errors import Conflict
from driftanchor.files import write_whole
from driftanchor.live.stores.sql.schema import campaigns, metadata, version
from driftanchor.live.stores.sql.sql_store import SqlStore, open_sql

AT_ONCE = 1_000  # rows that are copied together


def copy(source: SqlStore, target: SqlStore) -> int:
    """Copy all campaigns and keys of one moment into an empty store; how many campaigns there are.

    Whoever writes to the source goes on meanwhile.
    """
    if target.names() or target.keys():
        raise Conflict("the store to copy to has campaigns or keys already: copy to an empty one")
    with source.at_one_moment() as here:
        target.in_one_transaction(lambda there: _copy_tables(here, there))
    return len(target.names())


def backup(source: SqlStore, path: str | os.PathLike[str]) -> int:
    """Write everything to a new SQLite file, whole or not at all; how many campaigns there are."""
    with write_whole(path) as scratch:
        try:
            with contextlib.closing(open_sql(f"sqlite:///{scratch}")) as target:
                copied = copy(source, target)
                target.fold_in()
        finally:
            for ending in ("-wal", "-shm", "-lock"):
                Path(f"{scratch}{ending}").unlink(missing_ok=True)
    return copied


def _copy_tables(here: Connection, there: Connection) -> None:
    for table in metadata.sorted_tables:
        if table is version:
            continue
        rows = here.execution_options(yield_per=AT_ONCE).execute(select(table)).mappings()
        left = iter(rows)
        while some := [dict(row) for row in islice(left, AT_ONCE)]:
            there.execute(insert(table), some)
    if there.dialect.name == "postgresql":  # the ids were given: count on from them
        last = there.execute(select(func.max(campaigns.c.id))).scalar()
        if last is not None:
            there.execute(
                text("SELECT setval(pg_get_serial_sequence('campaigns', 'id'), :last)"),
                {"last": last},
            )
