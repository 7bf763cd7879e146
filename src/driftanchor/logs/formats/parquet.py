"""Parquet: typed columns, and the number of rows in the footer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from driftanchor.logs.formats.base import Column, Format, Scan
from driftanchor.logs.log_file import LogFile
from driftanchor.logs.sql import identifier, literal

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


class Parquet(Format):
    """Columns have the types that the file says."""

    suffixes = (".parquet", ".pq")
    is_text = False

    def scan(self, connection: DuckDBPyConnection, file: LogFile, arm: str) -> Scan:
        """Ask DuckDB for the columns."""
        described = connection.execute(f"DESCRIBE FROM read_parquet([{literal(str(file.path))}])")
        columns = {
            name: Column(name, identifier(name), type) for name, type, *_ in described.fetchall()
        }
        return Scan((file,), "read_parquet", "", columns)

    def total(self, connection: DuckDBPyConnection, files: Sequence[LogFile]) -> int | None:
        """The sum of what the footers say."""
        names = ", ".join(literal(str(file.path)) for file in files)
        counts = connection.execute(
            f"SELECT sum(num_rows) FROM parquet_file_metadata([{names}])"
        ).fetchall()
        return int(counts[0][0])
