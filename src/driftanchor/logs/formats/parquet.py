"""Parquet: typed columns, and the number of rows in the footer."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from driftanchor.errors import InvalidInput
from driftanchor.logs.formats.log_format import Column, Format, Scan, Survey
from driftanchor.logs.log_file import LogFile
from driftanchor.logs.memory_guard import size_of
from driftanchor.logs.sql import identifier, literal

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from driftanchor.logs.query import LogQuery

MOST_COLUMNS = 20_000  # DuckDB needs kilobytes for each
# DuckDB unpacks the dictionary of a column at once, whatever its memory limit is.
LARGE = 0.25  # of the memory limit: from here on a part of a column is looked at
PACKED = 100  # times smaller than unpacked: texts of millions of characters, not labels


class Parquet(Format):
    """Columns have the types that the file says."""

    suffixes = (".parquet", ".pq")
    is_text = False

    def scan(self, connection: DuckDBPyConnection, file: LogFile, query: LogQuery) -> Scan:
        """Ask DuckDB for the columns, which it renames where two have the same name."""
        bare = Scan((file,), "read_parquet", "", {})
        names = _names(connection, bare)
        if len(names) > MOST_COLUMNS:
            raise InvalidInput(
                f"{file.name!r} has {len(names):,} columns, and at most {MOST_COLUMNS:,} can be "
                "read: write those that are needed to a file of their own"
            )
        described = connection.execute(f"DESCRIBE FROM {bare.sql}").fetchall()
        times = Counter(names)
        columns = {}
        for name, (unique, type, *_) in zip(names, described, strict=True):
            columns[name] = Column(
                name, identifier(unique), type if times[name] == 1 else "ambiguous"
            )
        return Scan((file,), bare.function, "", columns)

    def survey(
        self, connection: DuckDBPyConnection, file: LogFile, query: LogQuery, most: int | None
    ) -> Survey:
        """The footer says how many rows there are, and how large columns become."""
        _check_sizes(connection, file, query)
        footer = Scan((file,), "parquet_file_metadata", "", {})
        ((rows,),) = connection.execute(f"SELECT sum(num_rows) FROM {footer.sql}").fetchall()
        return Survey(int(rows))


def _check_sizes(connection: DuckDBPyConnection, file: LogFile, query: LogQuery) -> None:
    """Refuse a file of which a small part would fill the memory in one step."""
    parts = Scan((file,), "parquet_metadata", "", {})
    wanted = ", ".join(literal(name) for name in query.columns.values())
    found = connection.execute(
        f"SELECT path_in_schema, total_uncompressed_size FROM {parts.sql} "
        f"WHERE path_in_schema IN ({wanted}) AND total_uncompressed_size > "
        f"greatest({LARGE} * {size_of(query.memory)}, {PACKED} * total_compressed_size) LIMIT 1"
    ).fetchone()
    if found is not None:
        raise InvalidInput(
            f"{file.name!r} has {found[1] / 1e6:,.0f} MB of column {found[0]!r} packed into less "
            f"than a {PACKED}th, too much to unpack at once within {query.memory}: allow more, as "
            "in memory='4GB', or write the file in smaller row groups",
            argument="memory",
        )


def _names(connection: DuckDBPyConnection, bare: Scan) -> list[str]:
    """The names as the file has them: the tree of its schema, of which the first level counts."""
    tree = Scan(bare.files, "parquet_schema", "", {})
    found = connection.execute(f"SELECT name, num_children FROM {tree.sql}").fetchall()
    names, below = [], 0  # how many of the next ones belong to a column that was listed
    for name, children in found[1:]:
        if below == 0:
            names.append(name)
        else:
            below -= 1
        below += children or 0
    return names
