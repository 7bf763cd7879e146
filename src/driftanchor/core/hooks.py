"""What a higher layer lends to the core, so that the core imports no higher layer.

The package fills this in when it is imported (see `driftanchor/__init__.py`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import date
from typing import TYPE_CHECKING, Protocol, Required, TypedDict, Unpack

if TYPE_CHECKING:
    from driftanchor.core.offline import OfflineData


class LogOptions(TypedDict, total=False):
    """What `OfflineData.from_logs` and `read_logs` take by name.

    Columns:
        arm: The arm of a row. Needed.
        reward: Its reward, when a row is one event.
        count, total: How many events a row stands for and the sum of their rewards, or
        count, mean, variance: how many, and the mean and sample variance of their rewards.
        time: When it happened: dates, timestamps, ISO text, or seconds since 1970 (or ms, µs, ns).

    Filters:
        where: Rows to keep, such as `"country = 'DE' and age >= 18"`.
        since, until: Keep rows at or after `since` and before `until`, in UTC unless they say
            otherwise; needs `time`.
        arms: Labels to keep, in the order wanted.
        reward_range: Lowest and highest reward possible; rows outside are rejected.

    Limits:
        max_rows: Refuse logs with more rows than this.
        allow_rejects: Go on when more than 1 % of the rows cannot be used.
        allow_growth: Go on when counts only grow with time, as running totals do.
        root: Refuse files outside this folder.
        format: `"csv"`, `"parquet"` or `"jsonl"`, when the names of the files do not say.
        memory: What DuckDB may use, such as `"400MB"`.
        full_hash: Hash large files whole and not by samples.
    """

    arm: Required[str]
    reward: str | None
    count: str | None
    total: str | None
    mean: str | None
    variance: str | None
    time: str | None
    where: str | None
    since: str | date | None
    until: str | date | None
    arms: Iterable[str] | None
    reward_range: tuple[float, float] | None
    max_rows: int | None
    allow_rejects: bool
    allow_growth: bool
    root: str | os.PathLike[str] | None
    format: str | None
    memory: str
    full_hash: bool


class ReadsLogs(Protocol):
    """Rows of logs as offline data."""

    def __call__(self, logs: object, **options: Unpack[LogOptions]) -> OfflineData:
        """Read them."""


offline_from_logs: ReadsLogs
