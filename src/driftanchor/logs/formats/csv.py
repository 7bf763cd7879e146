"""CSV: text with a line of column names, then one row a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from driftanchor.errors import InvalidInput
from driftanchor.logs.formats.base import Column, Format, Lines, Scan, Survey
from driftanchor.logs.formats.csv_fields import split, text_of
from driftanchor.logs.formats.csv_records import Records
from driftanchor.logs.log_file import COMPRESSIONS, LogFile
from driftanchor.logs.sql import literal
from driftanchor.logs.text_lines import LineReader

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from driftanchor.logs.query import LogQuery

DELIMITERS = ",\t;|"


class Csv(Format):
    """All columns are text, so that no value is misread because of what comes before it."""

    suffixes = (".csv", ".tsv", ".txt")
    has_names = True

    def scan(self, connection: DuckDBPyConnection, file: LogFile, arm: str) -> Scan:
        """Read the names of the columns."""
        delimiter, names = self._header(file, arm)
        columns: dict[str, Column] = {}
        for i, name in enumerate(names):
            known = name in columns
            columns[name] = Column(name, f"c{i}", "ambiguous" if known else "VARCHAR")
        types = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(names)))
        how = (
            f"header=true, compression={literal(COMPRESSIONS[file.compression])}"
            if file.copy is None
            else "header=false, parallel=false"
        )
        options = (
            f", auto_detect=false, delim={literal(delimiter)}, quote='\"', escape='\"', "
            f"columns={{{types}}}, ignore_errors=true, max_line_size={self.longest_line}, {how}"
        )
        return Scan((file,), "read_csv", options, columns)

    def survey(self, connection: DuckDBPyConnection, file: LogFile, most: int | None) -> Survey:
        """A row for each line but the first, where a line can be nothing else."""
        found = self.survey_lines(file, None if most is None else most + 1, quotes=True)
        plain = len(found.ends) <= 1 and not found.quoted_breaks
        rows = found.lines - 1 if plain and found.longest <= self.longest_line else None
        return Survey(rows, quick=not found.underscores)

    def lines(self, file: LogFile, query: LogQuery) -> Iterator[Lines]:
        """The records, and the lines that are none."""
        delimiter, names = self._header(file, query.arm)
        wanted, numbers = (
            {names.index(column) for column in columns.values() if column in names}
            for columns in (query.columns, query.numbers)
        )
        encoded = [name.encode() for name in names]
        records = Records(delimiter.encode(), encoded, wanted, numbers, self.longest_line)
        return records.read(self.pieces(file))

    def numbers(self, file: LogFile, query: LogQuery) -> Iterator[Mapping[str, str]]:
        """The fields that should be numbers."""
        delimiter, names = self._header(file, query.arm)
        for rows in self.lines(file, query):
            for row in () if rows.reason else rows.texts:
                found = dict(zip(names, split([row], delimiter.encode()) or (), strict=False))
                yield {role: text_of(found[name]) for role, name in query.numbers.items()}

    def _header(self, file: LogFile, arm: str) -> tuple[str, list[str]]:
        """The delimiter, that gives a column of arms and many columns; and the names."""
        start = self._start(file)
        names = {delimiter: _names(start, delimiter) for delimiter in DELIMITERS}
        delimiter = max(DELIMITERS, key=lambda d: (arm in names[d], len(names[d])))
        if not names[delimiter]:
            raise InvalidInput(
                f"the first line of {file.name!r} should have the names of the columns, and has a "
                "quote that is out of place: is it CSV?"
            )
        return delimiter, names[delimiter]

    def _start(self, file: LogFile) -> list[bytes]:
        """The first lines, as many as the names of the columns may need."""
        found: list[bytes] = []
        size = quotes = 0
        reader = LineReader(self.pieces(file), self.longest_line)
        while (line := reader.take()) is not None:
            if not found and not line.strip():
                continue
            if not found and len(line) > self.longest_line:
                raise InvalidInput(
                    f"the first line of {file.name!r} should have the names of the columns, and is "
                    f"longer than {self.longest_line:,} bytes: is it CSV?"
                )
            found.append(line)
            size, quotes = size + len(line), quotes + line.count(b'"')
            if quotes % 2 == 0 or size > self.longest_line:
                return found
        if not found:
            raise InvalidInput(f"{file.name!r} has no line of column names")
        return found


def _names(start: list[bytes], delimiter: str) -> list[str]:
    """The names that a delimiter gives; none if the quotes are wrong."""
    return [text_of(name).strip() for name in split(start, delimiter.encode()) or ()]
