"""SqlStore: a store on SQLite or PostgreSQL."""

from __future__ import annotations

import contextlib
import functools
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from sqlalchemy import Connection
from sqlalchemy.engine import URL

from driftanchor.errors import Conflict, NotFound, StoreUnavailable
from driftanchor.live.stores.access_keys import KeyRow
from driftanchor.live.stores.rows import ArmRow, CampaignRow, Counters
from driftanchor.live.stores.sql import campaign_rows, key_rows, sql_engine, versions
from driftanchor.live.stores.sql.connections import Connections
from driftanchor.live.stores.sql.failures import Interrupted, translated
from driftanchor.live.stores.sql.link import Link
from driftanchor.live.stores.sql.reader import SqlReader, happened, write
from driftanchor.live.stores.sql.transaction import FIRST_TO_READ, Transaction
from driftanchor.live.stores.sql.watchdog import watchdog
from driftanchor.live.stores.sql.write_turn import (
    Identity,
    Turn,
    Turns,
    identity_of,
    lock_file,
    no_litter,
)
from driftanchor.live.stores.store import Changes, Reader, Store

T = TypeVar("T")
PATIENCE = 10.0  # seconds in which a transaction whose connection broke is tried again
OPENING = 1.0  # and in which a store that is opened is: nothing is at stake yet
FIRST_PAUSE = 0.05  # seconds


