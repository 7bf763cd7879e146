"""Stores in SQLite: connections, locking, transactions, and what its errors mean."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from driftanchor.errors import Conflict, InvalidInput, StoreUnavailable, excerpt
from driftanchor.live.stores import migrate
from driftanchor.live.stores.address import Address, missing_folder
from driftanchor.live.stores.statements import COLUMNS, UPSERT, Session, for_sqlite
from driftanchor.live.stores.store import INHERITED, Store

if sys.platform != "win32":
    import fcntl

T = TypeVar("T")
BUSY = 10.0  # seconds to wait for programs that write to the file without our lock
OLDEST = (3, 37, 0)  # the first SQLite with strict tables
MAX_IDLE = 4  # connections kept open
BATCH = 1_000  # rows to fetch at once when copying
MAX_PROBLEMS = 5  # kinds of damage to report
REMEDIES = {  # by a part of SQLite's message
    "full": "the disk is full: make room",
    "readonly": "it cannot be written: check the rights of the file and its folder",
    "unable to open": "it cannot be opened: check that the folder can be written",
    "locked": "another program keeps the file locked: close it",
    "disk i/o": "the disk fails, or is full: check it",
    "malformed": "the file is damaged: restore a backup",
    "not a database": "the file is no SQLite database, or is damaged: restore a backup",
}
INSERT = {
    table: f"INSERT INTO {table} ({', '.join(columns)}) "
    f"VALUES ({', '.join('?' * len(columns))}) {UPSERT.get(table, '')}"
    for table, columns in COLUMNS.items()
}


class SqliteSession(Session):
    """A transaction on an SQLite connection; see `Session`."""

    dialect = "sqlite"

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a query and fetch all rows."""
        return self._connection.execute(for_sqlite(sql), values).fetchall()

    lookup = rows

    def batches(self, sql: str) -> Iterator[list[tuple[Any, ...]]]:
        """Run a query and yield its rows in batches."""
        cursor = self._connection.execute(sql)
        while rows := cursor.fetchmany(BATCH):
            yield rows

    def run(self, sql: str, values: Sequence[Any] = ()) -> None:
        """Run a statement."""
        self._connection.execute(for_sqlite(sql), values).close()

    def run_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """Run a statement for each row of parameters."""
        if rows:
            self._connection.executemany(for_sqlite(sql), rows).close()

    def insert(self, table: str, rows: Sequence[Sequence[Any]]) -> None:
        """Insert or update rows."""
        if rows:
            self._connection.executemany(INSERT[table], rows).close()

    def flush(self) -> None:
        """Do nothing: no statement is delayed."""

    def listed(self, values: Sequence[str]) -> str:
        """Return the values as JSON, for `json_each`."""
        return json.dumps(values)


