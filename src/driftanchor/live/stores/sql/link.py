"""A connection as the statements about campaigns use it: the driver's own, and nothing around it.

SQLAlchemy writes the statements and keeps the connections. It does not run these statements: it
would look at each of them and at each row, and an interrupt within one of its many steps may leave
a transaction half ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Values = Any  # the parameters of a statement in the form that the driver takes


class Link:
    """A connection of a driver.

    PostgreSQL is another process, and each answer of it costs two switches between processes. So a
    statement that finds nothing waits here, and goes out with the next query or with the end of the
    transaction.

    Args:
        database: `"sqlite"` or `"postgresql"`.
        driver: The driver's connection; one to PostgreSQL commits by itself.
    """

    __slots__ = ("_cursor", "_driver", "_waiting", "database")

    def __init__(self, database: str, driver: Any) -> None:
        self.database = database
        self._driver = driver
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
            return
        with self._driver.pipeline():  # what follows on an error is not done
            self._send()
            self._cursor.execute("COMMIT")

    def _found(self, sql: str, values: Values, prepare: bool | None) -> list[tuple[Any, ...]]:
        if self.database == "sqlite":
            self._cursor.execute(sql, values)
        elif self._waiting:
            with self._driver.pipeline():
                self._send()
                self._cursor.execute(sql, values, prepare=prepare)
        else:
            self._cursor.execute(sql, values, prepare=prepare)
        found: list[tuple[Any, ...]] = self._cursor.fetchall()
        return found

    def _send(self) -> None:
        """Send what waits, without waiting for the answers."""
        waiting, self._waiting = self._waiting, []
        for sql, values, many in waiting:
            if many:
                self._cursor.executemany(sql, values)
            else:
                self._cursor.execute(sql, values)


def _plain_cursor(driver: Any) -> Any:
    """A cursor that takes statements as PostgreSQL does, and does not look for places in them."""
    from psycopg import RawCursor

    return RawCursor(driver)
