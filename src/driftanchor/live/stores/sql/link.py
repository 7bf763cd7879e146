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

    Args:
        database: `"sqlite"` or `"postgresql"`.
        driver: The driver's connection.
    """

    __slots__ = ("_cursor", "database")

    def __init__(self, database: str, driver: Any) -> None:
        self.database = database
        self._cursor = driver.cursor()

    def rows(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """Run a statement, and fetch what it finds."""
        self._cursor.execute(sql, values)
        found: list[tuple[Any, ...]] = self._cursor.fetchall()
        return found

    def rows_as_of_now(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """As `rows`, for a statement that PostgreSQL must not run in the way it once found.

        It keeps ways that it found while a table was empty, and reads all of the table then, until
        it counts the rows again a minute later.
        """
        if self.database != "postgresql":
            return self.rows(sql, values)
        self._cursor.execute(sql, values, prepare=False)
        found: list[tuple[Any, ...]] = self._cursor.fetchall()
        return found

    def run(self, sql: str, values: Values = ()) -> None:
        """Run a statement."""
        self._cursor.execute(sql, values)

    def run_for(self, sql: str, rows: Sequence[Values]) -> None:
        """Run a statement for many rows of parameters."""
        self._cursor.executemany(sql, rows)
