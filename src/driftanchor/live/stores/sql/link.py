"""A connection as the statements about campaigns use it: the driver's own, and nothing around it.

SQLAlchemy writes the statements and keeps the connections. It does not run these statements: it
would look at each of them and at each row, and an interrupt within one of its many steps may leave
a transaction half ended.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from driftanchor.live.stores.sql.sql_engine import ANSWER
from driftanchor.live.stores.sql.watchdog import watchdog

Values = Any  # the parameters of a statement in the form that the driver takes


class Link:
    """A connection of a driver.

    PostgreSQL is another process, and each answer of it costs two switches between processes. So a
    statement that finds nothing waits here, and goes out with the next query or with the end of the
    transaction.

    Args:
        database: `"sqlite"` or `"postgresql"`.
        driver: The driver's connection; one to PostgreSQL commits by itself.
        deadline: Seconds in which PostgreSQL must answer each time.
    """

    __slots__ = ("_cursor", "_deadline", "_driver", "_waiting", "database")

    def __init__(self, database: str, driver: Any, deadline: float = ANSWER) -> None:
        self.database = database
        self._driver = driver
        self._deadline = deadline
        self._cursor = driver.cursor() if database == "sqlite" else _plain_cursor(driver)
        self._waiting: list[tuple[str, Values, bool]] = []  # and whether there are many values

    def rows(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """Run a statement, and fetch what it finds."""
        return self._found(sql, values, None)

    def rows_as_of_now(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """As `rows`, for a statement that PostgreSQL must not run in the way it once found.

        It keeps ways that it found while a table was empty, and reads all of the table then, until
        it counts the rows again a minute later.
        """
        if self.database == "sqlite":
            return self.rows(sql, values)
        return self._found(sql, values, False)

    def run(self, sql: str, values: Values = ()) -> None:
        """Run a statement, or let it wait for what comes next."""
        if self.database == "sqlite":
            self._cursor.execute(sql, values)
        else:
            self._waiting.append((sql, values, False))

    def run_for(self, sql: str, rows: Sequence[Values]) -> None:
        """As `run`, for many rows of parameters."""
        if self.database == "sqlite":
            self._cursor.executemany(sql, rows)
        else:
            self._waiting.append((sql, rows, True))

    def commit(self) -> None:
        """End the transaction; all of it is on disk afterwards."""
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
        """Send what waits and a last statement, and wait for all answers.

        PostgreSQL does nothing that comes after a statement that fails.
        """
        waiting, self._waiting = self._waiting, []
        handled = sys.exception()  # by whoever called us
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
