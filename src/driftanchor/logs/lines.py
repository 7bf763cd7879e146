"""On which line of a text file a row stands.

DuckDB numbers the rows it could read, and for those it could not the records: the line of column
names is record 1, an empty line is a record, and so is one with line breaks inside quotes. People
count lines, so the file is walked once more, only as far as needed.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator
from typing import NamedTuple

from driftanchor.logs.paths import LogFile


class Place(NamedTuple):
    """Where a record starts; its number as a row is 0 if it is none."""

    line: int
    record: int
    row: int


def places(file: LogFile, delimiter: str, unreadable: Collection[int]) -> Iterator[Place]:
    """The places of a file's records, in order; none if Python cannot unpack the file.

    Args:
        file: CSV or JSON lines.
        delimiter: Of CSV.
        unreadable: The numbers of the records that DuckDB could not read.
    """
    opened = file.open()
    if opened is None:
        return
    with io.TextIOWrapper(opened, encoding="utf-8-sig", errors="replace", newline="") as text:
        if file.format == "jsonl":
            yield from _filled(text)
            return
        reader = csv.reader(text, delimiter=delimiter)
        line, row = 1, 0
        for record, fields in enumerate(_until_refused(reader), start=1):
            is_row = record > 1 and bool(fields) and record not in unreadable
            row += is_row
            yield Place(line, record, row if is_row else 0)
            line = reader.line_num + 1


def _filled(text: io.TextIOWrapper) -> Iterator[Place]:
    row = 0
    for line, content in enumerate(text, start=1):
        if content.strip():
            row += 1
            yield Place(line, line, row)


def _until_refused(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    """What Python refuses to read on, such as a field of megabytes, ends the walk."""
    try:
        yield from reader
    except csv.Error:
        return
