"""Store: campaigns and server keys in SQLite or PostgreSQL, and how to open one."""

from __future__ import annotations

import abc
import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TypeVar

from driftanchor.errors import (
    Conflict,
    InvalidInput,
    NotFound,
    StoreUnavailable,
    excerpt,
)
from driftanchor.live.stores import migrate, reader
from driftanchor.live.stores.access_keys import ID_DIGITS, ROLES, KeyRow
from driftanchor.live.stores.address import Address, parse_address
from driftanchor.live.stores.damage import damaged
from driftanchor.live.stores.reader import Reader as Reader
from driftanchor.live.stores.rows import ArmRow, CampaignRow, Counters
from driftanchor.live.stores.rows import Changes as Changes
from driftanchor.live.stores.statements import COLUMNS, Session

T = TypeVar("T")
PATIENCE = 10.0  # seconds to retry a transaction after its connection broke
DEADLINE = 8.0  # seconds: the timeout of each PostgreSQL round trip
KEYS = f"SELECT {', '.join(COLUMNS['api_keys'])} FROM api_keys"
INHERITED: list[object] = []  # a parent's connections in a forked child; closing them ends both


class ConnectionBroke(StoreUnavailable):
    """The connection broke; the same transaction may be tried again."""


class Store(abc.ABC):
    """The contract of a store; one test suite checks it on SQLite and PostgreSQL.

    - Transactions are atomic even if a process dies, and are on disk when `transact` returns.
    - Transactions that write to one campaign are serialized. Writers wait in turn, and none
      starves. Each sees the result of the transactions before it.
    - `reading` sees a consistent snapshot, does not wait for writers, and changes nothing.
    - The events of a campaign are numbered 1, 2, 3, … without a gap. They are never changed or
      removed.
    - A unit has at most one current decision per epoch of a campaign, and numbers and ids of
      decisions are unique. A transaction that violates this is refused as a whole.
    - A request key is stored for at least `KEY_SECONDS`. Each snapshot removes some older keys.
    - Numbers are stored exactly, to the last bit.
    - `StoreUnavailable` is raised if the store cannot be reached, read or written. Then nothing was
      written, and the call can be retried later. A transaction whose connection breaks is first
      retried for a few seconds. If the connection breaks during the commit, the store checks
      whether the commit succeeded, so that it never happens twice. Only if the store stays
      unreachable is the outcome unknown; rewards, and requests with a unit or a key, are safe to
      retry.
    - `UnreadableState` is raised if stored data is damaged.
    - A store is thread-safe, and a process may be forked while one is open.

    Attributes:
        address: Where the store is.
    """

    address: Address

    @abc.abstractmethod
    def session(self) -> AbstractContextManager[Session]:
        """Open a read-only transaction that sees a consistent snapshot."""

    @abc.abstractmethod
    def write(self, work: Callable[[Session], T], *, deadline: bool = True) -> T:
        """Run work in a write transaction and commit.

        Args:
            work: What to do. If it raises, nothing is written. It is called again if the connection
                breaks, so it must depend only on what it reads.
            deadline: Whether the timeouts of single statements apply.
        """

    @abc.abstractmethod
    def prepare(self) -> None:
        """Create the tables of an empty store; refuse tables of another version."""

    @abc.abstractmethod
    def close(self) -> None:
        """Close all connections; the next call opens new ones."""

    def __del__(self) -> None:
        """Close the connections of a store that was not closed."""
        with contextlib.suppress(Exception):
            self.close()

    def create(self, row: CampaignRow, arms: Sequence[ArmRow]) -> CampaignRow:
        """Insert a campaign, which gets its id here; raise `Conflict` if its name is taken."""

        def insert(session: Session) -> CampaignRow:
            if reader.find(session, row.name) is not None:
                remedy = "choose another name, or load it with if_exists='load'"
                raise Conflict(f"there is a campaign {row.name!r} already: {remedy}")
            return reader.insert_campaign(session, row, arms)

        return self.write(insert)

    def find(self, name: str) -> CampaignRow | None:
        """Return the campaign of this name, if there is one."""
        with self.session() as session:
            return reader.find(session, name)

    def names(self) -> list[str]:
        """Return the names of all campaigns, sorted."""
        with self.session() as session:
            return sorted(name for (name,) in session.rows("SELECT name FROM campaigns"))

    def counters(self) -> dict[str, Counters]:
        """Return the counters of each campaign by name, in one query."""
        with self.session() as session:
            rows = session.rows(
                f"SELECT name, {reader.COUNTERS} FROM campaigns JOIN heads ON campaign_id = id"
            )
        return {name: reader.to_counters(row) for name, *row in rows}

    def owner(self, decision_id: str) -> str | None:
        """Return the name of the campaign that made a decision, if the decision exists."""
        with self.session() as session:
            rows = session.rows(
                "SELECT name FROM campaigns JOIN decisions ON campaign_id = campaigns.id "
                "WHERE decisions.id = ?",
                (decision_id,),
            )
        return rows[0][0] if rows else None

    @contextlib.contextmanager
    def reading(self, campaign: int) -> Iterator[Reader]:
        """Read one campaign in a consistent snapshot."""
        with self.session() as session:
            yield _reader(session, campaign)

    def transact(self, campaign: int, work: Callable[[Reader], Changes | None]) -> None:
        """Write to one campaign, exclusively.

        Args:
            campaign: Its id.
            work: Called with a reader of the campaign; returns the changes to write, or `None`.
                Called again if the connection breaks, so it must depend only on what it reads.
        """
        interrupted: list[Changes] = []  # changes whose commit may have failed

        def attempt(session: Session) -> None:
            found = _reader(session, campaign, lock=True)
            if interrupted and reader.was_committed(session, campaign, interrupted.pop()):
                return
            changes = work(found)
            if changes is not None:
                reader.write(session, campaign, changes)
                interrupted.append(changes)

        try:
            self.write(attempt)
        except ConnectionBroke as error:
            if not interrupted:
                raise
            raise StoreUnavailable(
                f"{error}; whether the last changes were recorded is unknown: repeat the call"
            ) from error

    def add_key(self, row: KeyRow) -> None:
        """Insert a new server key; raise `Conflict` if its id is taken."""

        def insert(session: Session) -> None:
            stored = _find_key(session, row.id)
            if stored is None:
                session.insert("api_keys", [dataclasses.astuple(row)])
            elif stored != row:  # equal if the connection broke during the commit
                raise Conflict(f"there is a key {row.id!r} already: make another")

        self.write(insert)

    def keys(self) -> list[KeyRow]:
        """Return all server keys, including revoked and expired ones, oldest first."""
        with self.session() as session:
            return [_key(*row) for row in session.rows(f"{KEYS} ORDER BY created_at, id")]

    def key_counts(self) -> tuple[int, int, float]:
        """Return the number of keys and of revoked keys, and when the last was created.

        Every change of the keys changes this result, which is faster to read than the keys.
        """
        with self.session() as session:
            sql = "SELECT count(*), count(revoked_at), coalesce(max(created_at), 0.0) FROM api_keys"
            count, revoked, last = session.rows(sql)[0]
        return count, revoked, last

    def revoke_key(self, key_id: str, at: float) -> KeyRow:
        """Revoke a key; raise `NotFound` if there is none. Revoking again keeps the first time."""

        def revoke(session: Session) -> KeyRow:
            row = _find_key(session, key_id)
            if row is None:
                shown = excerpt(key_id[:ID_DIGITS])  # it may be a whole key by mistake
                raise NotFound(
                    f"there is no key with the id {shown!r}: 'driftanchor keys list' shows all keys"
                )
            if row.revoked_at is not None:
                return row
            session.run("UPDATE api_keys SET revoked_at = ? WHERE id = ?", (at, key_id))
            return dataclasses.replace(row, revoked_at=at)

        return self.write(revoke)


