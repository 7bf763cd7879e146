"""`read_logs`: validate log rows, aggregate them by arm, and account for every row."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Unpack

from driftanchor.core.arms import Arms
from driftanchor.core.log_options import LogOptions
from driftanchor.core.offline import OfflineData
from driftanchor.core.provenance import Provenance
from driftanchor.errors import InvalidInput, UnknownName, require
from driftanchor.logs import log_files
from driftanchor.logs.query import CALENDAR, LogQuery
from driftanchor.logs.times import shown_time

if TYPE_CHECKING:
    from driftanchor.logs.log_summary import LogSummary
    from driftanchor.logs.row_account import RowAccount
    from driftanchor.logs.sources import LogSource


def read_logs(logs: object, *, by: str | None = None, **options: Unpack[LogOptions]) -> LogSummary:
    """Read logs as `OfflineData.from_logs` does, and return the full summary.

    Args:
        logs: Files, a frame or a table.
        by: The periods or column to compare arms within, as for `OfflineData.from_logs`.
        **options: The columns, filters and limits: see `LogOptions`.

    Raises:
        InvalidInput: A file, column or option that cannot be used.
        RejectedRows: More than 1 % of the rows cannot be used.

    Example:
        >>> import pyarrow
        >>> views = pyarrow.table({"page": ["a", "b"], "views": [900, 1000], "clicks": [9, 21]})
        >>> summary = read_logs(views, arm="page", count="views", total="clicks")
        >>> {label: (arm.n, arm.mean) for label, arm in summary.arms.items()}
        {'a': (900, 0.01), 'b': (1000, 0.021)}
    """
    query = LogQuery(within=by, **options)
    require("narwhals", extra="logs", why="reading logs")
    with naming_periods(by), open_source(logs, query) as rows:
        summary = _summary(rows, query)
    for warning in summary.warnings:
        warnings.warn(warning, stacklevel=2)
    return summary


@contextlib.contextmanager
def naming_periods(by: str | None) -> Iterator[None]:
    """Explain in the error that `by` needs `time` if it names a calendar period, not a column."""
    try:
        yield
    except UnknownName as error:
        if error.argument == "by" and by in CALENDAR:
            raise InvalidInput(
                f"is {by!r}, and there is neither time nor a column of that name: name the column "
                "of the times",
                argument="by",
            ) from error
        raise


@contextlib.contextmanager
def open_source(logs: object, query: LogQuery) -> Iterator[LogSource]:
    """The source of the rows; it is closed at the end of the block."""
    one = isinstance(logs, str | os.PathLike)
    if not one and not (
        isinstance(logs, list | tuple) and all(isinstance(x, str | os.PathLike) for x in logs)
    ):
        from driftanchor.logs.sources import FrameSource

        yield FrameSource(logs, query)
        return
    named: Any = [logs] if one else logs
    files = log_files.find(named, root=query.root, format=query.format)
    require("duckdb", extra="logs", why="reading log files")
    from driftanchor.logs.sandbox import naming_logs
    from driftanchor.logs.sources import FileSource

    with naming_logs(files, query.memory):
        rows = FileSource(files, query)
        try:
            yield rows
        finally:
            rows.close()


def _summary(rows: LogSource, query: LogQuery) -> LogSummary:
    from driftanchor.core.stats.intervals import mean_interval
    from driftanchor.logs.log_summary import ArmSummary, LogSummary, oddities
    from driftanchor.logs.row_account import account
    from driftanchor.logs.strata import compare

    accounted = account(rows, query)
    groups = {label: group for (_, label), group in accounted.cells.items()}
    compared = compare(rows, query, groups)
    arms = {}
    for label, group in groups.items():
        numbers = compared.arms[label]
        arms[label] = ArmSummary(*numbers, mean_interval(*numbers), group.first, group.last)
    provenance = provenance_of(rows, query, accounted)
    provenance = replace(provenance, strata=compared.strata)
    offline = OfflineData(
        Arms(arms),
        [arm.n for arm in arms.values()],
        [arm.mean for arm in arms.values()],
        [arm.variance for arm in arms.values()],
        ", ".join(source.name for source in provenance.sources),
        provenance,
        [group.smallest for group in accounted.cells.values()],
        [group.largest for group in accounted.cells.values()],
    )
    warned = (*accounted.doubts, *compared.warnings, *oddities(arms))
    return LogSummary(offline, provenance, arms, accounted.examples, warned)


def provenance_of(rows: LogSource, query: LogQuery, accounted: RowAccount) -> Provenance:
    """Record how the rows were read."""
    columns = {r: c for r, c in query.columns.items() if not r.startswith("where ")}
    columns.pop("within", None)
    by = query.by or query.within
    if by is not None:
        columns["by"] = by
    return Provenance(
        sources=rows.sources(),
        columns=tuple(columns.items()),
        filters=tuple(query.filters.items()),
        rows_read=accounted.read,
        rows_filtered=accounted.read - accounted.kept,
        rows_rejected=tuple(accounted.rejected.items()),
        read_at=shown_time(datetime.now(UTC).replace(microsecond=0)),
    )
