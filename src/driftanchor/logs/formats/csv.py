"""CSV: text with a line of column names, then one row a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from driftanchor.errors import InvalidInput
from driftanchor.logs.formats.csv_fields import split, text_of
from driftanchor.logs.formats.csv_records import Records
from driftanchor.logs.formats.log_format import Column, Format, Lines, Scan, Survey
from driftanchor.logs.log_file import COMPRESSIONS, LogFile
from driftanchor.logs.sql import literal
from driftanchor.logs.text_lines import LineReader, LineSurvey

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from driftanchor.logs.query import LogQuery

DELIMITERS = ",\t;|"
MOST_COLUMNS = 1_000  # DuckDB needs kilobytes for each; of wider files it reads a copy


class Csv(Format):
    """All columns are text, so that no value is misread because of what comes before it."""

    suffixes = (".csv", ".tsv", ".txt")
    has_names = True

    def scan(self, connection: DuckDBPyConnection, file: LogFile, query: LogQuery) -> Scan:
        """All columns of a file, or those that its copy has."""
        delimiter, names = self._header(file, query.arm)
        places = list(range(len(names))) if file.copy is None else _places(names, query)
        sql = {place: f"c{i}" for i, place in enumerate(places)}
        columns: dict[str, Column] = {}
        for i, name in enumerate(names):
            type = "ambiguous" if name in columns else "VARCHAR"
            columns[name] = Column(name, sql.get(i, "NULL"), type)
        types = ", ".join(f"'{column}': 'VARCHAR'" for column in sql.values())
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

    def survey(
        self, connection: DuckDBPyConnection, file: LogFile, query: LogQuery, most: int | None
    ) -> Survey:
        """A row for each line but the first, where a line can be nothing else."""
        if max(self._start(file)[0].count(d.encode()) for d in DELIMITERS) >= MOST_COLUMNS:
            return Survey(None)
        found = LineSurvey(csv=True)
        self.look(file, found, None if most is None else most + 1)
        plain = len(found.ends) <= 1 and not found.quoted_breaks
        rows = found.lines - 1 if plain and found.longest <= self.longest_line else None
        return Survey(rows, quick=not found.underscores)

    def lines(self, file: LogFile, query: LogQuery) -> Iterator[Lines]:
        """The records with the wanted columns, and the lines that are none."""
        delimiter, names = self._header(file, query.arm)
        encoded = [name.encode() for name in names]
        numbers = [names.index(name) for name in query.numbers.values() if name in names]
        records = Records(
            delimiter.encode(), encoded, _places(names, query), numbers, self.longest_line
        )
        return records.read(self.pieces(file))

    def numbers(self, file: LogFile, query: LogQuery) -> Iterator[Mapping[str, str]]:
        """The fields that should be numbers."""
        delimiter, names = self._header(file, query.arm)
        wanted = [names[place] for place in _places(names, query)]
        for rows in self.lines(file, query):
            for row in () if rows.reason else rows.texts:
                fields = split(row.split(b"\n"), delimiter.encode()) or []
                found = dict(zip(wanted, fields, strict=True))
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


def _places(names: list[str], query: LogQuery) -> list[int]:
    """The places of the wanted columns, in their order."""
    return sorted({names.index(name) for name in query.columns.values() if name in names})
