"""Link: a raw driver connection, on which the statements about campaigns run.

SQLAlchemy compiles the statements and pools the connections, but does not run these statements: it
would add overhead per statement and row, and an interrupt inside it may leave a transaction half
ended.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from driftanchor.live.stores.sql.sql_engine import ANSWER
from driftanchor.live.stores.sql.watchdog import watchdog

Values = Any  # the parameters of a statement in the form that the driver takes


class Link:
    """A driver connection.

    Each PostgreSQL round trip costs two context switches. So statements that return no rows are
    queued here, and sent with the next query or the commit.

    Args:
        database: `"sqlite"` or `"postgresql"`.
        driver: The driver's connection; for PostgreSQL, in autocommit mode.
        deadline: The timeout of each PostgreSQL round trip, in seconds.
    """

    __slots__ = ("_cursor", "_deadline", "_driver", "_waiting", "database")

    def __init__(self, database: str, driver: Any, deadline: float = ANSWER) -> None:
        self.database = database
        self._driver = driver
        self._deadline = deadline
        self._cursor = driver.cursor() if database == "sqlite" else _plain_cursor(driver)
        self._waiting: list[tuple[str, Values, bool]] = []  # statement, values, many rows?

    def rows(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """Run a query and fetch its rows."""
        return self._found(sql, values, None)

    def rows_as_of_now(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """Run a query and fetch its rows, without using a cached plan.

        PostgreSQL may have planned the query while the table was empty; it would then scan the
        whole table until it updates its statistics a minute later.
        """
        if self.database == "sqlite":
            return self.rows(sql, values)
        return self._found(sql, values, False)

    def run(self, sql: str, values: Values = ()) -> None:
        """Run a statement, or queue it until the next query or commit."""
        if self.database == "sqlite":
            self._cursor.execute(sql, values)
        else:
            self._waiting.append((sql, values, False))

    def run_for(self, sql: str, rows: Sequence[Values]) -> None:
        """Run a statement for many rows of parameters, or queue it."""
        if self.database == "sqlite":
            self._cursor.executemany(sql, rows)
        else:
            self._waiting.append((sql, rows, True))

    def commit(self) -> None:
        """Commit; the transaction is on disk afterwards."""
        if self.database == "sqlite":
            self._driver.commit()
        else:
            self._exchange("COMMIT")

    def _found(self, sql: str, values: Values, prepare: bool | None) -> list[tuple[Any, ...]]:
        if self.database == "sqlite":
            self._cursor.execute(sql, values)
        elif self._waiting:
            self._exchange(sql, values, prepare)
        else:
            with watchdog.limit(self._driver, self._deadline):
                self._cursor.execute(sql, values, prepare=prepare)
        found: list[tuple[Any, ...]] = self._cursor.fetchall()
        return found

    def _exchange(self, sql: str, values: Values = (), prepare: bool | None = None) -> None:
        """Send the queued statements and one more, and wait for all answers.

        PostgreSQL skips all statements after one that fails.
        """
        waiting, self._waiting = self._waiting, []
        handled = sys.exception()  # by the caller
        try:
            with watchdog.limit(self._driver, self._deadline), self._driver.pipeline():
                for one, given, many in waiting:
                    (self._cursor.executemany if many else self._cursor.execute)(one, given)
                self._cursor.execute(sql, values, prepare=prepare)
        except Exception as error:
            interrupt = _interrupt_behind(error, handled)
            if interrupt is None:
                raise
            raise interrupt from None


def _plain_cursor(driver: Any) -> Any:
    """A cursor that takes statements as PostgreSQL does, and does not look for places in them."""
    from psycopg import RawCursor

    return RawCursor(driver)


def _interrupt_behind(error: BaseException, handled: BaseException | None) -> BaseException | None:
    """What interrupted an exchange, if anything did: psycopg may raise another error after it."""
    behind = error.__context__
    while behind is not handled and isinstance(behind, Exception):
        behind = behind.__context__
    return None if behind is handled else behind
