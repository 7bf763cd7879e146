"""CSV: text with a line of column names, then one row a line."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from driftanchor.errors import InvalidInput
from driftanchor.logs.formats.base import LONGEST_LINE, Column, Format, Place, Scan, Unreadable
from driftanchor.logs.log_file import COMPRESSIONS, LogFile
from driftanchor.logs.sql import literal

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

DELIMITERS = ",\t;|"
SEPARATOR = "\x1f"  # in no text, so that a line is one column
MOST_UNREADABLE = 100_000  # lines that DuckDB remembers
RAGGED = ("MISSING COLUMNS", "TOO MANY COLUMNS")
UNREADABLE = (
    "SELECT file_path, line, min(error_type), min(csv_line)[:200] FROM reject_errors "
    "JOIN reject_scans USING (scan_id, file_id) GROUP BY file_path, line ORDER BY 1, 2"
)


class Csv(Format):
    """All columns are text, so that no value is misread because of what comes before it."""

    suffixes = (".csv", ".tsv", ".txt")
    reads_numbers = True

    def check_start(self, file: LogFile, start: bytes) -> None:
        """Refuse what is not text, and a file whose first line never ends."""
        super().check_start(file, start)
        if len(start) >= LONGEST_LINE and not any(end in start for end in (b"\n", b"\r")):
            raise InvalidInput(
                f"the first line of {file.name!r} should have the names of the columns, and is "
                f"longer than {LONGEST_LINE:,} bytes: is it CSV?"
            )

    def scan(self, connection: DuckDBPyConnection, file: LogFile, arm: str) -> Scan:
        """Find the delimiter: the one that gives a column of arms, and many columns."""
        packed = literal(COMPRESSIONS[file.compression])
        as_lines = (
            f"SELECT line FROM read_csv({literal(str(file.path))}, auto_detect=false, "
            f"header=false, columns={{'line': 'VARCHAR'}}, delim='{SEPARATOR}', quote='', "
            f"escape='', ignore_errors=true, compression={packed}) LIMIT 1"
        )
        first = connection.execute(as_lines).fetchall()
        if first in ([], [(None,)]):
            raise InvalidInput(f"{file.name!r} has no line of column names")
        try:
            names = {d: _names(first[0][0], d) for d in DELIMITERS}
        except csv.Error as error:  # such as a name of megabytes
            raise InvalidInput(
                f"the first line of {file.name!r} should have the names of the columns, and cannot "
                f"be split into names: {error}; is it CSV?"
            ) from error
        delimiter = max(DELIMITERS, key=lambda d: (arm in names[d], len(names[d])))
        columns: dict[str, Column] = {}
        for i, name in enumerate(names[delimiter]):
            known = name in columns
            columns[name] = Column(name, f"c{i}", "ambiguous" if known else "VARCHAR")
        types = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(names[delimiter])))
        options = (
            f", auto_detect=false, header=true, delim={literal(delimiter)}, quote='\"', "
            f"escape='\"', columns={{{types}}}, store_rejects=true, "
            f"rejects_limit={MOST_UNREADABLE}, compression={packed}"
        )
        return Scan((file,), "read_csv", options, columns, delimiter=delimiter)

    def places(self, scan: Scan, unreadable: Collection[int]) -> Iterator[Place]:
        """Where the records start.

        DuckDB numbers the rows it could read, and for those it could not the records: the line of
        column names is record 1, an empty line is a record, and so is one with line breaks inside
        quotes. People count lines, so the file is read once more, only as far as needed.
        """
        (file,) = scan.files
        opened = file.open()
        if opened is None:
            return
        with io.TextIOWrapper(opened, encoding="utf-8-sig", errors="replace", newline="") as text:
            reader = csv.reader(text, delimiter=scan.delimiter)
            line, row = 1, 0
            for record, fields in enumerate(_until_refused(reader), start=1):
                is_row = record > 1 and bool(fields) and record not in unreadable
                row += is_row
                yield Place(line, record, row if is_row else 0)
                line = reader.line_num + 1

    def unreadable(self, connection: DuckDBPyConnection, name: str) -> Sequence[Unreadable]:
        """The lines that DuckDB set aside."""
        found = connection.execute(UNREADABLE).fetchall()
        if len(found) >= MOST_UNREADABLE:
            raise InvalidInput(
                f"{name} has {MOST_UNREADABLE:,} or more lines that cannot be split into "
                "columns: is it CSV?"
            )
        return [
            Unreadable(path, line, "line_ragged" if kind in RAGGED else "line_unreadable", text)
            for path, line, kind, text in found
        ]


def _names(line: str, delimiter: str) -> list[str]:
    fields = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))
    return [name.strip() for name in fields]


def _until_refused(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    """The records up to one that Python refuses to read, such as a field of megabytes."""
    try:
        yield from reader
    except csv.Error:
        return
