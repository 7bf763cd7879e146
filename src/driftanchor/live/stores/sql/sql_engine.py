"""Engines: open SQLite and PostgreSQL, and set up every connection."""

from __future__ import annotations

import contextlib
import functools
import logging
import re
import sqlite3
from pathlib import Path
from typing import Any

import sqlalchemy
from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from driftanchor.errors import InvalidInput, require
from driftanchor.live.stores.sql.watchdog import watchdog

REACH = 3  # seconds to wait for a connection to a server
ANSWER = 8.0  # seconds: the timeout of each PostgreSQL round trip
SHARES = {  # times the deadline, after which PostgreSQL itself gives up
    "statement_timeout": 7 / 8,
    "lock_timeout": 5 / 8,
    "idle_in_transaction_session_timeout": 8,  # frees the locks of a hanging process
}
BUSY = 10.0  # seconds to wait for programs that write to the file without our lock
LONGEST_PART = 240  # bytes of a name, as systems take 255 and files beside it have longer names
LONGEST_NAME = 3_000  # bytes of a path
SCHEME = re.compile(r"[A-Za-z][\w+.-]+:")  # one letter would be a drive, as in C:\bandit.db
_unheard = logging.NullHandler()
WRITING = "driftanchor_writing"  # the option of a connection that is going to write


def address(url: str) -> URL:
    """The address of a store, with the driver that we use; a name alone is that of an SQLite file.

    Example:
        >>> address("bandit.db") == address("sqlite:///bandit.db")
        True
    """
    if not SCHEME.match(url):
        file = URL.create("sqlite", database=url)
        _check_file(file, has_settings=False)
        return file
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:
        raise _unusable(url) from error
    if parsed.drivername == "sqlite":
        _check_file(parsed, has_settings="?" in url)
        return parsed
    if parsed.drivername in ("postgresql", "postgres", "postgresql+psycopg"):
        require("psycopg", extra="postgres", why="a PostgreSQL store")
        return parsed.set(drivername="postgresql+psycopg")
    raise _unusable(url)


def _check_file(url: URL, *, has_settings: bool) -> None:
    """Refuse an SQLite address that is more than the name of a file; messages hide the rest."""
    name = url.database or ""
    path = name.encode("utf-8", "surrogatepass")
    longest = max(len(part) for part in path.split(b"/"))
    if url.host or url.username or url.password or has_settings:
        problem = "no host, user or '?' with settings"
    elif name in ("", ":memory:"):
        problem = "as what is in memory only does not last"
    elif "\0" in name or longest > LONGEST_PART or len(path) > LONGEST_NAME:
        problem = f"in at most {LONGEST_PART} bytes, none of which is zero"
    else:
        return
    raise InvalidInput(
        f"must name a file, such as 'bandit.db' or 'sqlite:///bandit.db', {problem}",
        argument="store",
    )


def _unusable(url: str) -> InvalidInput:
    scheme = url.partition(":")[0]  # what follows may hold a password
    return InvalidInput(
        "must be a file such as 'bandit.db', or an address such as 'sqlite:///bandit.db' or "
        f"'postgresql://user@host/name', got one that starts with {scheme!r}",
        argument="store",
    )


def sqlite_file(url: URL) -> Path | None:
    """The file of an SQLite store; `None` for a server."""
    return Path(url.database or "") if url.get_backend_name() == "sqlite" else None


def create_engine(url: URL, deadline: float = ANSWER) -> Engine:
    """Create an engine whose connections meet the contract of `Store`.

    Args:
        url: The address. Timeouts in it take precedence.
        deadline: The timeout of each PostgreSQL round trip, in seconds.
    """
    if sqlite_file(url) is None:
        # Without a log handler, psycopg writes lost connections to stderr. Our errors already
        # report them.
        logging.getLogger("psycopg").addHandler(_unheard)
        given = {name: x for name, x in _network(deadline).items() if name not in url.query}
        engine = sqlalchemy.create_engine(url, connect_args=given, pool_timeout=deadline)
        event.listen(engine, "connect", functools.partial(_set_up_postgres, deadline))
        return engine
    engine = sqlalchemy.create_engine(url, connect_args={"timeout": BUSY})
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    event.listen(engine, "close", roll_back_sqlite)
    return engine


def _network(deadline: float) -> dict[str, int]:
    """Return libpq settings for networks that drop packets, in seconds except the last."""
    return {
        "connect_timeout": REACH,
        "keepalives_idle": 5,
        "keepalives_interval": 2,
        "keepalives_count": 3,
        "tcp_user_timeout": int(1_000 * deadline),  # milliseconds
    }


def _set_up_postgres(deadline: float, connection: Any, _: Any) -> None:
    """Set timeouts, unless the address or the server already does."""
    rows = ", ".join(
        f"('{name}', '{round(1_000 * share * deadline)}')" for name, share in SHARES.items()
    )
    try:
        with watchdog.limit(connection, deadline):
            connection.execute(
                f"SELECT set_config(name, wanted, false) FROM (VALUES {rows}) AS ours "
                "(name, wanted) JOIN pg_settings USING (name) WHERE setting = '0'"
            )
            connection.commit()
    except BaseException:
        connection.close()  # SQLAlchemy would drop it without closing it
        raise


def _set_up_sqlite(connection: sqlite3.Connection, _: Any) -> None:
    """WAL, so that readers do not wait; every commit is on disk before it is acknowledged."""
    connection.isolation_level = None  # we say ourselves where a transaction begins
    for setting in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {setting}").close()


def roll_back_sqlite(connection: sqlite3.Connection, _: Any = None) -> None:
    """End a transaction that was left: to close is not enough while somebody has a statement."""
    with contextlib.suppress(sqlite3.ProgrammingError):  # it was closed before
        connection.rollback()


def _begin_sqlite(connection: Connection) -> None:
    """A writer takes the write lock at once: a reader that became one could have to give up."""
    writing = connection.get_execution_options().get(WRITING, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")
