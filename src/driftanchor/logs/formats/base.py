"""What a format of log files is: a class with what is special about it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from driftanchor.errors import InvalidInput
from driftanchor.logs.log_file import LogFile
from driftanchor.logs.sql import literal

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

START = 2**10  # bytes that are looked at before DuckDB reads a file, and the rest of line 1
LONGEST_LINE = 2**21  # bytes; DuckDB reads no longer ones
UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # the byte order marks
MOSTLY_NUL = 0.2  # of UTF-16 text about half of the bytes are NUL


@dataclass(frozen=True)
class Column:
    """A column: its name, how SQL gets at it, and its type there; text is VARCHAR.

    The type is `"ambiguous"` where several columns have the name.
    """

    name: str
    sql: str
    type: str


@dataclass(frozen=True)
class Scan:
    """Files with the same columns, as DuckDB reads them together.

    Attributes:
        files: The files.
        function: The table function that reads them.
        options: Its other arguments, in SQL.
        columns: The columns by name.
        readable: In SQL, whether a row could be read at all; empty where all rows can.
        delimiter: Between the columns of CSV.
    """

    files: tuple[LogFile, ...]
    function: str
    options: str
    columns: Mapping[str, Column]
    readable: str = ""
    delimiter: str = ""

    @property
    def sql(self) -> str:
        """The files in a FROM clause."""
        names = ", ".join(literal(str(file.path)) for file in self.files)
        return f"{self.function}([{names}]{self.options})"

    def of(self, file: LogFile) -> Scan:
        """The scan of one of the files."""
        return replace(self, files=(file,))


class Place(NamedTuple):
    """Where a record of a text file starts.

    Attributes:
        line: The number of the line, as an editor shows it.
        record: The number of the record, as DuckDB counts those it cannot read.
        row: The number of the row; 0 if the record is none.
    """

    line: int
    record: int
    row: int


@dataclass(frozen=True)
class Unreadable:
    """A record that could not even be split into columns."""

    path: str
    record: int
    reason: str
    text: str


class Format:
    """A format of log files.

    A new one is a subclass in a file of its own, and an entry of `FORMATS`.
    """

    suffixes: ClassVar[tuple[str, ...]]  # of the names of its files
    is_text: ClassVar[bool] = True
    reads_numbers: ClassVar[bool] = False  # DuckDB may read text as numbers while it splits lines

    def check_start(self, file: LogFile, start: bytes) -> None:
        """Refuse a file that DuckDB would misread, by its first bytes."""
        if not self.is_text:
            return
        if start.startswith(UTF_16) or start.count(b"\0") > MOSTLY_NUL * len(start):
            raise InvalidInput(
                f"{file.name!r} is UTF-16 or not text: convert it to UTF-8 first, as in "
                "iconv -f UTF-16 -t UTF-8"
            )
        if b"\0" in start:
            line = start.partition(b"\0")[0].count(b"\n") + 1
            raise InvalidInput(
                f"{file.name!r} has a NUL byte on line {line}, so it is not plain text: if it is "
                r"text otherwise, remove them, as in tr -d '\000'"
            )

    def scan(self, connection: DuckDBPyConnection, file: LogFile, arm: str) -> Scan:
        """How to read a file.

        Args:
            connection: Of the sandbox.
            file: The file.
            arm: The column of the arms, which must be there.
        """
        raise NotImplementedError

    def places(self, scan: Scan, unreadable: Collection[int]) -> Iterator[Place]:
        """Where the records of a scan's one file start, in order; nothing if lines mean nothing.

        Args:
            scan: The scan of one file.
            unreadable: The numbers of the records that DuckDB could not read.
        """
        return iter(())

    def unreadable(self, connection: DuckDBPyConnection, name: str) -> Sequence[Unreadable]:
        """The records that were not rows, after the rows were read once.

        Args:
            connection: Of the sandbox.
            name: What errors call the files.
        """
        return ()

    def total(self, connection: DuckDBPyConnection, files: Sequence[LogFile]) -> int | None:
        """How many rows there are, where that costs nothing to know."""
        return None
