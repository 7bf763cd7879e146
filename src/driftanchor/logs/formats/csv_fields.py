"""The fields of CSV: quotes, and where they open and close.

A quote opens at the start of a field, perhaps after blanks, and closes before a delimiter or the
end of the line, perhaps before blanks; elsewhere it is a character like any other. Two quotes
between quotes stand for one.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable

OPENING = re.compile(rb' *"')
CLOSING = re.compile(rb'([^"]*(?:""[^"]*)*)"(?!") *')  # what is left of a quoted field, and blanks


class OpenRecord:
    """A record while its lines are split into fields.

    Attributes:
        fields: Those that are complete.
        broken: Whether a quote closed where it must not.
    """

    def __init__(self, delimiter: bytes) -> None:
        self.fields: list[bytes] = []
        self.broken = False
        self._delimiter = delimiter
        self._quoted: list[bytes] | None = None  # the lines of a field that is not closed yet

    @property
    def open(self) -> bool:
        """Whether the next line belongs to it too."""
        return self._quoted is not None and not self.broken

    def add(self, line: bytes) -> None:
        """Split the next line."""
        if self._quoted is not None and b'"' not in line:
            self._quoted.append(line)
            return
        start: int | None = 0
        while start is not None:
            start = self._plain(line, start) if self._quoted is None else self._rest(line, start)

    def forget(self) -> None:
        """Drop what was read: only where the record ends matters any more."""
        self.fields = []
        if self._quoted is not None:
            self._quoted = []

    def _plain(self, line: bytes, start: int) -> int | None:
        opening = OPENING.match(line, start)
        if opening is not None:
            self._quoted = []
            return opening.end()
        end = line.find(self._delimiter, start)
        self.fields.append(line[start:] if end < 0 else line[start:end])
        return None if end < 0 else end + 1

    def _rest(self, line: bytes, start: int) -> int | None:
        """Read on between quotes."""
        parts = self._quoted or []
        closing = CLOSING.match(line, start)
        parts.append((line[start:] if closing is None else closing[1]).replace(b'""', b'"'))
        self._quoted = parts
        if closing is None:
            return None
        self.fields.append(b"\n".join(parts))
        self._quoted = None
        if closing.end() == len(line):
            return None
        self.broken = not line.startswith(self._delimiter, closing.end())
        return None if self.broken else closing.end() + 1


def split(lines: Iterable[bytes], delimiter: bytes) -> list[bytes] | None:
    """The fields of the first record; `None` if its quotes are wrong.

    Example:
        >>> split([b'A, "1,5" ,5" nails', b"B"], b",")
        [b'A', b'1,5', b'5" nails']
        >>> split([b'A,"1'], b",")
    """
    record = OpenRecord(delimiter)
    for line in lines:
        record.add(line)
        if not record.open:
            return None if record.broken else record.fields
    return None


class WholeLines:
    """Splits lines with Python's own reader of CSV, which is quick, where it means the same."""

    def __init__(self, delimiter: bytes) -> None:
        self._line: str | None = None
        self._fields = csv.reader(self, delimiter=delimiter.decode(), strict=True)

    def __iter__(self) -> WholeLines:
        return self

    def __next__(self) -> str:
        line, self._line = self._line, None
        if line is None:
            raise StopIteration
        return line

    def split(self, line: bytes) -> list[bytes] | None:
        """The fields of a line; `None` if it needs a closer look."""
        if b' "' in line or b'" ' in line:
            return None
        self._line = line.decode("latin-1")
        try:
            return [field.encode("latin-1") for field in next(self._fields)]
        except csv.Error:  # open or broken quotes, or a field that is too long for it
            return None


def is_number(text: str) -> bool:
    """Whether a text is a number, or one of the words that stand for one.

    Example:
        >>> [is_number(text) for text in ("1e3", "nan", "TRUE", "", "one")]
        [True, True, True, False, False]
    """
    try:
        float(text)
    except ValueError:
        return text.lower() in ("true", "false")
    return True


def text_of(field: bytes) -> str:
    """A field as text, whatever its bytes."""
    return field.decode(errors="replace")
