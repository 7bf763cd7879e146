"""Looking after a store: upgrade it, and look for damage in its file."""

from __future__ import annotations

import contextlib
import sqlite3

from driftanchor.live.stores.sql import sql_engine
from driftanchor.live.stores.sql.failures import translated
from driftanchor.live.stores.sql.sql_store import SqlStore

MOST_NAMED = 5  # kinds of damage


def upgrade(address: str) -> tuple[str | None, str]:
    """Bring the tables of a store up to date; the versions before and after."""
    store = SqlStore(sql_engine.address(address))
    try:
        return store.upgrade()
    finally:
        store.close()


def damage(address: str) -> list[str]:
    """What SQLite finds wrong with the file of a store; nothing for PostgreSQL, which looks itself.

    Others may use the store meanwhile.
    """
    url = sql_engine.address(address)
    file = sql_engine.sqlite_file(url)
    if file is None:
        return []
    name = f"{file.absolute().as_uri()}?mode=rw"  # it must be there
    with translated(url), contextlib.closing(sqlite3.connect(name, uri=True)) as connection:
        try:
            found = [row[0] for row in connection.execute(f"PRAGMA integrity_check({MOST_NAMED})")]
        except sqlite3.DatabaseError as error:
            found = [str(error)]
    return [] if found == ["ok"] else [f"the file is damaged: {line}" for line in found]
