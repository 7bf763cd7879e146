"""Reads files with a sandboxed DuckDB, and checks that no row is lost."""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from driftanchor.core.provenance import Source
from driftanchor.errors import InvalidInput
from driftanchor.logs import frame_columns
from driftanchor.logs.aggregate import Group, groups
from driftanchor.logs.copies import copies
from driftanchor.logs.database import open_database
from driftanchor.logs.file_columns import select
from driftanchor.logs.formats import FORMATS, Lines, Scan
from driftanchor.logs.frame_columns import Frame
from driftanchor.logs.hopeless import refuse_hopeless
from driftanchor.logs.log_file import LogFile
from driftanchor.logs.memory_guard import MemoryGuard
from driftanchor.logs.query import LogQuery

FINAL = (duckdb.OutOfMemoryException, duckdb.InterruptException)  # trying again would not help


@dataclass(frozen=True)
class NumberedRows:
    """Some of the rows, numbered from 1 in the column `row`.

    Attributes:
        frame: The rows.
        file: The file they are from; `None` for a frame.
        rejected: The first few lines of it that are no rows: number, reason and text.
        lines: Its lines, from the start.
    """

    frame: Frame
    file: LogFile | None = None
    rejected: Sequence[tuple[int, str, bytes]] = ()
    lines: Callable[[], Iterator[Lines]] = lambda: iter(())


