"""Looking at a store without changing it: nothing is created, written, upgraded or left beside it.

`SqlStore` would create what an empty store lacks, turn a file to WAL, and leave a lock beside it.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import sqlalchemy
from sqlalchemy import Connection, Engine
from sqlalchemy.engine import URL
from sqlalchemy.pool import NullPool

from driftanchor.live.stores.sql import sql_engine
from driftanchor.live.stores.sql.failures import translated


@contextlib.contextmanager
def looked_at(url: URL) -> Iterator[Connection]:
    """A connection to a store that can only read; an SQLite file must be there.

    Args:
        url: The address.

    Raises:
        StoreUnavailable: The store cannot be reached or read.
    """
    file = sql_engine.sqlite_file(url)
    engine: Engine
    if file is None:
        engine = sql_engine.create_engine(url).execution_options(postgresql_readonly=True)
    else:
        engine = sqlalchemy.create_engine(
            "sqlite://", creator=lambda: _reader(file), poolclass=NullPool
        )
    try:
        with translated(url), engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


def _reader(file: Path) -> sqlite3.Connection:
    """A connection to a file that leaves nothing beside it.

    While nobody has a store open it is one file, and a reader would make the two that belong to
    WAL, without being able to remove them. So the file is read as one that does not change.
    """
    is_used = file.with_name(f"{file.name}-wal").exists()
    how = "mode=ro" if is_used else "mode=ro&immutable=1"
    name = f"{file.absolute().as_uri()}?{how}"
    return sqlite3.connect(name, uri=True, timeout=sql_engine.BUSY)
