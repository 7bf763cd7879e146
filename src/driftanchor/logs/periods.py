"""`read_periods`: aggregate log rows by arm and period."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

from driftanchor.core.arms import Arms
from driftanchor.core.log_options import LogOptions
from driftanchor.core.offline import OfflineData
from driftanchor.core.provenance import Provenance
from driftanchor.errors import require
from driftanchor.logs import labels
from driftanchor.logs.query import LogQuery
from driftanchor.logs.read import naming_periods, open_source, provenance_of

if TYPE_CHECKING:
    from driftanchor.logs.aggregate import Group
    from driftanchor.logs.rejects import Example


@dataclass(frozen=True, eq=False)
class Periods(Mapping[str, OfflineData]):
    """Offline data by period, in order; all have the same arms.

    Attributes:
        by: What the periods are: day, week, month, or a column.
        periods: The data by label.
        provenance: How all of them were read, with the numbers of rows.
        examples: The first few rows that cannot be used.
    """

    by: str
    periods: Mapping[str, OfflineData]
    provenance: Provenance
    examples: tuple[Example, ...]

    def __getitem__(self, label: str) -> OfflineData:
        return self.periods[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self.periods)

    def __len__(self) -> int:
        return len(self.periods)


def read_periods(logs: object, *, by: str, **options: Unpack[LogOptions]) -> Periods:
    """Read logs as `read_logs` does, period by period, in one GROUP BY.

    Args:
        logs: Files, a frame or a table.
        by: `"day"`, `"week"` (ISO) or `"month"` of the column `time`, in UTC; or the name of a
            column, such as country or test. Without `time` it is always a column.
        **options: The columns, filters and limits: see `LogOptions`.

    Raises:
        InvalidInput: A file, column or option that cannot be used.
        RejectedRows: More than 1 % of the rows cannot be used.

    Example:
        >>> import pyarrow
        >>> days = ["2026-01-01", "2026-01-09", "2026-01-02", "2026-01-09"]
        >>> at = pyarrow.array(days).cast(pyarrow.timestamp("s"))
        >>> logs = pyarrow.table({"page": ["a", "a", "b", "b"], "won": [1, 0, 0, 0], "at": at})
        >>> periods = read_periods(logs, by="week", arm="page", reward="won", time="at")
        >>> {label: offline.mean.tolist() for label, offline in periods.items()}
        {'2026-W01': [1.0, 0.0], '2026-W02': [0.0, 0.0]}
    """
    query = LogQuery(by=by, **options)
    require("narwhals", extra="logs", why="reading logs")
    from driftanchor.logs.row_account import account

    with naming_periods(by), open_source(logs, query) as rows:
        accounted = account(rows, query)
        how = provenance_of(rows, query, accounted)
    source = ", ".join(source.name for source in how.sources)
    arms = Arms(dict.fromkeys(arm for _, arm in accounted.cells))
    cells = {(p, arm): group for (p, arm), group in accounted.cells.items() if p and group.used}
    for doubt in accounted.doubts:
        warnings.warn(doubt, stacklevel=2)
    if len(arms) == 1:
        warnings.warn(
            f"the logs have one arm only, {arms[0]!r}: there is nothing to choose", stacklevel=2
        )
    periods = {
        period: _offline(arms, [cells.get((period, arm)) for arm in arms], f"{source}, {period}")
        for period in labels.in_order({period for period, _ in cells})
    }
    return Periods(by, periods, how, accounted.examples)


def _offline(arms: Arms, groups: list[Group | None], source: str) -> OfflineData:
    n = [group.n if group else 0 for group in groups]
    mean = [group.mean if group else None for group in groups]
    variance = [group.variance if group else None for group in groups]
    return OfflineData(arms, n, mean, variance, source)