class SqlStore(Store):
    """Campaigns in SQLite or PostgreSQL.

    Args:
        url: The address.
        patience: Seconds to retry after a connection broke.
        deadline: The timeout of each PostgreSQL round trip, in seconds.
    """

    def __init__(
        self, url: URL, patience: float = PATIENCE, deadline: float = sql_engine.ANSWER
    ) -> None:
        self.url = url
        self._deadline = deadline
        self.patience = patience
        self._file = sql_engine.sqlite_file(url)
        self._path = str(self._file)
        self._turns = None if self._file is None else Turns(lock_file(self._file))
        self._engine = sql_engine.create_engine(url, deadline)
        self._connections = Connections(self._engine, deadline)
        self._translated = translated(url)
        self._process = os.getpid()
        self._generation = 0
        self._identity: Identity | None = None  # identity of the file that was opened

    def prepare(self) -> None:
        """Create the tables of an empty store; refuse tables of another version."""
        with no_litter(self._file):
            self._patiently(
                lambda: self._alone(versions.prepare, self._deadline), min(OPENING, self.patience)
            )
        if self._file is not None:
            self._identity = identity_of(self._path)

    def upgrade(self) -> tuple[str | None, str]:
        """Migrate the tables; return the versions before and after."""
        steps: list[tuple[str | None, str]] = []
        with no_litter(self._file):
            self._patiently(
                lambda: steps.append(self._alone(versions.upgrade)), min(OPENING, self.patience)
            )
        if self._file is not None:
            self._identity = identity_of(self._path)
        return steps[-1]

    def create(self, row: CampaignRow, arms: Sequence[ArmRow]) -> CampaignRow:
        """Insert a new campaign."""

        def work(link: Link) -> CampaignRow:
            if campaign_rows.find(link, row.name) is not None:
                remedy = "choose another name, or load it with if_exists='load'"
                raise Conflict(f"there is a campaign {row.name!r} already: {remedy}")
            return campaign_rows.create(link, row, arms)

        return self._patiently(lambda: self._write(work))

    def find(self, name: str) -> CampaignRow | None:
        """Return the campaign of this name."""
        with self._reading() as link:
            return campaign_rows.find(link, name)

    def names(self) -> list[str]:
        """Return the names of all campaigns."""
        with self._reading() as link:
            return campaign_rows.names(link)

    def counters(self) -> dict[str, Counters]:
        """Return the head of each campaign."""
        with self._reading() as link:
            return campaign_rows.all_counters(link)

    def owner(self, decision_id: str) -> str | None:
        """Return the campaign of a decision."""
        with self._reading() as link:
            return campaign_rows.owner(link, decision_id)

    @contextlib.contextmanager
    def at_one_moment(self) -> Iterator[Connection]:
        """Open a read-only connection with a consistent snapshot."""
        with self._connected() as connection:
            if connection.dialect.name == "postgresql":
                connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                connection.exec_driver_sql("SET LOCAL statement_timeout = 0")  # it copies tables
            yield connection

    def in_one_transaction(self, work: Callable[[Connection], None]) -> None:
        """Write data that belongs to no single campaign, atomically."""
        self._patiently(lambda: self._alone(work))

    def fold_in(self) -> None:
        """Merge the write-ahead log of an SQLite store into its file; needs exclusive access."""
        self._connections.close()  # a second connection would prevent it
        with self._translated, self._engine.connect() as connection:
            raw = connection.connection.driver_connection
            assert raw is not None
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").close()
            raw.execute("PRAGMA journal_mode=DELETE").close()

    @contextlib.contextmanager
    def reading(self, campaign: int) -> Iterator[Reader]:
        """Read one campaign in a consistent snapshot."""
        with self._reading() as link:
            head = campaign_rows.head(link, campaign)
            if head is None:
                raise _gone(campaign)
            yield SqlReader(link, campaign, head)

    def transact(self, campaign: int, work: Callable[[Reader], Changes | None]) -> None:
        """Write to one campaign, exclusively."""
        ended: list[Changes] = []  # changes whose commit may have failed

        def once(link: Link) -> None:
            head = campaign_rows.head(link, campaign, lock=True)
            if head is None:
                raise _gone(campaign)
            if ended and happened(link, campaign, ended.pop()):
                return
            changes = work(SqlReader(link, campaign, head))
            if changes is not None:
                write(link, campaign, changes)
                ended.append(changes)

        try:
            self._patiently(functools.partial(self._write, once))
        except StoreUnavailable as error:
            if not (ended and isinstance(error.__cause__, Interrupted)):
                raise
            raise StoreUnavailable(
                f"{error}; whether the last changes were recorded is unknown: repeat the call"
            ) from error

    def add_key(self, row: KeyRow) -> None:
        """Insert a new server key."""
        self._patiently(lambda: self._alone(lambda x: key_rows.add(x, row), self._deadline))

    def keys(self) -> list[KeyRow]:
        """Return all server keys."""
        with self._connected() as connection, self._limit(connection):
            return key_rows.all_rows(connection)

    def key_counts(self) -> tuple[int, int, float]:
        """Return the number of keys and of revoked keys, and when the last was created."""
        with self._connected() as connection, self._limit(connection):
            return key_rows.counts(connection)

    def revoke_key(self, key_id: str, at: float) -> KeyRow:
        """Revoke a key."""
        return self._patiently(
            lambda: self._alone(lambda x: key_rows.revoke(x, key_id, at), self._deadline)
        )

    def generation(self) -> int:
        """Return a number that changes if the file is replaced."""
        return self._generation

    def close(self) -> None:
        """Close all connections."""
        self._connections.close()
        if self._turns is not None:
            self._turns.close()

    def _patiently(self, attempt: Callable[[], T], patience: float | None = None) -> T:
        """Retry while the connection breaks, for at most `patience` seconds."""
        seconds = self.patience if patience is None else patience
        until, pause = time.monotonic() + seconds, FIRST_PAUSE
        while True:
            try:
                return attempt()
            except Interrupted as error:
                self._connections.distrust()  # if the server was down, the others broke too
                if time.monotonic() + pause > until:
                    raise StoreUnavailable(str(error)) from error
            time.sleep(pause)
            pause = min(2 * pause, 1.0)

    def _write(self, work: Callable[[Link], T]) -> T:
        """Run work in a write transaction, once we hold the write lock."""
        with self._translated:
            return Transaction(self._connections, self._turn()).write(work, self._look)

    def _turn(self) -> Turn | None:
        return None if self._turns is None else self._turns.next()

    @contextlib.contextmanager
    def _reading(self) -> Iterator[Link]:
        """Open a read-only link with a consistent snapshot."""
        with self._translated:
            transaction = Transaction(self._connections)
            try:
                self._look()
                yield transaction.begin(FIRST_TO_READ)
            finally:
                transaction.give_up()
                transaction.end()

    def _limit(
        self, connection: Connection, seconds: float | None = None
    ) -> contextlib.AbstractContextManager[None]:
        """Limit the block to the PostgreSQL deadline, or to more seconds."""
        if self._file is not None:
            return contextlib.nullcontext()
        limit = self._deadline if seconds is None else seconds
        return watchdog.limit(connection.connection.driver_connection, limit)

    def _alone(self, work: Callable[[Connection], T], seconds: float = math.inf) -> T:
        """Run work like `_write`, but with an SQLAlchemy connection.

        Args:
            work: What to do.
            seconds: The time limit on PostgreSQL.
        """
        turn = self._turn()
        with self._translated:
            try:
                if turn is not None:
                    turn.take()
                self._look()
                with self._engine.connect() as connection:
                    try:
                        connection = connection.execution_options(**{sql_engine.WRITING: True})
                        with self._limit(connection, seconds), connection.begin():
                            return work(connection)
                    except Exception:
                        raise
                    except BaseException:  # interrupted: do not leave its transaction open
                        connection.invalidate()
                        raise
            finally:
                if turn is not None:
                    turn.leave()

    @contextlib.contextmanager
    def _connected(self) -> Iterator[Connection]:
        with self._translated:
            self._look()
            with self._engine.connect() as connection:
                yield connection

    def _look(self) -> None:
        """Discard connections of a parent process, or to a file that no longer exists."""
        if self._process != os.getpid():
            self._connections.abandon()
            self._process = os.getpid()
        if self._file is None or self._identity is None:
            return
        found = identity_of(self._path)
        if found == self._identity:
            return
        self._connections.close()
        self._generation += 1
        if found is None:
            raise StoreUnavailable(f"the store {str(self._file)!r} is gone: put the file back")
        with self._engine.connect() as connection:
            versions.check(versions.found(connection))
        self._identity = found


def _gone(campaign: int) -> NotFound:
    return NotFound(f"the store no longer has campaign number {campaign}: load it by its name")


def open_sql(
    address: str, patience: float = PATIENCE, deadline: float = sql_engine.ANSWER
) -> SqlStore:
    """Open the store at an address, and create missing tables.

    Args:
        address: The address.
        patience: Seconds to retry after a connection broke.
        deadline: The timeout of each PostgreSQL round trip, in seconds.
    """
    store = _at(address, patience, deadline)
    try:
        store.prepare()
    except BaseException:
        store.close()
        raise
    return store


def upgrade_sql(address: str) -> tuple[str | None, str]:
    """Migrate the store at an address; return the versions before and after."""
    store = _at(address)
    try:
        return store.upgrade()
    finally:
        store.close()


def _at(address: str, patience: float = PATIENCE, deadline: float = sql_engine.ANSWER) -> SqlStore:
    url = sql_engine.address(address)
    file = sql_engine.sqlite_file(url)
    if file is not None:  # absolute, so that a later chdir does not matter
        url = url.set(database=str(file.absolute()))
    return SqlStore(url, patience, deadline)
