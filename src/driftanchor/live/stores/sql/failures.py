"""Translates driver errors into our own."""

from __future__ import annotations

import sys
from pathlib import Path
from types import TracebackType

from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from driftanchor.errors import Conflict, InvalidInput, StoreUnavailable, excerpt, shown
from driftanchor.live.stores.sql.sql_engine import sqlite_file
from driftanchor.live.stores.sql.watchdog import NoAnswer

REMEDIES = {  # what SQLite says, and what to do
    "full": "the disk is full: make room",
    "readonly": "it cannot be written: check the rights of the file and its folder",
    "unable to open": "it cannot be opened: check that the folder can be written",
    "locked": "another program keeps the file locked: close it",
    "disk i/o": "the disk fails, or is full: check it",
    "malformed": "the file is damaged: restore a backup",
    "not a database": "the file is no SQLite database, or is damaged: restore a backup",
}


GAVE_UP = ("55P03", "57014")  # PostgreSQL's codes for lock_timeout and statement_timeout


class Interrupted(StoreUnavailable):
    """The connection broke; the same transaction may be tried again."""


class translated:  # noqa: N801 - used as a function; a generator would take longer
    """Raise errors of ours in place of those of drivers and of the file system.

    Args:
        url: The address of the store.
    """

    __slots__ = ("_url",)

    def __init__(self, url: URL) -> None:
        self._url = url

    def __enter__(self) -> None:
        """Nothing to do."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Raise the error in words of ours, if it is one of those."""
        if isinstance(error, Exception):
            ours = _ours(self._url, error)
            if ours is not None:
                raise ours from error


def _ours(url: URL, error: Exception) -> Exception | None:
    """Return the error to raise instead; `None` to keep the original."""
    is_server = sqlite_file(url) is None
    if isinstance(error, (UnicodeEncodeError, *_named("DataError"))):
        return InvalidInput(f"the database cannot store a text or number: {_said(error)}")
    if isinstance(error, NoAnswer):
        return Interrupted(f"{name_of(url)} hangs: {error}; check that it is running")
    if _sqlstate(error) in GAVE_UP:
        return StoreUnavailable(f"{name_of(url)} is too slow: {_said(error)}; try again later")
    if isinstance(error, _named("IntegrityError")):
        return Conflict(f"{name_of(url)} refuses the change: {_said(error)}")
    if isinstance(error, _named("OperationalError")):
        if is_server:
            return Interrupted(
                f"{name_of(url)} cannot be reached: {_said(error)}; check that it is running"
            )
        return StoreUnavailable(_sqlite_words(url, error))
    if isinstance(error, DBAPIError):
        if error.connection_invalidated:
            return Interrupted(f"{name_of(url)} closed the connection: {_said(error)}")
        return StoreUnavailable(_sqlite_words(url, error))
    if isinstance(error, _named("Error")):
        if is_server and isinstance(error, _named("InterfaceError")):
            return Interrupted(f"{name_of(url)} closed the connection: {_said(error)}")
        return StoreUnavailable(_sqlite_words(url, error))
    if isinstance(error, PoolTimeout):
        return StoreUnavailable(f"{name_of(url)} has no free connection: {error}")
    if isinstance(error, SQLAlchemyError):
        return StoreUnavailable(f"{name_of(url)} cannot be used: {_said(error)}")
    if isinstance(error, OSError):  # from the lock file
        said = f"{name_of(url)} cannot be used: {error}; check that the folder can be written"
        return StoreUnavailable(missing_folder(sqlite_file(url)) or said)
    return None


def _sqlstate(error: Exception) -> str | None:
    """Return the SQLSTATE of a PostgreSQL error."""
    original = error.orig if isinstance(error, DBAPIError) else error
    return getattr(original, "sqlstate", None)


def _named(name: str) -> tuple[type[Exception], ...]:
    """The exceptions of this name: those of the drivers that are loaded, and SQLAlchemy's."""
    homes = (sys.modules.get(home) for home in ("sqlite3", "psycopg", "sqlalchemy.exc"))
    found = (getattr(home, name, None) for home in homes)
    return tuple(kind for kind in found if isinstance(kind, type))


def missing_folder(file: Path | None) -> str | None:
    """What to say if the folder of an SQLite store does not exist; `None` if it does."""
    folder = None if file is None else file.absolute().parent
    try:
        if folder is not None:
            folder.stat()
    except FileNotFoundError:
        problem = f"the folder {shown(str(folder))} does not exist"
        return f"{problem}: make it, or choose another place for the store"
    except OSError:  # it may be there
        pass
    return None


def _sqlite_words(url: URL, error: Exception) -> str:
    said = _said(error)
    if "unable to open" in said.lower():
        missing = missing_folder(sqlite_file(url))
        if missing is not None:
            return missing
    for part, remedy in REMEDIES.items():
        if part in said.lower():
            return f"{name_of(url)}: {remedy} ({said})"
    return f"{name_of(url)} cannot be used: {said}"


def name_of(url: URL) -> str:
    """The store as messages name it: what else is in an address may be a secret."""
    file = sqlite_file(url)
    if file is not None:
        return f"the store {str(file)!r}"
    place = URL.create(url.drivername, host=url.host, port=url.port, database=url.database)
    return f"the store {place.render_as_string()!r}"


def _said(error: Exception) -> str:
    original = error.orig if isinstance(error, DBAPIError) else error
    return excerpt(str(original).strip().replace("\n", " "))
