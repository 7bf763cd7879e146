"""A transaction that writes, and that ends however its thread is interrupted.

`with` is not enough: an interrupt between two of its steps leaves a transaction open, and its locks
stay until the exception is gone, which a shell keeps. So what is held is noted here, and given
back twice: the first time may be what was interrupted.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine

from driftanchor.live.stores.sql.engine import WRITING, roll_back_sqlite
from driftanchor.live.stores.sql.locks import Turn

T = TypeVar("T")


class Writing:
    """One transaction that writes, once it is its turn.

    Args:
        engine: Has the connections.
        turn: What must be had before, if anything; it is given back at the end.
    """

    def __init__(self, engine: Engine, turn: Turn | None) -> None:
        self._engine, self._turn = engine, turn
        self._connection: Connection | None = None
        self._driver: Any = None  # the driver's own connection, while it may be in a transaction

    def do(self, work: Callable[[Connection], T], look: Callable[[], None]) -> T:
        """Do some work; it is on disk afterwards. If this raises, nothing is.

        Args:
            work: What to do.
            look: What to look at first, once it is our turn.
        """
        try:
            try:
                if self._turn is not None:
                    self._turn.take()
                look()
                return self._transaction(work)
            finally:
                self._end()
        except BaseException:
            self._end()
            raise

    def _transaction(self, work: Callable[[Connection], T]) -> T:
        self._connection = connection = self._engine.connect()
        self._driver = connection.connection.driver_connection
        try:
            connection = connection.execution_options(**{WRITING: True})
            with connection.begin():
                answer = work(connection)
            self._driver = None
            return answer
        except Exception:  # it was rolled back, and the connection may be used again
            self._driver = None
            raise

    def _end(self) -> None:
        """Give back what is still held; to do it again does no harm."""
        try:
            connection, driver = self._connection, self._driver
            if driver is not None:  # interrupted
                _roll_back(driver)
            if connection is not None and not connection.closed:
                if driver is not None:
                    connection.invalidate()
                connection.close()
            self._connection = self._driver = None
        finally:
            if self._turn is not None:
                self._turn.leave()


def _roll_back(driver: Any) -> None:
    """Close a connection of SQLite or PostgreSQL, in as few steps as can be."""
    if not isinstance(driver, sqlite3.Connection):
        driver.pgconn.finish()  # the server rolls back
        return
    roll_back_sqlite(driver)
    driver.close()
