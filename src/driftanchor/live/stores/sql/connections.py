"""Connections that wait for the next transaction.

SQLAlchemy opens them and bounds how many there are. To give one back to its pool and to take it out
again takes longer than two statements, so a few stay out.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, event
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection

from driftanchor.live.stores.sql.sql_engine import ANSWER
from driftanchor.live.stores.sql.write_turn import emptied

KEPT = 4  # that stay out; the pool has more for whoever comes then


class Connections:
    """The connections of a store.

    Args:
        engine: Opens them.
        deadline: Seconds in which PostgreSQL must answer each time.

    Attributes:
        database: `"sqlite"` or `"postgresql"`.
        deadline: As given.
    """

    def __init__(self, engine: Engine, deadline: float = ANSWER) -> None:
        self.database = engine.dialect.name
        self.deadline = deadline
        self._engine = engine
        self._idle: list[PoolProxiedConnection] = []
        self._abandoned: list[PoolProxiedConnection] = []
        self._breaks = 0  # how often the server was found to be away
        event.listen(engine, "connect", self._opened)
        event.listen(engine, "checkout", self._taken_out)

    def _opened(self, _: Any, entry: ConnectionPoolEntry) -> None:
        entry.info["breaks"] = self._breaks

    def _taken_out(self, _: Any, entry: ConnectionPoolEntry, __: Any) -> None:
        """Have SQLAlchemy replace a connection that is older than the last break."""
        if entry.info.get("breaks") != self._breaks:
            raise DisconnectionError

    def take(self) -> PoolProxiedConnection:
        """A connection that nobody else has, and that is in no transaction.

        Its driver begins none by itself: we say where one begins.
        """
        try:
            return self._idle.pop()
        except IndexError:
            pooled = self._engine.raw_connection()
            self._let_begin(pooled, False)
            return pooled

    def give_back(self, pooled: PoolProxiedConnection) -> None:
        """Keep a connection that is in no transaction for the next one."""
        if len(self._idle) < KEPT:
            self._idle.append(pooled)
            return
        try:
            self._let_begin(pooled, True)  # as SQLAlchemy expects of those in its pool
        except Exception:  # it broke after its transaction, which was written all the same
            pooled.invalidate()
        else:
            pooled.close()

    def _let_begin(self, pooled: PoolProxiedConnection, by_itself: bool) -> None:
        """Set whether psycopg begins transactions itself; SQLite's driver never does here."""
        driver: Any = pooled.driver_connection
        if self.database == "postgresql":
            driver.autocommit = not by_itself

    def distrust(self) -> None:
        """Use none of the connections again that are idle now: the server was away.

        Disposing of the pool would leak those that other threads have just now.
        """
        self._breaks += 1
        for pooled in emptied(self._idle):
            pooled.invalidate()

    def close(self) -> None:
        """Close all of them but those in a transaction; others are opened when they are needed."""
        for pooled in emptied(self._idle):
            pooled.invalidate()
        self._engine.dispose()

    def abandon(self) -> None:
        """In a forked process: leave them to the process that opened them, which uses them on."""
        self._abandoned += self._idle  # to drop the last reference would close them
        self._idle = []
        self._engine.dispose(close=False)
