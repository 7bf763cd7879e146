"""Where rows come from: files in a DuckDB of their own, or a frame that is there already."""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import narwhals as nw

from driftanchor.core.provenance import Source
from driftanchor.logs import cut_files, frame_columns, sandbox
from driftanchor.logs.copies import copies
from driftanchor.logs.file_columns import select
from driftanchor.logs.formats import FORMATS, Place, Scan, Unreadable
from driftanchor.logs.frame_columns import Frame
from driftanchor.logs.log_file import LogFile
from driftanchor.logs.query import LogQuery


@dataclass(frozen=True)
class NumberedRows:
    """Some of the rows, numbered from 1 in the column `row`; `scan` is of their one file."""

    frame: Frame
    scan: Scan | None = None

    @property
    def file(self) -> LogFile | None:
        """The file they are from; `None` for a frame."""
        return self.scan.files[0] if self.scan else None

    def places(self, unreadable: Collection[int]) -> Iterator[Place]:
        """Where their records start, if they are from a text file."""
        if self.scan is not None:
            yield from FORMATS[self.scan.files[0].format].places(self.scan, unreadable)


class FrameSource:
    """Rows of a frame, a relation or a table."""

    unreadable: Sequence[Unreadable] = ()
    total: int | None = None

    def __init__(self, logs: object, query: LogQuery) -> None:
        frame = frame_columns.frame_of(logs)
        library = type(logs).__module__.partition(".")[0].lstrip("_")
        self.name = f"{library} {type(logs).__name__}"
        self.frame = _limited(frame_columns.project(frame, query), query)

    def settled(self, all_used: bool) -> bool:
        """Whether the first pass can be relied on: for a frame it can."""
        return True

    def refuse_cut(self) -> None:
        """Do nothing: a frame is whole."""

    def doubts(self) -> list[str]:
        """Warnings of the source itself: none of a frame."""
        return []

    def parts(self) -> Iterator[NumberedRows]:
        """The rows, numbered; nothing for a table, which has no order."""
        if isinstance(self.frame, nw.DataFrame):
            yield NumberedRows(self.frame.with_row_index("row").with_columns(nw.col("row") + 1))

    def sources(self) -> tuple[Source, ...]:
        """What the provenance says of it."""
        return (Source(self.name),)

    def close(self) -> None:
        """Do nothing: the frame is the caller's."""


class FileSource:
    """Rows of files, read by a DuckDB that sees nothing else."""

    def __init__(self, files: Sequence[LogFile], query: LogQuery) -> None:
        self.files, self.query = files, query
        names = [repr(file.name) for file in files]
        self.name = ", ".join(names) if len(names) <= 3 else f"{names[0]} and {len(names) - 1} more"
        self.format = FORMATS[files[0].format]
        self.hopeful = self.format.reads_numbers
        self._open()

    def _open(self) -> None:
        paths = [file.path for file in self.files]
        self.connection = sandbox.connect(paths, self.query.memory)
        self.scans = self._scans()
        parts = (select(scan, self.query, hopeful=self.hopeful) for scan in self.scans)
        rows = self.connection.sql(" UNION ALL ".join(parts))
        self.frame = _limited(frame_columns.frame_of(rows), self.query)

    def _scans(self) -> list[Scan]:
        """The files, those with the same columns together."""
        alike: dict[object, Scan] = {}
        for file in self.files:
            scan = self.format.scan(self.connection, file, self.query.arm)
            key = (scan.options, tuple(scan.columns.items()))
            known = alike.get(key)
            alike[key] = scan if known is None else replace(known, files=(*known.files, file))
        return list(alike.values())

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
        """The records that were not rows; after the first pass over the rows."""
        return self.format.unreadable(self.connection, self.name)

    @property
    def total(self) -> int | None:
        """How many rows there are, where the files say so themselves."""
        if self.query.max_rows is not None:
            return None
        return self.format.total(self.connection, self.files)

    def refuse_cut(self) -> None:
        """Refuse files that end too early, once all of them were read as far as they go."""
        for file in self.files:
            cut_files.refuse_cut(file)

    def doubts(self) -> list[str]:
        """Warnings of the files themselves, once they are known to be whole."""
        return copies(self.files)

    def parts(self) -> Iterator[NumberedRows]:
        """The rows file by file, numbered."""
        for scan in self.scans:
            for file in scan.files:
                alone = scan.of(file)
                sql = select(alone, self.query, numbered=True)
                yield NumberedRows(frame_columns.frame_of(self.connection.sql(sql)), alone)

    def sources(self) -> tuple[Source, ...]:
        """What the provenance says of them."""
        return tuple(file.source(full_hash=self.query.full_hash) for file in self.files)

    def close(self) -> None:
        """Close the files."""
        self.connection.close()
        with contextlib.suppress(ImportError, AttributeError):
            # narwhals keeps a handle on DuckDB, about which DuckDB 2.0 complains on stderr when
            # Python ends with NumPy loaded.
            importlib.import_module("narwhals._namespace")._builtin_namespace.cache_clear()


LogSource = FrameSource | FileSource


def _limited(frame: Frame, query: LogQuery) -> Frame:
    """The rows, at most one more than allowed: enough to see that there are too many."""
    return frame if query.max_rows is None else frame.head(query.max_rows + 1)
