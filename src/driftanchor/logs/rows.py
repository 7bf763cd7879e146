"""Rows of any source: of files in a DuckDB of their own, or of a frame that is there already."""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import narwhals as nw

from driftanchor.core.provenance import Source
from driftanchor.errors import InvalidInput
from driftanchor.logs import frames, sandbox
from driftanchor.logs.frames import Frame
from driftanchor.logs.lines import Place, places
from driftanchor.logs.paths import LogFile
from driftanchor.logs.projection import select
from driftanchor.logs.query import LogQuery
from driftanchor.logs.tables import MOST_UNREADABLE, Table, tables

RAGGED = ("MISSING COLUMNS", "TOO MANY COLUMNS")


@dataclass(frozen=True)
class Unreadable:
    """A record that could not even be split into columns."""

    path: str
    record: int
    reason: str
    text: str


@dataclass(frozen=True)
class Part:
    """Some of the rows, numbered from 1 in the column `row`; `file` is none for a frame."""

    frame: Frame
    file: LogFile | None = None
    delimiter: str = ""

    def places(self, unreadable: Collection[int]) -> Iterator[Place]:
        """Where its records stand, if it is a text file."""
        if self.file is not None and self.file.format != "parquet":
            yield from places(self.file, self.delimiter, unreadable)


class FrameRows:
    """Rows of a frame, a relation or a table."""

    unreadable: Sequence[Unreadable] = ()
    total: int | None = None

    def __init__(self, logs: object, query: LogQuery) -> None:
        frame = frames.frame_of(logs)
        library = type(logs).__module__.partition(".")[0].lstrip("_")
        self.name = f"{library} {type(logs).__name__}"
        self.frame = _limited(frames.project(frame, query), query)

    def settled(self, all_used: bool) -> bool:
        """Whether the first pass can be relied on: of a frame it can."""
        return True

    def parts(self) -> Iterator[Part]:
        """The rows, numbered; nothing for a table, which has no order."""
        if isinstance(self.frame, nw.DataFrame):
            yield Part(self.frame.with_row_index("row").with_columns(nw.col("row") + 1))

    def sources(self) -> tuple[Source, ...]:
        """What to remember of it."""
        return (Source(self.name),)

    def close(self) -> None:
        """Nothing: the frame is the caller's."""


class FileRows:
    """Rows of files, read by a DuckDB that sees nothing else."""

    def __init__(self, files: Sequence[LogFile], query: LogQuery) -> None:
        self.files, self.query = files, query
        names = [repr(file.name) for file in files]
        self.name = ", ".join(names) if len(names) <= 3 else f"{names[0]} and {len(names) - 1} more"
        self.hopeful = files[0].format == "csv"
        self._open()

    def _open(self) -> None:
        paths = [file.path for file in self.files]
        self.connection = sandbox.connect(paths, self.query.memory)
        self.tables: list[Table] = tables(self.connection, self.files, self.query.arm)
        parts = (select(table, self.query, hopeful=self.hopeful) for table in self.tables)
        rows = self.connection.sql(" UNION ALL ".join(parts))
        self.frame = _limited(frames.frame_of(rows), self.query)

    def settled(self, all_used: bool) -> bool:
        """Whether the first pass can be relied on; if not, the rows are there for another one.

        Args:
            all_used: Whether all rows that it saw could be used.
        """
        unread = "SELECT 1 FROM reject_errors WHERE error_type = 'CAST' LIMIT 1"
        if not self.hopeful or (all_used and not self.connection.execute(unread).fetchall()):
            return True
        self.hopeful = False
        self.connection.close()
        self._open()
        return False

    @functools.cached_property
    def unreadable(self) -> Sequence[Unreadable]:
        """The records of CSV files that were no rows; after the first pass over the rows."""
        if self.files[0].format != "csv":
            return ()
        found = self.connection.execute(
            "SELECT file_path, line, min(error_type), min(csv_line)[:200] FROM reject_errors "
            "JOIN reject_scans USING (scan_id, file_id) GROUP BY file_path, line ORDER BY 1, 2"
        ).fetchall()
        if len(found) >= MOST_UNREADABLE:
            raise InvalidInput(
                f"{self.name} has {MOST_UNREADABLE:,} or more lines that cannot be split into "
                "columns: is it CSV?"
            )
        return [
            Unreadable(path, line, "line_ragged" if kind in RAGGED else "line_unreadable", text)
            for path, line, kind, text in found
        ]

    @property
    def total(self) -> int | None:
        """How many rows there are, where the files say so themselves."""
        if self.files[0].format != "parquet" or self.query.max_rows is not None:
            return None
        names = ", ".join(sandbox.literal(str(file.path)) for file in self.files)
        counts = self.connection.execute(
            f"SELECT sum(num_rows) FROM parquet_file_metadata([{names}])"
        ).fetchall()
        return int(counts[0][0])

    def parts(self) -> Iterator[Part]:
        """The rows file by file, numbered."""
        for table in self.tables:
            for file in table.files:
                sql = select(table.of(file), self.query, numbered=True)
                frame = frames.frame_of(self.connection.sql(sql))
                yield Part(frame, file, table.delimiter)

    def sources(self) -> tuple[Source, ...]:
        """What to remember of them."""
        return tuple(file.source(full_hash=self.query.full_hash) for file in self.files)

    def close(self) -> None:
        """Let go of the files."""
        self.connection.close()
        with contextlib.suppress(ImportError, AttributeError):
            # narwhals keeps a handle on DuckDB, about which DuckDB 2.0 complains on stderr when
            # Python ends with NumPy loaded.
            importlib.import_module("narwhals._namespace")._builtin_namespace.cache_clear()


Rows = FrameRows | FileRows


def _limited(frame: Frame, query: LogQuery) -> Frame:
    """The rows, at most one more than allowed: enough to see that there are too many."""
    return frame if query.max_rows is None else frame.head(query.max_rows + 1)
