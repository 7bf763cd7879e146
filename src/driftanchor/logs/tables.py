"""Files as DuckDB tables: how to scan them, and what each column is called and holds in SQL."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from duckdb import DuckDBPyConnection

from driftanchor.errors import InvalidInput
from driftanchor.logs.paths import LogFile
from driftanchor.logs.sandbox import identifier, literal

DELIMITERS = ",\t;|"
SEPARATOR = "\x1f"  # in no text, so that a line is one column
MOST_UNREADABLE = 100_000  # lines of a file that DuckDB remembers
SAMPLE = 10_000  # JSON objects whose keys are looked at
COMPRESSION = {"": "uncompressed", ".gz": "gzip", ".zst": "zstd"}


@dataclass(frozen=True)
class Column:
    """The name of a column, how SQL gets at it, and its type there; text comes as VARCHAR."""

    name: str
    sql: str
    type: str


@dataclass(frozen=True)
class Table:
    """Files with the same columns.

    Attributes:
        files: The files.
        function: The table function that reads them.
        options: What it is told.
        columns: By name.
        delimiter: Of CSV.
    """

    files: tuple[LogFile, ...]
    function: str
    options: str
    columns: Mapping[str, Column]
    delimiter: str = ""

    @property
    def scan(self) -> str:
        """The files in a FROM clause."""
        names = ", ".join(literal(str(file.path)) for file in self.files)
        return f"{self.function}([{names}]{self.options})"

    def of(self, file: LogFile) -> Table:
        """One of the files alone."""
        return replace(self, files=(file,))


def tables(connection: DuckDBPyConnection, files: Sequence[LogFile], arm: str) -> list[Table]:
    """The files, those with the same columns together.

    Args:
        connection: Of the sandbox.
        files: All of one format.
        arm: A column that must be there; it tells which delimiter a CSV has.
    """
    alike: dict[object, Table] = {}
    for file in files:
        if file.format == "csv":
            table = _csv(connection, file, arm)
        elif file.format == "jsonl":
            table = _jsonl(connection, file)
        else:
            table = _parquet(connection, file)
        key = (table.options, tuple(table.columns.items()))
        known = alike.get(key)
        alike[key] = table if known is None else replace(known, files=(*known.files, file))
    return list(alike.values())


def _csv(connection: DuckDBPyConnection, file: LogFile, arm: str) -> Table:
    """All columns as text, so that no value is misread because of what comes before it."""
    packed = literal(COMPRESSION[file.compression])
    as_lines = (
        f"SELECT line FROM read_csv({literal(str(file.path))}, auto_detect=false, header=false, "
        f"columns={{'line': 'VARCHAR'}}, delim='{SEPARATOR}', quote='', escape='', "
        f"ignore_errors=true, compression={packed}) LIMIT 1"
    )
    first = connection.execute(as_lines).fetchall()
    if first in ([], [(None,)]):
        raise InvalidInput(f"{file.name!r} has no line of column names")
    names = {
        d: [name.strip() for name in next(csv.reader(first[0], delimiter=d, skipinitialspace=True))]
        for d in DELIMITERS
    }
    delimiter = max(DELIMITERS, key=lambda d: (arm in names[d], len(names[d])))
    columns: dict[str, Column] = {}
    for i, name in enumerate(names[delimiter]):
        if name in columns:  # which of them is meant?
            columns[name] = Column(name, "", "ambiguous")
        else:
            columns[name] = Column(name, f"c{i}", "VARCHAR")
    types = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(names[delimiter])))
    options = (
        f", auto_detect=false, header=true, delim={literal(delimiter)}, quote='\"', escape='\"', "
        f"columns={{{types}}}, store_rejects=true, rejects_limit={MOST_UNREADABLE}, "
        f"compression={packed}"
    )
    return Table((file,), "read_csv", options, columns, delimiter)


def _parquet(connection: DuckDBPyConnection, file: LogFile) -> Table:
    described = connection.execute(f"DESCRIBE FROM read_parquet([{literal(str(file.path))}])")
    columns = {
        name: Column(name, identifier(name), type) for name, type, *_ in described.fetchall()
    }
    return Table((file,), "read_parquet", "", columns)


def _jsonl(connection: DuckDBPyConnection, file: LogFile) -> Table:
    """A line is an object of which the wanted keys are taken as text."""
    options = f", ignore_errors=true, compression={literal(COMPRESSION[file.compression])}"
    table = Table((file,), "read_ndjson_objects", options, {})
    keys = connection.execute(
        f"SELECT DISTINCT unnest(json_keys(json)) FROM (FROM {table.scan} LIMIT {SAMPLE}) "
        "WHERE json_type(json) = 'OBJECT' ORDER BY 1"
    ).fetchall()
    columns = {key: Column(key, f"json->>{literal(_path(key))}", "VARCHAR") for (key,) in keys}
    return replace(table, columns=columns)


def _path(key: str) -> str:
    """A JSON pointer to a key."""
    return "/" + key.replace("~", "~0").replace("/", "~1")
