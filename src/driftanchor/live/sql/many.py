"""Many: one statement for many rows, compiled once.

SQLAlchemy would look at every value of every row. The rows here are numbers, texts and nothing
else, which both drivers take as they are, so that the look costs more than the statement.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite


class Many:
    """A statement for rows of numbers and texts.

    Args:
        statement: The statement.
        names: Its parameters, in the order in which rows give them.
    """

    def __init__(self, statement: Any, names: Sequence[str]) -> None:
        self._statement, self._names = statement, tuple(names)
        self._compiled: dict[str, tuple[str, list[int] | None]] = {}

    def run(self, connection: Connection, rows: Sequence[Sequence[Any]]) -> None:
        """Run it for all rows."""
        if not rows:
            return
        name = connection.dialect.name
        if name not in self._compiled:
            self._compiled[name] = self._compile(connection)
        sql, order = self._compiled[name]
        values: list[Any]
        if order is None:
            values = [dict(zip(self._names, row, strict=True)) for row in rows]
        else:
            values = [tuple([row[i] for i in order]) for row in rows]
        connection.exec_driver_sql(sql, values)

    def _compile(self, connection: Connection) -> tuple[str, list[int] | None]:
        """The text of the statement, and the order of its parameters if they have no names."""
        compiled = self._statement.compile(
            dialect=connection.dialect, column_keys=list(self._names)
        )
        if compiled.positiontup is None:
            return compiled.string, None
        return compiled.string, [self._names.index(name) for name in compiled.positiontup]


class Upsert:
    """Inserts rows, or changes those that are there.

    Args:
        table: The table; its primary key says which rows are the same.
        replaced: The columns that take the new value.
        added: The columns to which the new value is added.
    """

    def __init__(
        self, table: Table, replaced: tuple[str, ...] = (), added: tuple[str, ...] = ()
    ) -> None:
        names = [column.name for column in table.columns]
        self._by_database = {
            name: Many(_upsert(insert(table), table, replaced, added), names)
            for name, insert in (("sqlite", sqlite.insert), ("postgresql", postgresql.insert))
        }

    def run(self, connection: Connection, rows: Sequence[Sequence[Any]]) -> None:
        """Insert or change rows, which have a value for each column of the table."""
        self._by_database[connection.dialect.name].run(connection, rows)


def _upsert(insert: Any, table: Table, replaced: tuple[str, ...], added: tuple[str, ...]) -> Any:
    new = {name: insert.excluded[name] for name in replaced}
    new |= {name: table.c[name] + insert.excluded[name] for name in added}
    key = [column.name for column in table.primary_key]
    return insert.on_conflict_do_update(index_elements=key, set_=new)
