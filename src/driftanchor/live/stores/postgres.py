"""Stores in PostgreSQL: connections, deadlines, transactions, retries, and what its errors mean."""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import math
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import psycopg
from psycopg.conninfo import make_conninfo

from driftanchor.errors import Conflict, InvalidInput, StoreUnavailable, excerpt
from driftanchor.live.stores import migrate
from driftanchor.live.stores.address import Address
from driftanchor.live.stores.statements import COLUMNS, UPSERT, Session, for_postgres
from driftanchor.live.stores.store import DEADLINE, INHERITED, ConnectionBroke, Store

T = TypeVar("T")
CONNECT = 3  # seconds to wait for a connection
OPENING = 1.0  # seconds to retry while a store is opened: no request waits yet
FIRST_PAUSE = 0.05  # seconds
MAX_CONNECTIONS = 15  # of a store, at the same time
MAX_IDLE = 4  # connections kept open
TIMEOUTS = {  # times the deadline, after which PostgreSQL itself gives up
    "statement_timeout": 7 / 8,
    "lock_timeout": 5 / 8,
    "idle_in_transaction_session_timeout": 8,  # frees the locks of a hanging process
}
TOO_SLOW = ("55P03", "57014")  # SQLSTATE of lock_timeout and statement_timeout
BATCH = 1_000  # rows to fetch at once when copying
CHECK = 0.1  # seconds between two checks of the deadlines
CHECKS_WHEN_IDLE = 50
INSERT = {
    table: f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(columns)} "
    f"FROM json_populate_recordset(NULL::{table}, %s) {UPSERT.get(table, '')}".encode()
    for table, columns in COLUMNS.items()
}

# Without a handler psycopg writes lost connections to stderr; our errors report them already.
logging.getLogger("psycopg").addHandler(logging.NullHandler())


class NoAnswer(Exception):
    """The server did not answer before the deadline."""


