"""`INSERT … ON CONFLICT`, which SQLAlchemy has for each database apart."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite


class Upsert:
    """Inserts rows, or changes those that are there; made once for each database.

    Args:
        table: The table; its primary key says which rows are the same.
        replaced: The columns that take the new value.
        added: The columns to which the new value is added.
    """

    def __init__(
        self, table: Table, replaced: tuple[str, ...] = (), added: tuple[str, ...] = ()
    ) -> None:
        self._statements = {
            name: _statement(insert(table), table, replaced, added)
            for name, insert in (("sqlite", sqlite.insert), ("postgresql", postgresql.insert))
        }

    def run(self, connection: Connection, rows: list[dict[str, Any]]) -> None:
        """Insert or change rows."""
        if rows:
            connection.execute(self._statements[connection.dialect.name], rows)


def _statement(insert: Any, table: Table, replaced: tuple[str, ...], added: tuple[str, ...]) -> Any:
    new = {name: insert.excluded[name] for name in replaced}
    new |= {name: table.c[name] + insert.excluded[name] for name in added}
    key = [column.name for column in table.primary_key]
    return insert.on_conflict_do_update(index_elements=key, set_=new)
