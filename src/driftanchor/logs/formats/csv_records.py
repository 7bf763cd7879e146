"""CSV record by record: slower than DuckDB, and exact whatever is in the file.

DuckDB loses rows near a quote that is out of place, and says nothing. Here every line is accounted
for. Line breaks between quotes are part of the text, unless they cannot be: see `Records`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from driftanchor.logs.formats.csv_fields import OpenRecord, WholeLines, is_number, text_of
from driftanchor.logs.formats.log_format import EXCERPT, FEW, Lines
from driftanchor.logs.text_lines import BOM, LineReader

SPECIAL = re.compile(rb'[",;|\s]')  # what a field is written in quotes for


@dataclass
class Records:
    """Reads the records of a CSV file, those that are rows and those that are not.

    A quote that never closes, that closes before something else than a delimiter, or that has
    swallowed lines which look like rows, was not meant to open: each of its lines is rejected. A
    line looks like a row if it has as many fields, and numbers in the columns of numbers.

    Attributes:
        delimiter: Between the fields.
        names: The names of the columns.
        wanted: The places of the columns that are read, in their order.
        numbers: The places of those that must be numbers.
        longest_line: How many bytes a record may have.
    """

    delimiter: bytes
    names: Sequence[bytes]
    wanted: Sequence[int]
    numbers: Collection[int]
    longest_line: int
    _lines: WholeLines = field(init=False)

    def __post_init__(self) -> None:
        self._lines = WholeLines(self.delimiter)

    def read(self, pieces: Iterable[bytes]) -> Iterator[Lines]:
        """The records after the one of the column names; empty lines are none."""
        reader = LineReader(pieces, self.longest_line)
        header: bytes | None = b""
        while header is not None and self._is_empty(header):
            header = reader.take()
        self._to_its_end(header or b"", reader)
        while block := reader.at_hand():
            if header not in block and self._are_rows(block):
                yield Lines(reader.number, self._picked(block))
                reader.take_all()
                continue
            end = reader.number + len(block)
            while reader.number < end:
                number, line = reader.number, reader.take() or b""
                if self._is_empty(line):
                    continue
                if line == header:
                    yield Lines(number, [line], "line_repeats_header")
                elif self._are_rows([line]):
                    yield Lines(number, self._picked([line]))
                else:
                    yield self._judged(number, line, reader)

    def _is_empty(self, line: bytes) -> bool:
        return not line or (line.isspace() and self.delimiter not in line)

    def _are_rows(self, block: list[bytes]) -> bool:
        """Whether lines are rows at first sight."""
        together, delimiters = b"".join(block), len(self.names) - 1
        return (
            b'"' not in together
            and delimiters > 0
            and len(together) <= self.longest_line
            and together.isascii()
            and all([line.count(self.delimiter) == delimiters for line in block])
        )

    def _picked(self, block: Sequence[bytes]) -> list[bytes]:
        """The wanted columns of lines without quotes."""
        delimiter, wanted = self.delimiter, self.wanted
        found = []
        for line in block:
            fields = line.split(delimiter)
            found.append(delimiter.join([fields[i] for i in wanted]))
        return found

    def _judged(self, number: int, line: bytes, reader: LineReader) -> Lines:
        """A record, or the lines that a quote has swallowed."""
        if len(line) > self.longest_line:
            return _rejected(number, [line], "line_too_long")
        fields = self._lines.split(line) if b'"' in line else line.split(self.delimiter)
        if fields is not None:
            return self._row(number, line, fields)
        record, lines = self._to_its_end(line, reader)
        swallowed = reader.number - number - len(lines)  # lines that are not kept
        if record.open or swallowed or any(map(self._holds_rows, record.fields)):
            return _rejected(number, lines, "line_in_quotes", swallowed)
        if record.broken:
            one = len(lines) == 1
            return _rejected(number, lines, "line_unreadable" if one else "line_in_quotes")
        return self._row(number, line, record.fields)

    def _to_its_end(self, line: bytes, reader: LineReader) -> tuple[OpenRecord, list[bytes]]:
        """A record that started with a line; its lines, or the first of them if it is too long."""
        record, lines, size = OpenRecord(self.delimiter), [line], len(line)
        record.add(line)
        while record.open and (block := reader.at_hand()):
            if size > self.longest_line and b'"' not in b"".join(block):
                reader.take_all()
                continue
            following = reader.take() or b""
            size += len(following) + 1
            record.add(following)
            record.broken |= len(following) > self.longest_line  # only its start is known
            if size <= self.longest_line:
                lines.append(following)
            else:
                record.forget()
        return record, lines

    def _row(self, number: int, line: bytes, fields: Sequence[bytes]) -> Lines:
        """A record whose quotes are right."""
        width = len(self.names)
        if len(fields) != width and (len(fields) < width or any(fields[width:])):
            return _rejected(number, [line], "line_ragged")
        wanted = [fields[i] for i in self.wanted]
        if not all(map(_is_utf_8, wanted)):
            return _rejected(number, [line], "line_unreadable")
        if self.names[0] in line and [_name(x) for x in fields[:width]] == list(self.names):
            return _rejected(number, [line], "line_repeats_header")
        return Lines(number, [self.delimiter.join(map(_written, wanted))])

    def _holds_rows(self, field: bytes) -> bool:
        """Whether a field has lines that look like rows."""
        lines = (line.split(self.delimiter) for line in field.split(b"\n")[1:])
        return any(
            len(fields) == len(self.names)
            and all(is_number(text_of(fields[i]).strip(' "')) for i in self.numbers)
            for fields in lines
        )


def _rejected(number: int, lines: Sequence[bytes], reason: str, more: int = 0) -> Lines:
    few = [line[:EXCERPT] for line in lines[:FEW]]
    return Lines(number, few, reason, len(lines) - len(few) + more)


def _name(field: bytes) -> bytes:
    return field.removeprefix(BOM).strip()


def _is_utf_8(field: bytes) -> bool:
    try:
        return field.isascii() or bool(field.decode())
    except UnicodeDecodeError:
        return False


def _written(field: bytes) -> bytes:
    if SPECIAL.search(field) is None:
        return field
    return b'"' + field.replace(b'"', b'""') + b'"'
