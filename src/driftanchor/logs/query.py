"""LogQuery: the validated columns, filters and limits for reading logs."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal

from driftanchor.core import check
from driftanchor.core.arms import Arms
from driftanchor.errors import InvalidInput, shown
from driftanchor.logs import where as filters
from driftanchor.logs.formats import FORMATS
from driftanchor.logs.times import bound, shown_time

Shape = Literal["events", "totals", "moments"]
NUMBERS: dict[Shape, tuple[str, ...]] = {
    "events": ("reward",),
    "totals": ("count", "total"),
    "moments": ("count", "mean", "variance"),
}
LARGEST = sys.float_info.max
COLUMNS = ("arm", "reward", "count", "total", "mean", "variance", "time")
CALENDAR = ("day", "week", "month")
FLAGS = ("allow_rejects", "allow_growth", "full_hash")


class NothingKept(InvalidInput):
    """Logs of which the filters keep no row."""


def argument_of(role: str) -> str:
    """Return the option that names a role's column; `where` may name several columns."""
    if role == "within":
        return "by"
    return "where" if role.startswith("where ") else role


@dataclass(frozen=True, kw_only=True)
class LogQuery:
    """The options for reading logs; `core.log_options.LogOptions` explains them.

    `by` is the `by` of `read_periods`: rows are grouped by it and by arm. `within` is the `by` of
    `read_logs`: arms are compared within it. Rows without a value for `within` are still used.

    Example:
        >>> LogQuery(arm="variant", count="views", total="clicks").numbers
        {'count': 'views', 'total': 'clicks'}
    """

    arm: str
    reward: str | None = None
    count: str | None = None
    total: str | None = None
    mean: str | None = None
    variance: str | None = None
    time: str | None = None
    where: str | None = None
    since: str | date | None = None
    until: str | date | None = None
    arms: Iterable[str] | None = None
    reward_range: tuple[float, float] | None = None
    max_rows: int | None = None
    allow_rejects: bool = False
    allow_growth: bool = False
    root: str | os.PathLike[str] | None = None
    format: str | None = None
    memory: str = "400MB"
    full_hash: bool = False
    by: str | None = None
    within: str | None = None
    shape: Shape = field(init=False)
    condition: filters.Condition | None = field(init=False)

    def __post_init__(self) -> None:
        for role in (*COLUMNS, "by", "within"):
            column = getattr(self, role)
            if column is not None and (not isinstance(column, str) or not column):
                raise InvalidInput(
                    f"must name a column, got {shown(column)}", argument=argument_of(role)
                )
        if self.arm is None:
            raise InvalidInput("is missing: name the column of the arms", argument="arm")
        since, until = bound(self.since, "since"), bound(self.until, "until")
        if (since or until) and self.time is None:
            raise InvalidInput(
                "needs time: name the column of the times", argument="since" if since else "until"
            )
        if since and until and since >= until:
            raise InvalidInput(f"must be before until, got {since} and {until}", argument="since")
        if self.max_rows is not None:
            check.whole(self.max_rows, "max_rows", low=1)
        if self.format is not None:
            check.choice(self.format, "format", list(FORMATS))
        if not re.fullmatch(r"[1-9][0-9]*(\.[0-9]+)? ?[KMGT]i?B", str(self.memory)):
            raise InvalidInput(
                f"must be text such as '400MB', got {shown(self.memory)}", argument="memory"
            )
        for flag in FLAGS:
            object.__setattr__(self, flag, check.flag(getattr(self, flag), flag))
        self._check_root()
        if self.reward_range is not None:
            pair = check.rising_pair(self.reward_range, "reward_range")
            object.__setattr__(self, "reward_range", pair)
        if self.arms is not None:
            object.__setattr__(self, "arms", tuple(Arms(self.arms)))
        object.__setattr__(self, "since", since)
        object.__setattr__(self, "until", until)
        object.__setattr__(self, "shape", self._find_shape())
        condition = None if self.where is None else filters.parse(self.where)
        object.__setattr__(self, "condition", condition)

    def _check_root(self) -> None:
        root = self.root
        path = os.fspath(root) if isinstance(root, str | os.PathLike) else root
        if root is not None and (not isinstance(path, str) or not path or "\0" in path):
            raise InvalidInput(f"must name a folder, got {shown(root)}", argument="root")

    def _find_shape(self) -> Shape:
        """Check that rows are either single events or summaries, not a mix."""
        given = {role for role in COLUMNS[1:-1] if getattr(self, role) is not None}
        if given == {"reward"}:
            return "events"
        if given == {"count", "total"}:
            return "totals"
        if given in ({"count", "mean"}, {"count", "mean", "variance"}):
            return "moments"
        raise InvalidInput(
            "name the column of reward, or those of count and total, or of count, mean and "
            f"variance; got {', '.join(sorted(given)) or 'none of them'}"
        )

    @property
    def numbers(self) -> dict[str, str]:
        """Return the numeric columns by role, in the order of the checks."""
        roles = {role: getattr(self, role) for role in NUMBERS[self.shape]}
        return {role: column for role, column in roles.items() if column is not None}

    @property
    def may_be_coins(self) -> bool:
        """Return whether totals may be sums of 0/1 rewards."""
        return self.shape == "totals" and self.reward_range in (None, (0, 1))

    @property
    def calendar(self) -> str | None:
        """Return `by` if it is a calendar period, not a column."""
        return self._calendar(self.by)

    @property
    def within_calendar(self) -> str | None:
        """Return `within` if it is a calendar period, not a column."""
        return self._calendar(self.within)

    def _calendar(self, by: str | None) -> str | None:
        return by if by in CALENDAR and self.time is not None else None

    @property
    def where_kinds(self) -> dict[str, filters.Kind]:
        """Return the columns of `where` and the values to compare them with."""
        return {} if self.condition is None else filters.kinds(self.condition)

    @property
    def columns(self) -> dict[str, str]:
        """Return all columns to read, by role; columns in `where` get the roles `where 1`, …."""
        roles = {"arm": self.arm, **self.numbers}
        if self.time is not None:
            roles["time"] = self.time
        if self.by is not None and self.calendar is None:
            roles["by"] = self.by
        if self.within is not None and self.within_calendar is None:
            roles["within"] = self.within
        extra = {f"where {i}": column for i, column in enumerate(self.where_kinds, start=1)}
        return roles | extra

    @property
    def span(self) -> tuple[datetime | None, datetime | None]:
        """Return `since` and `until` in UTC."""
        return bound(self.since, "since"), bound(self.until, "until")

    @property
    def limits(self) -> tuple[float, float]:
        """Return the lowest and highest accepted reward, both finite."""
        low, high = self.reward_range or (-LARGEST, LARGEST)
        return max(low, -LARGEST), min(high, LARGEST)

    @property
    def filters(self) -> dict[str, str]:
        """Return the filters as text for the provenance."""
        since, until = self.span
        given = {
            "where": self.where,
            "since": since and shown_time(since),
            "until": until and shown_time(until),
            "arms": ", ".join(self.arms or ()),
            "reward_range": self.reward_range and "{!r} to {!r}".format(*self.reward_range),
        }
        return {name: text for name, text in given.items() if text}