class Watchdog:
    """Shuts down connections that wait too long for an answer.

    A server that hangs does not apply its own timeouts, and its kernel still acknowledges packets,
    so those of TCP do not fire either: psycopg would wait forever. A thread therefore shuts down
    the socket, and the waiting thread gets an error at once.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._deadlines: dict[psycopg.Connection[Any], float] = {}
        self._running = False

    @contextlib.contextmanager
    def limit(self, connection: psycopg.Connection[Any], seconds: float) -> Iterator[None]:
        """Limit the time that the block may wait for answers.

        Raises:
            NoAnswer: The time limit passed, and the connection is unusable.
        """
        with self._lock:
            self._deadlines[connection] = time.monotonic() + seconds
            if not self._running:
                self._start()
        try:
            yield
        except Exception as error:
            if connection in self._deadlines:
                raise
            raise NoAnswer(f"no answer within {seconds:g} seconds") from error
        finally:
            with self._lock:  # so that no socket is shut down later
                self._deadlines.pop(connection, None)

    def _start(self) -> None:
        thread = threading.Thread(target=self._run, name="driftanchor-deadline", daemon=True)
        with contextlib.suppress(RuntimeError):  # the process is exiting
            thread.start()
            self._running = True

    def _run(self) -> None:
        idle = 0
        while idle < CHECKS_WHEN_IDLE:
            time.sleep(CHECK)
            with self._lock:
                now = time.monotonic()
                for connection in [x for x, due in self._deadlines.items() if due <= now]:
                    del self._deadlines[connection]
                    _shut_down(connection)
                idle = 0 if self._deadlines else idle + 1
                self._running = idle < CHECKS_WHEN_IDLE


@functools.cache
def watchdog(_process: int) -> Watchdog:
    """Return the watchdog of a process; its thread is not in a forked child."""
    return Watchdog()


def _shut_down(connection: psycopg.Connection[Any]) -> None:
    try:
        with socket.fromfd(connection.fileno(), socket.AF_INET, socket.SOCK_STREAM) as same:
            same.shutdown(socket.SHUT_RDWR)
    except Exception:  # it is closed already
        return


class PostgresSession(Session):
    """A transaction on a PostgreSQL connection; see `Session`.

    Every round trip costs two context switches. So statements that return no rows wait here, and
    are sent in one pipeline with the next query or the commit.

    Args:
        connection: A connection in autocommit mode.
        deadline: The timeout of each round trip, in seconds.
    """

    dialect = "postgres"

    def __init__(self, connection: psycopg.Connection[Any], deadline: float) -> None:
        self._connection, self._deadline = connection, deadline
        self._waiting: list[tuple[bytes, Sequence[Any], bool]] = []  # statement, values, many rows?

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a query and fetch all rows."""
        return self._send(for_postgres(sql), values).fetchall()

    def lookup(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Like `rows`, without a cached plan: one made for an empty table would scan it later."""
        return self._send(for_postgres(sql), values, prepare=False).fetchall()

    def batches(self, sql: str) -> Iterator[list[tuple[Any, ...]]]:
        """Run a query and yield its rows in batches."""
        self.flush()
        with self._connection.cursor(name="driftanchor") as cursor:
            cursor.execute(for_postgres(sql))
            while rows := cursor.fetchmany(BATCH):
                yield rows

    def run(self, sql: str, values: Sequence[Any] = ()) -> None:
        """Run a statement with the next query."""
        self._waiting.append((for_postgres(sql), values, False))

    def run_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """Run a statement for each row of parameters, with the next query."""
        if rows:
            self._waiting.append((for_postgres(sql), rows, True))

    def insert(self, table: str, rows: Sequence[Sequence[Any]]) -> None:
        """Insert or update rows with the next query. JSON is read faster than parameters."""
        if rows:
            columns = COLUMNS[table]
            records = [dict(zip(columns, row, strict=True)) for row in rows]
            text = json.dumps(records, allow_nan=False, default=_as_bytea)
            self._waiting.append((INSERT[table], (text,), False))

    def flush(self) -> None:
        """Run the statements that wait."""
        if self._waiting:
            self._send(b"SELECT 1")

    def commit(self) -> None:
        """Commit; the transaction is on disk afterwards."""
        self._send(b"COMMIT")

    def listed(self, values: Sequence[str]) -> list[str]:
        """Return the values as a list."""
        return list(values)

    def _send(
        self, sql: bytes, values: Sequence[Any] = (), prepare: bool | None = None
    ) -> psycopg.Cursor[Any]:
        """Send the statements that wait and one more; PostgreSQL skips all after one that fails."""
        connection = self._connection
        waiting, self._waiting = self._waiting, []
        with watchdog(os.getpid()).limit(connection, self._deadline):
            if not waiting:
                return connection.execute(sql, values, prepare=prepare)
            with connection.pipeline():
                for one, given, many in waiting:
                    if many:
                        connection.cursor().executemany(one, given)
                    else:
                        connection.execute(one, given)
                return connection.execute(sql, values, prepare=prepare)


class PostgresStore(Store):
    """A store in a PostgreSQL database.

    Args:
        address: Its address. Timeouts in it take precedence over ours.
        patience: Seconds to retry a transaction after its connection broke.
        deadline: The timeout of each round trip, in seconds.
    """

    def __init__(self, address: Address, patience: float, deadline: float = DEADLINE) -> None:
        self.address, self.patience, self.deadline = address, patience, deadline
        self.conninfo = _conninfo(address, deadline)
        self._idle: list[psycopg.Connection[Any]] = []
        self._free = threading.BoundedSemaphore(MAX_CONNECTIONS)
        self._process = os.getpid()

    @contextlib.contextmanager
    def session(self) -> Iterator[Session]:
        """Open a read-only transaction."""
        with self._transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") as session:
            yield session

    def write(self, work: Callable[[Session], T], *, deadline: bool = True) -> T:
        """Run work in a write transaction and commit; retry if the connection breaks."""

        def attempt() -> T:
            with self._transaction("BEGIN", self.deadline if deadline else math.inf) as session:
                if not deadline:
                    session.run("SET LOCAL statement_timeout = 0")
                return work(session)

        return self._retried(attempt, self.patience)

    def prepare(self) -> None:
        """Create the tables of an empty store; refuse tables of another version."""

        def is_empty() -> bool:
            with self.session() as session:
                return migrate.is_empty(session)

        if self._retried(is_empty, min(OPENING, self.patience)):
            self.write(migrate.create)

    def close(self) -> None:
        """Close all idle connections."""
        self._check_process()
        while self._idle:
            with contextlib.suppress(IndexError):  # another thread took it
                self._idle.pop().close()

    def _retried(self, attempt: Callable[[], T], patience: float) -> T:
        until, pause = time.monotonic() + patience, FIRST_PAUSE
        while True:
            try:
                return attempt()
            except ConnectionBroke:
                if time.monotonic() + pause > until:
                    raise
            time.sleep(pause)
            pause = min(2 * pause, 1.0)

    @contextlib.contextmanager
    def _transaction(self, begin: str, deadline: float | None = None) -> Iterator[PostgresSession]:
        """Run a transaction; at its end, keep the connection if it still works."""
        self._check_process()
        free = self._free
        if not free.acquire(timeout=self.deadline):
            raise StoreUnavailable(f"{self.address.name} has no free connection: try again later")
        try:
            with _translated(self.address):
                connection = self._take()
                try:
                    session = PostgresSession(connection, deadline or self.deadline)
                    session.run(begin)
                    yield session
                    session.commit()
                except BaseException:
                    self._roll_back(connection)
                    raise
                self._keep(connection)
        except ConnectionBroke:
            self.close()  # if the server was down, the others broke too
            raise
        finally:
            free.release()

    def _take(self) -> psycopg.Connection[Any]:
        try:
            return self._idle.pop()
        except IndexError:
            return _connect(self.conninfo, self.deadline)

    def _keep(self, connection: psycopg.Connection[Any]) -> None:
        if len(self._idle) < MAX_IDLE:
            self._idle.append(connection)
        else:
            connection.close()

    def _roll_back(self, connection: psycopg.Connection[Any]) -> None:
        try:
            with watchdog(os.getpid()).limit(connection, self.deadline):
                connection.rollback()
        except Exception:
            connection.close()
        else:
            self._keep(connection)

    def _check_process(self) -> None:
        """Leave the connections of a parent process alone after a fork."""
        if self._process != os.getpid():
            INHERITED.append(self._idle)
            self._idle, self._process = [], os.getpid()
            self._free = threading.BoundedSemaphore(MAX_CONNECTIONS)


@contextlib.contextmanager
def open_read_only(address: Address) -> Iterator[Session]:
    """Open a read-only session."""
    with (
        _translated(address),
        contextlib.closing(_connect(_conninfo(address, DEADLINE), DEADLINE)) as connection,
    ):
        session = PostgresSession(connection, DEADLINE)
        session.run("BEGIN READ ONLY")
        yield session


def _conninfo(address: Address, deadline: float) -> str:
    """Return the connection parameters, with timeouts for networks that drop packets."""
    timeouts: dict[str, Any] = {
        "connect_timeout": CONNECT,
        "keepalives_idle": 5,
        "keepalives_interval": 2,
        "keepalives_count": 3,
        "tcp_user_timeout": int(1_000 * deadline),  # milliseconds
    }
    return make_conninfo("", **{**timeouts, **address.parameters})


def _connect(conninfo: str, deadline: float) -> psycopg.Connection[Any]:
    """Connect, and set timeouts unless the address or the server already does."""
    connection: psycopg.Connection[Any] = psycopg.connect(conninfo, autocommit=True)
    rows = ", ".join(f"('{x}', '{round(1_000 * y * deadline)}')" for x, y in TIMEOUTS.items())
    settings = (
        f"SELECT set_config(name, wanted, false) FROM (VALUES {rows}) AS ours (name, wanted) "
        "JOIN pg_settings USING (name) WHERE setting = '0'"
    )
    try:
        with watchdog(os.getpid()).limit(connection, deadline):
            connection.execute(settings.encode())
    except BaseException:
        connection.close()
        raise
    return connection


def _as_bytea(value: bytes) -> str:
    return f"\\x{value.hex()}"


@contextlib.contextmanager
def _translated(address: Address) -> Iterator[None]:
    """Raise our own errors instead of psycopg's."""
    try:
        yield
    except (UnicodeEncodeError, psycopg.DataError) as error:
        raise InvalidInput(f"the database cannot store a text or number: {_said(error)}") from error
    except NoAnswer as error:
        raise ConnectionBroke(f"{address.name} hangs: {error}; check that it is running") from error
    except psycopg.Error as error:
        raise _ours(address, error) from error


def _ours(address: Address, error: psycopg.Error) -> Exception:
    name, said = address.name, _said(error)
    if error.sqlstate in TOO_SLOW:
        return StoreUnavailable(f"{name} is too slow: {said}; try again later")
    if isinstance(error, psycopg.IntegrityError):
        return Conflict(f"{name} refuses the change: {said}")
    if isinstance(error, psycopg.OperationalError):
        return ConnectionBroke(
            f"{name} cannot be reached: {said}; check the address, and that it is running"
        )
    if isinstance(error, psycopg.InterfaceError):
        return ConnectionBroke(f"{name} closed the connection: {said}")
    return StoreUnavailable(f"{name} cannot be used: {said}")


def _said(error: Exception) -> str:
    return excerpt(" ".join(str(error).split()))
