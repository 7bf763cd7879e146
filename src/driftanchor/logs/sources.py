"""Where rows come from: files in a DuckDB of their own, or a frame that is there already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import narwhals as nw

from driftanchor.core.provenance import Source
from driftanchor.logs import frame_columns
from driftanchor.logs.aggregate import Group
from driftanchor.logs.file_source import FileSource, NumberedRows
from driftanchor.logs.query import LogQuery

__all__ = ["FileSource", "FrameSource", "LogSource", "NumberedRows"]


class FrameSource:
    """Rows of a frame, a relation or a table."""

    total: int | None = None

    def __init__(self, logs: object, query: LogQuery) -> None:
        self.rejected = Counter[str]()  # there are no lines that could be none
        frame = frame_columns.frame_of(logs)
        library = type(logs).__module__.partition(".")[0].lstrip("_")
        self.name = f"{library} {type(logs).__name__}"
        self.frame = frame_columns.project(frame, query)
        if query.max_rows is not None:  # one more is enough to see that there are too many
            self.frame = self.frame.head(query.max_rows + 1)

    def certain(self, read: Callable[[], list[Group]]) -> list[Group]:
        """What `read` finds: a frame has all its rows."""
        return read()

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


LogSource = FrameSource | FileSource
