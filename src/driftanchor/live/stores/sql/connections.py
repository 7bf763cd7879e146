"""Idle connections, kept for the next transaction.

SQLAlchemy opens connections and limits their number. Checkout from its pool takes longer than two
statements, so a few connections stay checked out.
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
        deadline: The timeout of each PostgreSQL round trip, in seconds.

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
        self._breaks = 0  # how often the server was found unreachable
        event.listen(engine, "connect", self._opened)
        event.listen(engine, "checkout", self._taken_out)

    def _opened(self, _: Any, entry: ConnectionPoolEntry) -> None:
        entry.info["breaks"] = self._breaks

    def _taken_out(self, _: Any, entry: ConnectionPoolEntry, __: Any) -> None:
        """Make SQLAlchemy replace a connection opened before the last outage."""
        if entry.info.get("breaks") != self._breaks:
            raise DisconnectionError

    def take(self) -> PoolProxiedConnection:
        """Check out a connection that is in no transaction.

        Its driver does not begin transactions by itself; we begin them explicitly.
        """
        try:
            return self._idle.pop()
        except IndexError:
            pooled = self._engine.raw_connection()
            self._let_begin(pooled, False)
            return pooled

    def give_back(self, pooled: PoolProxiedConnection) -> None:
        """Return an idle connection for reuse."""
        if len(self._idle) < KEPT:
            self._idle.append(pooled)
            return
        try:
            self._let_begin(pooled, True)  # as SQLAlchemy expects of pooled connections
        except Exception:  # it broke after its transaction was committed
            pooled.invalidate()
        else:
            pooled.close()

    def _let_begin(self, pooled: PoolProxiedConnection, by_itself: bool) -> None:
        """Set whether psycopg begins transactions itself; the SQLite driver never does."""
        driver: Any = pooled.driver_connection
        if self.database == "postgresql":
            driver.autocommit = not by_itself

    def distrust(self) -> None:
        """Discard all idle connections after an outage of the server.

        Disposing of the pool would leak the connections that other threads are using.
        """
        self._breaks += 1
        for pooled in emptied(self._idle):
            pooled.invalidate()

    def close(self) -> None:
        """Close all connections outside transactions; new ones are opened on demand."""
        for pooled in emptied(self._idle):
            pooled.invalidate()
        self._engine.dispose()

    def abandon(self) -> None:
        """Abandon the connections in a forked child, because the parent still uses them."""
        self._abandoned += self._idle  # dropping the last reference would close them
        self._idle = []
        self._engine.dispose(close=False)
