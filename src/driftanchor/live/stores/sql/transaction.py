"""A transaction that ends properly even if its thread is interrupted.

`with` is not enough: an interrupt between two of its steps leaves a transaction open, and its locks
are held as long as the exception lives, which a shell keeps. So this class tracks its resources and
releases them twice, because the first release may itself be interrupted.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from sqlalchemy.pool import PoolProxiedConnection

from driftanchor.live.stores.sql.connections import Connections
from driftanchor.live.stores.sql.link import Link
from driftanchor.live.stores.sql.sql_engine import roll_back_sqlite
from driftanchor.live.stores.sql.watchdog import watchdog
from driftanchor.live.stores.sql.write_turn import Turn

T = TypeVar("T")
FIRST = {  # what begins a transaction that writes
    "sqlite": "BEGIN IMMEDIATE",  # the lock at once: a reader that became a writer may have to wait
    "postgresql": "BEGIN",
}
FIRST_TO_READ = {"sqlite": "BEGIN", "postgresql": "BEGIN ISOLATION LEVEL REPEATABLE READ"}


class Transaction:
    """One transaction, from acquiring the lock to the end.

    Args:
        connections: The connections of the store.
        turn: A lock to acquire first, if any; it is released at the end.
    """

    def __init__(self, connections: Connections, turn: Turn | None = None) -> None:
        self._connections, self._turn = connections, turn
        self._pooled: PoolProxiedConnection | None = None
        self._driver: Any = None  # the driver's connection, while it may be in a transaction

    def write(self, work: Callable[[Link], T], look: Callable[[], None]) -> T:
        """Run work and commit; if this raises, nothing is written.

        Args:
            work: What to do.
            look: A check to run first, once the lock is held.
        """
        try:
            try:
                if self._turn is not None:
                    self._turn.take()
                look()
                link = self.begin(FIRST)
                answer = work(link)
                link.commit()
                self._driver = None
                return answer
            except Exception:
                self.give_up()
                raise
            finally:
                self.end()
        except BaseException:
            self.end()
            raise

    def begin(self, first: Mapping[str, str]) -> Link:
        """Check out a connection and begin the transaction."""
        database = self._connections.database
        self._pooled = self._connections.take()
        self._driver = self._pooled.driver_connection
        link = Link(database, self._driver, self._connections.deadline)
        link.run(first[database])
        return link

    def give_up(self) -> None:
        """Roll back; a connection that still answers is reused."""
        driver = self._driver
        if driver is None:
            return
        try:
            if self._connections.database == "sqlite":
                driver.rollback()
            else:
                with watchdog.limit(driver, self._connections.deadline):
                    driver.rollback()
        except Exception:  # unusable: `end` closes it
            return
        self._driver = None

    def end(self) -> None:
        """Release everything still held. Idempotent."""
        try:
            pooled, driver = self._pooled, self._driver
            if driver is not None:  # interrupted, or broken
                _close(driver)
            if pooled is not None and pooled.is_valid:
                if driver is not None:
                    pooled.invalidate()
                else:
                    self._pooled = None  # first, so that it is released only once
                    self._connections.give_back(pooled)
            self._pooled = self._driver = None
        finally:
            if self._turn is not None:
                self._turn.leave()


def _close(driver: Any) -> None:
    """Close a connection of SQLite or PostgreSQL, in as few steps as can be."""
    if isinstance(driver, sqlite3.Connection):
        roll_back_sqlite(driver)
        driver.close()
    else:
        driver.pgconn.finish()  # the server rolls back
