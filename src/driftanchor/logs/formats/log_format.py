"""Format: the base class of log file formats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from glob import escape
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from driftanchor.errors import InvalidInput
from driftanchor.logs.log_file import LogFile
from driftanchor.logs.sql import literal
from driftanchor.logs.text_lines import LineReader, LineSurvey

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from driftanchor.logs.query import LogQuery

START = 2**10  # bytes that show whether a file is text
EXCERPT = 200  # bytes of a line that are kept to be shown
FEW = 3  # lines of each reason that are
FILE = "driftanchor log file"  # a column that DuckDB adds
UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # the byte order marks
MOSTLY_NUL = 0.2  # of UTF-16 text about half of the bytes are NUL


@dataclass(frozen=True)
class Column:
    """A column: its name, how SQL gets at it, and its type there; text is VARCHAR.

    The type is `"ambiguous"` where several columns have the name. `given_twice` is, in SQL, whether
    a row has it twice, where rows may.
    """

    name: str
    sql: str
    type: str
    given_twice: str = ""


@dataclass(frozen=True)
class Scan:
    """Files with the same columns, which DuckDB reads together.

    Attributes:
        files: The files.
        function: The table function that reads them.
        options: The other arguments of the function, in SQL.
        columns: The columns by name.
        bad_lines: SQL conditions for unreadable lines, by reason.
        rows: SQL that transforms the rows of the function.
        names_files: Whether rows have the path of their file in the column `FILE`.
    """

    files: tuple[LogFile, ...]
    function: str
    options: str
    columns: Mapping[str, Column]
    bad_lines: Mapping[str, str] = field(default_factory=dict)
    rows: str = "{}"
    names_files: bool = False

    @property
    def sql(self) -> str:
        """Return the FROM clause for the files; paths are escaped, not treated as patterns."""
        names = ", ".join(literal(escape(str(file.read_at))) for file in self.files)
        options = self.options + (f", filename={literal(FILE)}" if self.names_files else "")
        return self.rows.format(f"{self.function}([{names}]{options})")

    def of(self, file: LogFile) -> Scan:
        """Return the scan of one file."""
        return replace(self, files=(file,))


class Survey(NamedTuple):
    """What is known of a file before DuckDB reads it.

    Attributes:
        rows: How many it has; `None` if only its lines one by one tell.
        quick: Whether rows can be read in a quicker way, which is right if all of them can be used.
    """

    rows: int | None
    quick: bool = False


class Lines(NamedTuple):
    """Lines of a text file that follow one another: rows, or rejected for the same reason.

    Attributes:
        number: The number of the first, as an editor shows it.
        texts: What there is to read of each row, in one format for all files; of rejected lines the
            beginnings of the first few.
        reason: Why they are rejected; empty for rows.
        more: How many more lines are rejected.
    """

    number: int
    texts: Sequence[bytes]
    reason: str = ""
    more: int = 0


class Format:
    """A format of log files.

    A new one is a subclass in a file of its own, and an entry of `FORMATS`.
    """

    suffixes: ClassVar[tuple[str, ...]]  # of the names of its files
    is_text: ClassVar[bool] = True
    has_names: ClassVar[bool] = False  # in a line of their own
    longest_line: ClassVar[int] = 2_000_000  # bytes; DuckDB reads no longer ones

    def check_start(self, file: LogFile, start: bytes) -> None:
        """Refuse a text file that DuckDB would misread, by its first bytes."""
        if start.startswith(UTF_16) or start.count(b"\0") > MOSTLY_NUL * len(start):
            raise InvalidInput(
                f"{file.name!r} is UTF-16 or not text: convert it to UTF-8 first, as in "
                "iconv -f UTF-16 -t UTF-8"
            )

    def scan(self, connection: DuckDBPyConnection, file: LogFile, query: LogQuery) -> Scan:
        """How to read a file, or its copy.

        Args:
            connection: Of the sandbox.
            file: The file.
            query: What is asked of it. Columns that it lacks are noticed later.
        """
        raise NotImplementedError

    def survey(
        self, connection: DuckDBPyConnection, file: LogFile, query: LogQuery, most: int | None
    ) -> Survey:
        """Look at a whole file before DuckDB reads it; damage is noticed here.

        Args:
            connection: Of the sandbox.
            file: The file.
            query: What is asked of it.
            most: With more rows than this it does not matter how many there are.
        """
        found = LineSurvey(csv=False)
        self.look(file, found, most)
        return Survey(self.rows_of(found))

    def rows_of(self, found: LineSurvey) -> int | None:
        """How many rows there are if each line that is not empty is one."""
        plain = "\r" not in found.ends and found.longest <= self.longest_line
        return found.lines if plain else None

    def lines(self, file: LogFile, query: LogQuery) -> Iterator[Lines]:
        """The lines of a text file that are not empty; here each is a row."""
        reader = LineReader(self.pieces(file), self.longest_line)
        while block := reader.at_hand():
            for number, line in enumerate(block, start=reader.number):
                if len(line) > self.longest_line:
                    yield Lines(number, [line[:EXCERPT]], "line_too_long")
                elif line and not line.isspace():
                    yield Lines(number, [line])
            reader.take_all()

    def numbers(self, file: LogFile, query: LogQuery) -> Iterator[Mapping[str, str]]:
        """The texts of what should be numbers, by role and row by row, where that is quick."""
        return iter(())

    def pieces(self, file: LogFile) -> Iterator[bytes]:
        """The bytes of a text file, unpacked; what is not text is refused."""
        checked = False
        for piece in file.pieces():
            if not checked:
                self.check_start(file, piece[:START])
                checked = True
            if b"\0" in piece:
                raise _nul(file)
            yield piece

    def look(self, file: LogFile, found: LineSurvey, most: int | None) -> None:
        """Survey all lines, or the first ones if there are more than `most`."""
        for piece in self.pieces(file):
            found.add(piece)
            if most is not None and found.lines > most:
                return
        found.end()


def _nul(file: LogFile) -> InvalidInput:
    line = 1
    for piece in file.pieces():
        before, nul, _ = piece.partition(b"\0")
        line += before.count(b"\n")
        if nul:
            break
    return InvalidInput(
        f"{file.name!r} has a NUL byte on line {line}, so it is not plain text: if it is text "
        r"otherwise, remove them, as in tr -d '\000'"
    )
