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

    def run(self, sql: str, values: Values = ()) -> None:
        """Run a statement."""
        self._cursor.execute(sql, values)

    def run_for(self, sql: str, rows: Sequence[Values]) -> None:
        """Run a statement for many rows of parameters."""
        self._cursor.executemany(sql, rows)
