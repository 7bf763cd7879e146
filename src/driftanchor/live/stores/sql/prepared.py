"""Statements that are compiled once, and take plain numbers and texts.

SQLAlchemy would look at every statement and every value again. What is asked here are numbers,
texts and bytes, which both drivers take as they are, so that the look costs more than the work.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import (
    JSON,
    BindParameter,
    Dialect,
    Select,
    String,
    Table,
    bindparam,
    cast,
    func,
    literal_column,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import make_url

from driftanchor.live.stores.sql.link import Link

DIALECTS: dict[str, Dialect] = {
    database: make_url(address).get_dialect()()
    for database, address in (("sqlite", "sqlite://"), ("postgresql", "postgresql+psycopg://"))
}
MOST = 512  # values in one list


class Prepared:
    """A statement whose parameters are numbers, texts and bytes.

    Args:
        statement: The statement.
        names: Its parameters, in the order in which they are given.
    """

    def __init__(self, statement: Any, names: Sequence[str]) -> None:
        self._statement, self._names = statement, tuple(names)
        self._compiled: dict[str, _Text] = {}

    def rows(self, link: Link, *values: Any) -> list[tuple[Any, ...]]:
        """Run it once, and fetch what it finds."""
        text = self._compiled.get(link.database) or self._text(link)
        return link.rows(text.sql, values if text.takes_rows else text.given(values))

    def rows_as_of_now(self, link: Link, *values: Any) -> list[tuple[Any, ...]]:
        """As `rows`; see `Link.rows_as_of_now`."""
        text = self._compiled.get(link.database) or self._text(link)
        return link.rows_as_of_now(text.sql, values if text.takes_rows else text.given(values))

    def run(self, link: Link, *values: Any) -> None:
        """Run it once."""
        text = self._compiled.get(link.database) or self._text(link)
        link.run(text.sql, values if text.takes_rows else text.given(values))

    def run_for(self, link: Link, rows: Sequence[Sequence[Any]]) -> None:
        """Run it for many rows of parameters."""
        if not rows:
            return
        text = self._compiled.get(link.database) or self._text(link)
        given = rows if text.takes_rows else [text.given(row) for row in rows]
        if len(rows) == 1:  # psycopg would open a pipeline for it
            link.run(text.sql, given[0])
        else:
            link.run_for(text.sql, given)

    def _text(self, link: Link) -> _Text:
        """Compile it, once for each database."""
        found = _Text(self._statement, self._names, DIALECTS[link.database])
        self._compiled[link.database] = found
        return found


class _Text:
    """A statement as a driver takes it.

    Args:
        statement: The statement.
        names: Its parameters, in the order in which they are given.
        dialect: Says for which database it is.

    Attributes:
        sql: Its text.
        takes_rows: Whether parameters are taken in the order in which they are given.
    """

    def __init__(self, statement: Any, names: tuple[str, ...], dialect: Dialect) -> None:
        compiled = statement.compile(dialect=dialect, column_keys=list(names))
        self.sql: str = compiled.string
        constants = {name: x for name, x in compiled.params.items() if name not in names}
        self._constants = tuple(constants.values())  # that the statement itself brings along
        self._names = (*names, *constants)
        places = compiled.positiontup  # None where parameters have names
        self._order = None if places is None else [self._names.index(name) for name in places]
        self.takes_rows = self._order == list(range(len(names)))

    def given(self, values: Sequence[Any]) -> Any:
        """The parameters in the form that the driver takes, where that is another."""
        every = (*values, *self._constants) if self._constants else values
        if self._order is None:
            return dict(zip(self._names, every, strict=True))
        return tuple([every[i] for i in self._order])


class PreparedList:
    """A query for a list of values; it is compiled for lists of 1, 2, 4, … values.

    Args:
        query: Makes the query for so many parameters.
        names: Its other parameters, in the order in which they are given.
    """

    def __init__(
        self, query: Callable[[list[BindParameter[Any]]], Select[*tuple[Any, ...]]], *names: str
    ) -> None:
        self._query, self._names = query, names
        self._sizes: dict[int, Prepared] = {}

    def rows(self, link: Link, listed: Sequence[Any], *values: Any) -> list[Any]:
        """What the query finds for the listed values, and the values of its other parameters."""
        if len(listed) == 1:  # nearly always, unless requests are many
            return self._of(1).rows_as_of_now(link, *values, listed[0])
        found: list[Any] = []
        for i in range(0, len(listed), MOST):
            some = list(listed[i : i + MOST])
            size = 1 << (len(some) - 1).bit_length()
            some += some[-1:] * (size - len(some))  # to ask twice for one value changes nothing
            found += self._of(size).rows_as_of_now(link, *values, *some)
        return found

    def _of(self, size: int) -> Prepared:
        found = self._sizes.get(size)
        if found is None:
            names = [f"listed_{i}" for i in range(size)]
            query = self._query([bindparam(name) for name in names])
            found = self._sizes[size] = Prepared(query, [*self._names, *names])
        return found


class Insert:
    """Inserts rows, or changes those that are there.

    PostgreSQL takes many rows as one text: a statement for each takes its driver four times as long
    and the server twice as long.

    Args:
        table: The table; its primary key says which rows are the same.
        replaced: The columns that take the new value. Without any, a row that is there is an error.
        added: The columns to which the new value is added.
    """

    def __init__(
        self, table: Table, replaced: tuple[str, ...] = (), added: tuple[str, ...] = ()
    ) -> None:
        names = [column.name for column in table.columns]
        self._by_database = {
            name: Prepared(_upsert(insert(table), table, replaced, added), names)
            for name, insert in (("sqlite", sqlite.insert), ("postgresql", postgresql.insert))
        }
        together = postgresql.insert(table).from_select(names, _rows_of_text(table))
        self._together = Prepared(_upsert(together, table, replaced, added), ["rows"])

    def run(self, link: Link, rows: Sequence[Sequence[Any]]) -> None:
        """Insert or change rows, which have a value for each column of the table."""
        if link.database == "postgresql" and len(rows) > 1:
            try:
                text = _encoded(rows)
            except ValueError:  # JSON has no infinity
                pass
            else:
                self._together.run(link, text)
                return
        self._by_database[link.database].run_for(link, rows)


_encoded = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def _rows_of_text(table: Table) -> Any:
    """The rows of a table from a list of lists, as JSON; numbers stay as they are, to the bit."""
    row = func.json_array_elements(cast(bindparam("rows"), JSON)).column_valued("each_row")
    values = [row.op("->>")(literal_column(str(i))) for i in range(len(table.columns))]
    return select(
        *(
            value if isinstance(column.type, String) else cast(value, column.type)
            for value, column in zip(values, table.columns, strict=True)
        )
    )


def _upsert(insert: Any, table: Table, replaced: tuple[str, ...], added: tuple[str, ...]) -> Any:
    if not (replaced or added):
        return insert
    new = {name: insert.excluded[name] for name in replaced}
    new |= {name: table.c[name] + insert.excluded[name] for name in added}
    key = [column.name for column in table.primary_key]
    return insert.on_conflict_do_update(index_elements=key, set_=new)
