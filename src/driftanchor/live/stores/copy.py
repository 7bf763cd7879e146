"""Copy a store: for backups, and to move from SQLite to PostgreSQL or back."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path

from driftanchor.errors import Conflict
from driftanchor.files import write_whole
from driftanchor.live.stores.statements import COLUMNS, Session
from driftanchor.live.stores.store import Store, open_store


def copy(source: Store, target: Store) -> int:
    """Copy all campaigns and keys to an empty store; return the number of campaigns.

    The copy is a consistent snapshot, and others may write to the source meanwhile.
    """
    if target.names() or target.keys():
        raise Conflict("the store to copy to has campaigns or keys already: copy to an empty one")
    with source.session() as old:
        if old.dialect == "postgres":
            old.run("SET LOCAL statement_timeout = 0")
        target.write(lambda new: _copy_tables(old, new), deadline=False)
    return len(target.names())


def backup(source: Store, path: str | os.PathLike[str]) -> int:
    """Copy everything to a new SQLite file, whole or not at all; return the number of campaigns."""
    with write_whole(path) as scratch:
        try:
            with contextlib.closing(open_store(f"sqlite:///{scratch}")) as target:
                copied = copy(source, target)
            with contextlib.closing(sqlite3.connect(scratch)) as connection:
                connection.execute("PRAGMA journal_mode=DELETE")  # one file, without a log
        finally:
            for ending in ("-wal", "-shm", "-lock"):
                Path(f"{scratch}{ending}").unlink(missing_ok=True)
    return copied


def _copy_tables(old: Session, new: Session) -> None:
    for table, columns in COLUMNS.items():
        for rows in old.batches(f"SELECT {', '.join(columns)} FROM {table}"):
            new.insert(table, rows)
            new.flush()
    if new.dialect == "postgres":  # new ids continue after those that were copied
        new.run(
            "SELECT setval(pg_get_serial_sequence('campaigns', 'id'), max(id)) FROM campaigns "
            "HAVING max(id) IS NOT NULL"
        )