class FileSource:
    """The rows of log files.

    DuckDB is fast, but silently drops CSV rows that it finds odd. So the lines are counted first,
    and the number of rows read must match. Up to three methods are tried:

    1. The fastest method, which is right if all rows are usable.
    2. A method that drops no row, whatever its columns hold.
    3. Python splits the lines one by one, and DuckDB reads a copy of the valid ones. A file in
       which a line may not be a record is read this way from the start.

    Attributes:
        name: The name of the files in error messages.
        files: The files, with their copies.
        rejected: The number of lines that are not rows, by reason.
    """

    def __init__(self, files: Sequence[LogFile], query: LogQuery) -> None:
        self.query = query
        names = [repr(file.name) for file in files]
        self.name = ", ".join(names) if len(names) <= 3 else f"{names[0]} and {len(names) - 1} more"
        self.format = FORMATS[files[0].format]
        self.hopeful = True
        self._may_repeat_names = self.format.has_names
        self._sure = False
        self._ends = contextlib.ExitStack()
        database, self.files = open_database(files, query.memory)
        self._ends.callback(database.leave)
        self._copies, self.connection = database.copies, database.connection
        try:
            self._ends.enter_context(MemoryGuard(query.memory, self.connection.interrupt))
            self._rows = self._survey()
            self._copy([file for file in self.files if file.path not in self._rows])
            self._open()
            for file in self.files:
                refuse_hopeless(file, query, self._rows[file.path])
        except BaseException:
            self.close()
            raise

    def _survey(self) -> dict[Path, int]:
        """Return the number of rows of each file, if known without splitting lines."""
        found: dict[Path, int] = {}
        for file in self.files:
            left = self._allowed(found.values())
            survey = self.format.survey(self.connection, file, self.query, left)
            self.hopeful &= survey.quick
            if survey.rows is not None:
                found[file.path] = survey.rows
                self._allowed(found.values())
        return found

    def _allowed(self, seen: Iterable[int]) -> int | None:
        """Return how many more rows are allowed; raise an error if there are too many already."""
        if self.query.max_rows is None:
            return None
        left = self.query.max_rows - sum(seen)
        if left < 0:
            raise too_many_rows(self.name, self.query)
        return left

    def _copy(self, files: Sequence[LogFile]) -> None:
        """Copy the valid lines of files, and have DuckDB read the copies."""
        for file in files:
            self._rows.pop(file.path, None)
            left = self._allowed([*self._rows.values(), self.rejected.total()])
            copied = self._copies.add(file, self.format.lines(file, self.query), left)
            self.files[self.files.index(file)] = copied
            self._rows[file.path] = self._copies.of(file).rows
            self._allowed([*self._rows.values(), self.rejected.total()])

    def _open(self) -> None:
        self.scans = self._scans()
        parts = (select(scan, self.query, hopeful=self.hopeful) for scan in self.scans)
        self.frame = self._frame(" UNION ALL ".join(parts))

    def _frame(self, sql: str) -> Frame:
        return frame_columns.frame_of(self.connection.sql(sql))

    def _scans(self) -> list[Scan]:
        """Return the files, grouped by their columns."""
        alike: dict[object, Scan] = {}
        for file in self.files:
            scan = self.format.scan(self.connection, file, self.query)
            key = (scan.options, tuple(scan.columns.items()))
            known = alike.get(key)
            alike[key] = scan if known is None else replace(known, files=(*known.files, file))
        return list(alike.values())

    def by_file(self) -> Frame:
        """Return the rows with their path in the column `file`; call it after `certain`."""
        scans = (replace(scan, names_files=True) for scan in self.scans)
        parts = (select(scan, self.query, hopeful=self.hopeful) for scan in scans)
        return self._frame(" UNION ALL ".join(parts))

    @property
    def rejected(self) -> Counter[str]:
        """Return the number of lines that are not rows, by reason."""
        return self._copies.rejected

    @property
    def total(self) -> int | None:
        """Return the number of rows, if the files state it."""
        return None if self.format.is_text else sum(self._rows.values())

    def doubts(self) -> list[str]:
        """Return warnings about the files, once all rows are accounted for."""
        return copies(self.files)

    def certain(self, read: Callable[[], list[Group]]) -> list[Group]:
        """Call `read` on the frame, trying one method after another until no row is missing.

        Raises:
            InvalidInput: Rows are missing with every method.
        """
        while True:
            try:
                found = read()
            except FINAL:
                raise
            except duckdb.Error:
                if not self._more_careful():
                    raise
                continue
            if self._adds_up(found, sum(self._rows.values())):
                self._sure = True
                return found
            if not self._more_careful():
                raise InvalidInput(
                    f"{self.name} should have {sum(self._rows.values()):,} rows, and "
                    f"{sum(group.rows for group in found):,} could be read: write it again, or in "
                    "another format"
                )

    def _adds_up(self, found: Sequence[Group], rows: int) -> bool:
        """Return whether all rows were found, and no header line is among them."""
        if sum(group.rows for group in found) != rows:
            return False
        if self.hopeful and any(g.kept != g.used or g.value is None for g in found):
            return False
        if not self._may_repeat_names or all(file.copy for file in self.files):
            return True
        return self.query.arm not in (str(group.value).strip() for group in found)

    def _more_careful(self) -> bool:
        """Switch to the next reading method; return false if there is none."""
        if self.hopeful:
            self.hopeful = False
        else:
            left = [file for file in self.files if file.copy is None and self.format.is_text]
            if not left:
                return False
            lost = [file for file in left if not self._adds_up_alone(file)] if left[1:] else []
            self._copy(lost or left)
            self._may_repeat_names = False  # such a file was copied without its bad lines
        self._open()
        return True

    def _adds_up_alone(self, file: LogFile) -> bool:
        scan = next(scan for scan in self.scans if file in scan.files)
        try:
            found = groups(self._frame(select(scan.of(file), self.query)), self.query)
        except FINAL:
            raise
        except (duckdb.Error, InvalidInput):
            return False
        return self._adds_up(found, self._rows[file.path])

    def parts(self) -> Iterator[NumberedRows]:
        """Return the rows of each file, numbered."""
        if not self._sure:
            self.certain(lambda: groups(self.frame, self.query, self.total))
        for scan in self.scans:
            for file in scan.files:
                rows = self._frame(select(scan.of(file), self.query, numbered=True))
                if not self.format.is_text:
                    yield NumberedRows(rows, file)
                    continue
                lines = functools.partial(self.format.lines, file, self.query)
                yield NumberedRows(rows, file, self._copies.of(file).examples, lines)

    def sources(self) -> tuple[Source, ...]:
        """Describe the files for the provenance."""
        return tuple(file.source(full_hash=self.query.full_hash) for file in self.files)

    def close(self) -> None:
        """Close the files and remove the copies."""
        self._ends.close()
        with contextlib.suppress(ImportError, AttributeError):
            # narwhals keeps a DuckDB handle open, and DuckDB 2.0 complains on stderr when
            # Python ends with NumPy loaded.
            importlib.import_module("narwhals._namespace")._builtin_namespace.cache_clear()


def too_many_rows(name: str, query: LogQuery) -> InvalidInput:
    """The error of logs with more rows than allowed."""
    problem = f"is {query.max_rows:,}, and {name} has more rows"
    return InvalidInput(problem, argument="max_rows")