class SqliteStore(Store):
    """A store in an SQLite file.

    The file must not be replaced while the store is open.

    Args:
        address: Its address.
    """

    def __init__(self, address: Address) -> None:
        self._idle: list[sqlite3.Connection] = []
        self._process = os.getpid()
        assert address.file is not None
        if sqlite3.sqlite_version_info < OLDEST:
            raise StoreUnavailable(
                f"SQLite {sqlite3.sqlite_version} is too old: use a Python with SQLite 3.37 or "
                "newer, or PostgreSQL"
            )
        self.address = address
        self.file = address.file.absolute()  # so that a later chdir does not matter
        self._lock_file = str(lock_file(self.file))
        self._opened: tuple[int, int] | None = None  # the file that was opened first

    @contextlib.contextmanager
    def session(self) -> Iterator[Session]:
        """Open a read-only transaction."""
        with self._transaction("BEGIN") as session:
            yield session

    def write(self, work: Callable[[Session], T], *, deadline: bool = True) -> T:
        """Run work in a write transaction and commit."""
        # A reader that becomes a writer may fail, so BEGIN IMMEDIATE takes the write lock at once.
        with self._turn(), self._transaction("BEGIN IMMEDIATE") as session:
            return work(session)

    def prepare(self) -> None:
        """Create the tables of an empty store; refuse tables of another version."""
        if self.file.exists():
            with self.session() as session:
                is_empty = migrate.is_empty(session)
        else:
            is_empty = True
            with _translated(self.address), self._turn():
                self._connect("rwc").close()
        with self._used() as connection:
            # Readers of a write-ahead log do not wait for writers. The file stays in this mode.
            connection.execute("PRAGMA journal_mode=WAL").close()
        if is_empty:
            self.write(migrate.create)

    def close(self) -> None:
        """Close all connections."""
        self._check_process()
        while self._idle:
            with contextlib.suppress(IndexError):  # another thread took it
                self._idle.pop().close()

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """Hold the lock file, for which writers queue before they lock the database.

        SQLite's writers poll for its own lock, and under load some poll in vain for minutes. A
        blocking `flock` is a fair queue, and is released if the process that holds it dies.
        """
        if sys.platform == "win32":
            yield
            return
        try:
            lock = os.open(self._lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise StoreUnavailable(
                missing_folder(self.file)
                or f"{self.address.name} cannot be used: {error}; "
                "check that the folder can be written"
            ) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                yield
            finally:  # a forked process may have the file open too
                fcntl.flock(lock, fcntl.LOCK_UN)
        finally:
            os.close(lock)

    @contextlib.contextmanager
    def _transaction(self, begin: str) -> Iterator[SqliteSession]:
        with self._used() as connection:
            connection.execute(begin).close()
            try:
                yield SqliteSession(connection)
                connection.execute("COMMIT").close()
            finally:
                if connection.in_transaction:
                    connection.rollback()

    @contextlib.contextmanager
    def _used(self) -> Iterator[sqlite3.Connection]:
        """Take an idle connection, or open one."""
        with _translated(self.address):
            self._check_process()
            self._check_file()
            try:
                connection = self._idle.pop()
            except IndexError:
                connection = self._connect("rw")
            try:
                yield connection
            except sqlite3.Error:
                connection.close()
                raise
            except BaseException:
                self._keep(connection)
                raise
            self._keep(connection)

    def _keep(self, connection: sqlite3.Connection) -> None:
        if len(self._idle) < MAX_IDLE:
            self._idle.append(connection)
        else:
            connection.close()

    def _connect(self, mode: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self.file.as_uri()}?mode={mode}",
            uri=True,
            timeout=BUSY,
            isolation_level=None,  # we begin transactions ourselves
            check_same_thread=False,  # only one thread at a time uses it
        )
        try:
            for setting in ("synchronous=FULL", "foreign_keys=ON"):  # FULL: commits are on disk
                connection.execute(f"PRAGMA {setting}").close()
        except BaseException:
            connection.close()
            raise
        return connection

    def _check_process(self) -> None:
        """Leave the connections of a parent process alone after a fork."""
        if self._process != os.getpid():
            INHERITED.append(self._idle)
            self._idle, self._process = [], os.getpid()

    def _check_file(self) -> None:
        """Refuse another file in place of the one that was opened: rewards in it would be lost."""
        try:
            status = os.stat(self.file)
        except FileNotFoundError as error:
            self.close()
            raise StoreUnavailable(
                missing_folder(self.file) or f"{self.address.name} is gone: put the file back"
            ) from error
        found = (status.st_dev, status.st_ino)
        if self._opened is None:
            self._opened = found
        elif self._opened != found:
            self.close()
            raise StoreUnavailable(
                f"the file of {self.address.name} was replaced: open the store again, or put the "
                "old file back"
            )


def lock_file(database: Path) -> Path:
    """Return the lock file of a database, for which writers queue."""
    return database.with_name(f"{database.name}-lock")


@contextlib.contextmanager
def open_read_only(address: Address) -> Iterator[Session]:
    """Open a read-only session on an existing file, without leaving other files beside it."""
    assert address.file is not None
    # Without a write-ahead log nobody has the store open. A read-only connection would create a log
    # and could not remove it, unless it opens the file as immutable.
    in_use = address.file.with_name(f"{address.file.name}-wal").exists()
    mode = "mode=ro" if in_use else "mode=ro&immutable=1"
    with (
        _translated(address),
        contextlib.closing(
            sqlite3.connect(f"{address.file.absolute().as_uri()}?{mode}", uri=True, timeout=BUSY)
        ) as connection,
    ):
        yield SqliteSession(connection)


def problems_in(address: Address) -> list[str]:
    """Return the errors that SQLite's integrity check finds; an empty list for PostgreSQL."""
    if address.file is None:
        return []
    with (
        _translated(address),
        contextlib.closing(
            sqlite3.connect(f"{address.file.absolute().as_uri()}?mode=rw", uri=True)
        ) as connection,
    ):
        try:
            rows = connection.execute(f"PRAGMA integrity_check({MAX_PROBLEMS})").fetchall()
        except sqlite3.DatabaseError as error:
            rows = [(str(error),)]
    return [f"the file is damaged: {line}" for (line,) in rows if line != "ok"]


@contextlib.contextmanager
def _translated(address: Address) -> Iterator[None]:
    """Raise our own errors instead of SQLite's."""
    try:
        yield
    except (UnicodeEncodeError, sqlite3.DataError) as error:
        raise InvalidInput(f"the database cannot store a text or number: {_said(error)}") from error
    except sqlite3.IntegrityError as error:
        raise Conflict(f"{address.name} refuses the change: {_said(error)}") from error
    except sqlite3.Error as error:
        raise StoreUnavailable(_message(address, _said(error))) from error


def _message(address: Address, said: str) -> str:
    assert address.file is not None
    missing = missing_folder(address.file)
    if missing is not None and "unable to open" in said.lower():
        return missing
    for part, remedy in REMEDIES.items():
        if part in said.lower():
            return f"{address.name}: {remedy} ({said})"
    return f"{address.name} cannot be used: {said}"


def _said(error: Exception) -> str:
    return excerpt(str(error).strip().replace("\n", " "))
