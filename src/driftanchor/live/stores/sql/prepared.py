"""Statements that are compiled once, and take plain numbers and texts.

SQLAlchemy would look at every statement and every value again. What is asked here are numbers,
texts and bytes, which both drivers take as they are, so that the look costs more than the work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import (
    BindParameter,
    Boolean,
    Dialect,
    Double,
    Integer,
    Select,
    String,
    Table,
    Text,
    bindparam,
    cast,
    func,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import make_url

from driftanchor.live.stores.sql.link import Link

_numbered: Any = make_url("postgresql+psycopg://").get_dialect()
DIALECTS: dict[str, Dialect] = {  # parameters have places, not names
    "sqlite": make_url("sqlite://").get_dialect()(),
    "postgresql": _numbered(paramstyle="numeric_dollar"),
}
MOST = 512  # values in one list
TAKEN = (String, Integer, Double, Boolean)  # the types that an array is written of


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
        if len(rows) == 1:
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
        given = (*names, *constants)
        self._order = [given.index(name) for name in compiled.positiontup]
        self.takes_rows = self._order == list(range(len(names)))

    def given(self, values: Sequence[Any]) -> Any:
        """The parameters in the form that the driver takes, where that is another."""
        every = (*values, *self._constants)
        return tuple([every[i] for i in self._order])


class _Columns:
    """A statement of PostgreSQL that inserts many rows at once, each column of them as an array.

    Args:
        statement: The statement for one row.
        names: The columns that are given.

    Attributes:
        sql: Its text.
    """

    def __init__(self, statement: Any, names: tuple[str, ...]) -> None:
        types = [statement.table.c[name].type for name in names]
        assert all(isinstance(kind, TAKEN) for kind in types)
        self._is_text = [isinstance(kind, String) for kind in types]
        arrays = [
            cast(bindparam(name), postgresql.ARRAY(Text() if is_text else kind))
            for name, kind, is_text in zip(names, types, self._is_text, strict=True)
        ]
        given = func.unnest(*arrays).table_valued(*names).render_derived(name="given")
        several = statement.from_select(list(names), select(given))
        self.sql: str = several.compile(dialect=DIALECTS["postgresql"]).string

    def given(self, rows: Sequence[Sequence[Any]]) -> list[str]:
        """The columns of some rows."""
        columns = zip(self._is_text, zip(*rows, strict=True), strict=True)
        return [array_of(column, is_text=is_text) for is_text, column in columns]


def array_of(values: Sequence[Any], *, is_text: bool) -> str:
    r"""An array as PostgreSQL reads it.

    psycopg would look at each value by itself, which takes several times as long.

    Args:
        values: Texts, or numbers and truth values; any of them may be missing.
        is_text: Whether they are texts.

    Example:
        >>> array_of([1, None, 0.5], is_text=False)
        '{1, NULL, 0.5}'
        >>> print(array_of(["a", None, '"b"'], is_text=True))
        {"a",NULL,"\"b\""}
    """
    if not is_text:
        return "{" + str(list(values))[1:-1].replace("None", "NULL") + "}"
    quoted = [
        "NULL" if x is None else '"' + x.replace("\\", "\\\\").replace('"', '\\"') + '"'
        for x in values
    ]
    return "{" + ",".join(quoted) + "}"


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

    PostgreSQL takes many rows at once, each column of them as an array: a statement for each row
    takes its driver four times as long and the server twice as long.

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
        self._names = tuple(names)
        self._together: _Columns | None = None

    def run(self, link: Link, rows: Sequence[Sequence[Any]]) -> None:
        """Insert or change rows, which have a value for each column of the table.

        No two of them are the same row.
        """
        one = self._by_database[link.database]
        if link.database != "postgresql" or len(rows) <= 1:
            one.run_for(link, rows)
            return
        if self._together is None:
            self._together = _Columns(one._statement, self._names)
        link.run(self._together.sql, self._together.given(rows))


def _upsert(insert: Any, table: Table, replaced: tuple[str, ...], added: tuple[str, ...]) -> Any:
    if not (replaced or added):
        return insert
    new = {name: insert.excluded[name] for name in replaced}
    new |= {name: table.c[name] + insert.excluded[name] for name in added}
    key = [column.name for column in table.primary_key]
    return insert.on_conflict_do_update(index_elements=key, set_=new)