def open_store(
    store: str | Store, *, patience: float = PATIENCE, deadline: float = DEADLINE
) -> Store:
    """Open the store at an address: `"bandit.db"`, `"sqlite:///bandit.db"` or `"postgresql://…"`.

    The file of an SQLite store is created if it is missing, and the tables if the database is
    empty. An open store is returned as is.

    Args:
        store: The address.
        patience: Seconds to retry a transaction after its connection broke.
        deadline: The timeout of each PostgreSQL round trip, in seconds.

    Raises:
        StoreMismatch: The tables are older or newer than this program.
        StoreUnavailable: The store cannot be reached or read.
    """
    if isinstance(store, Store):
        return store
    if not isinstance(store, str):
        raise InvalidInput(
            f"must be an address such as 'sqlite:///bandit.db', got {store!r}", argument="store"
        )
    opened = _store_at(parse_address(store), patience, deadline)
    try:
        opened.prepare()
    except BaseException:
        opened.close()
        raise
    return opened


@contextlib.contextmanager
def opening(store: str | Store) -> Iterator[Store]:
    """Open a store; close it again if the block fails, unless it was open before."""
    opened = open_store(store)
    try:
        yield opened
    except BaseException:
        if opened is not store:
            opened.close()
        raise


def open_read_only(address: str) -> AbstractContextManager[Session]:
    """Open a read-only session without creating, upgrading or changing anything.

    Raises:
        StoreUnavailable: The store is missing, or cannot be reached or read.
    """
    parsed = parse_address(address)
    if parsed.file is not None:
        from driftanchor.live.stores import sqlite

        return sqlite.open_read_only(parsed)
    from driftanchor.live.stores import postgres

    return postgres.open_read_only(parsed)


def upgrade_store(address: str) -> tuple[str | None, str]:
    """Migrate the tables of a store; return the versions before and after."""
    with contextlib.closing(_store_at(parse_address(address))) as store:
        with store.session() as session:  # before a lock file is created: is it a store?
            migrate.version_of(session)
        try:
            return store.write(migrate.upgrade, deadline=False), migrate.LATEST
        except Conflict as error:  # a value does not fit its column
            raise damaged(error) from error


def _store_at(address: Address, patience: float = PATIENCE, deadline: float = DEADLINE) -> Store:
    if address.file is not None:
        from driftanchor.live.stores.sqlite import SqliteStore

        return SqliteStore(address)
    from driftanchor.live.stores.postgres import PostgresStore

    return PostgresStore(address, patience, deadline)


def _reader(session: Session, campaign: int, *, lock: bool = False) -> Reader:
    counters = reader.read_counters(session, campaign, lock=lock)
    if counters is None:
        raise NotFound(f"the store no longer has campaign number {campaign}: load it by its name")
    return Reader(session, campaign, counters)


def _find_key(session: Session, key_id: str) -> KeyRow | None:
    rows = session.rows(f"{KEYS} WHERE id = ?", (key_id,))
    return _key(*rows[0]) if rows else None


def _key(*values: object) -> KeyRow:
    row = KeyRow(*values)  # type: ignore[arg-type]
    if set(row.roles.split(" ")) - set(ROLES):
        raise damaged(f"a key has the roles {excerpt(row.roles)!r}")
    return row
