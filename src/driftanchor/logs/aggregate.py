"""One GROUP BY over the rows, in whatever library holds them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import narwhals as nw

from driftanchor.errors import InvalidInput
from driftanchor.logs import calendar, labels, row_rules
from driftanchor.logs.frame_columns import Frame
from driftanchor.logs.query import LogQuery
from driftanchor.logs.times import from_seconds, in_utc

MOST_ARMS = 100_000  # more different values are no arms
ARM = nw.col("arm")


@dataclass(frozen=True)
class Group:
    """The rows of one arm, or of one arm and period.

    Attributes:
        value: The arm's value in the source.
        by: The period: a column value, or a number for calendar periods; None without periods.
        rows: The number of rows.
        kept: The number of rows that pass the filters.
        used: The number of kept rows that are usable.
        n: The number of rewards in the used rows.
        mean: The mean reward; NaN if there are none.
        variance: The sample variance of the rewards; NaN if unknown.
        first, last: The earliest and latest time of a used row.
        least, most: The smallest and largest count of a used row, if rows have times.
        peaks: Whether the largest count is in the last row.
        odd: The number of used rows whose total is not a whole number from 0 to the count.
        smallest, largest: The smallest and largest reward; NaN if rows are summaries.
    """

    value: object
    by: Any
    rows: int
    kept: int
    used: int
    n: int
    mean: float
    variance: float
    first: datetime | None
    last: datetime | None
    least: float = math.nan
    most: float = math.nan
    peaks: bool = False
    odd: int = 0
    smallest: float = math.nan
    largest: float = math.nan


def groups(frame: Frame, query: LogQuery, total: int | None = None) -> list[Group]:
    """Group the rows by arm; count unusable rows and leave them out.

    Args:
        frame: The rows.
        query: The columns, filters and limits.
        total: The number of rows, if already known. If that many are usable, a second count
            is skipped.
    """
    schema = frame.collect_schema()
    filtered = row_rules.kept(query, schema)
    good = row_rules.usable(query)
    if filtered is not None:
        frame = frame.with_columns(kept=filtered)
        good = nw.col("kept") & good
    parts = {"arm": ARM}
    if query.by is not None:
        part = query.calendar
        parts["by"] = calendar.number(part, query, schema["time"]) if part else nw.col("by")
    parts |= {role: _where(good, nw.col(role)) for role in query.numbers}
    found = [nw.col(next(iter(query.numbers))).count().alias("used")]
    if filtered is not None:
        parts["kept"] = _where(nw.col("kept"), nw.lit(1))
        found.append(nw.col("kept").count())
    if query.time is not None:
        parts["time"] = _where(good, nw.col("time"))
        found += [nw.col("time").min().alias("first"), nw.col("time").max().alias("last")]
    masked = frame.select(**parts)
    if query.time is not None and query.shape != "events" and not query.allow_growth:
        masked, ends = _ends(masked)
        found += ends
    aggregate = {"events": _events, "totals": _totals, "moments": _moments}[query.shape]
    rows = [] if total is None or filtered is not None else aggregate(masked, query, found)
    if total is None or sum(row["used"] for row in rows) != total:
        rows = aggregate(masked, query, [*found, nw.len().alias("rows")])
    if len(rows) > MOST_ARMS:
        with_periods = "" if query.by is None else f" by {query.by}"
        raise InvalidInput(
            f"is column {query.arm!r}, which{with_periods} has more than {MOST_ARMS:,} different "
            "values: does it hold the arms? To use some of them, say which in where",
            argument="arm",
        )
    return [_group(row) for row in rows]


def _ends(masked: Frame) -> tuple[Frame, list[nw.Expr]]:
    """The least and the largest count, and what shows whether the largest is in the last row.

    The largest sum of time and count is that of the largest ones only if they are in the same row:
    this needs neither a sort nor a window.
    """
    count, moment = nw.col("count"), nw.col("moment")
    masked = masked.with_columns(moment=calendar.order(masked).cast(nw.Float64))
    masked = masked.with_columns(corner=moment + count)
    ends = [count.min().alias("least"), count.max().alias("most")]
    return masked, [*ends, moment.max(), nw.col("corner").max()]


def _events(masked: Frame, query: LogQuery, found: list[nw.Expr]) -> list[dict[str, Any]]:
    reward = nw.col("reward")
    moments = [reward.mean().alias("mean"), reward.var(ddof=1).alias("variance")]
    moments += [reward.min().alias("smallest"), reward.max().alias("largest")]
    return fetch(masked.group_by(*_keys(query)).agg(*found, *moments).head(MOST_ARMS + 1))


def _totals(masked: Frame, query: LogQuery, found: list[nw.Expr]) -> list[dict[str, Any]]:
    """Sums of rewards. Their variance is known only where all rewards are 0 or 1.

    That is taken for granted when every total is a whole number from 0 to its count, as of clicks.
    """
    count, total = nw.col("count"), nw.col("total")
    masked = masked.with_columns(odd=_where(row_rules.odd_total(), nw.lit(1)))
    sums = [count.sum().alias("n"), total.sum(), nw.col("odd").count()]
    rows = fetch(masked.group_by(*_keys(query)).agg(*found, *sums).head(MOST_ARMS + 1))
    wanted = None if query.arms is None else set(query.arms)
    odd = any(row["odd"] for row in rows if _is_arm(row["arm"], wanted))
    coins = query.may_be_coins and not odd
    for row in rows:
        n, total_sum = row["n"] or 0.0, row["total"] or 0.0
        row["mean"] = total_sum / n if n else None
        if coins and n > 1:
            row["variance"] = total_sum * (1 - total_sum / n) / (n - 1)
    return rows


def _is_arm(value: object, wanted: set[str] | None) -> bool:
    """Whether a value of the arm's column is a label, and one that is asked for."""
    is_label = labels.label_problem(value) is None
    return is_label and (wanted is None or labels.label_of(value) in wanted)


def _moments(masked: Frame, query: LogQuery, found: list[nw.Expr]) -> list[dict[str, Any]]:
    """Means and variances of parts, merged: the variance is within and between the parts.

    The sum of squares between them is taken around the arm's own mean, which a first pass gives:
    it loses no digits however far the rewards are from zero.
    """
    count, mean = nw.col("count"), nw.col("mean")
    weighted = masked.with_columns(weighted=count * mean)
    sums = [count.sum().alias("n"), nw.col("weighted").sum()]
    whole = weighted.group_by(*_keys(query)).agg(*found, *sums).head(MOST_ARMS + 1)
    rows = fetch(whole)
    for row in rows:
        row["mean"] = row["weighted"] / row["n"] if row["n"] else None
    if query.variance is None:
        return rows
    keys = _keys(query)
    centres = whole.select(*keys, centre=_where(nw.col("n") > 0, nw.col("weighted") / nw.col("n")))
    centre, variance = nw.col("centre"), nw.col("variance")
    rows_and_centres: Any = masked  # with `centres` of its own kind, which types cannot say
    apart: Frame = rows_and_centres.join(centres, on=keys, how="inner").select(
        *keys,
        between=count * (mean - centre) ** 2,
        within=_where(count > 1, (count - 1) * variance),
    )
    squares = fetch(apart.group_by(*keys).agg(nw.col("between").sum(), nw.col("within").sum()))
    found_squares = {
        tuple(row[key] for key in keys): (row["between"] or 0.0) + (row["within"] or 0.0)
        for row in squares
    }
    for row in rows:
        group = tuple(row[key] for key in keys)
        if group in found_squares and row["n"] and row["n"] > 1:
            row["variance"] = found_squares[group] / (row["n"] - 1)
    return rows


def fetch(frame: Frame) -> list[dict[str, Any]]:
    """A small frame as rows of plain values; what is missing is None."""
    native: Any = frame.to_native()
    if hasattr(native, "fetchall"):  # a DuckDB relation: narwhals would need pyarrow
        names = native.columns
        return [dict(zip(names, row, strict=True)) for row in native.fetchall()]
    eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    columns = {name: _values(eager.get_column(name), name) for name in eager.columns}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _values(series: nw.Series[Any], role: str) -> list[Any]:
    try:
        values = series.to_list()
    except (ValueError, OverflowError) as error:  # a date before year 1 or after 9999
        problem = f"is a column with a value that Python cannot hold: {error}"
        raise InvalidInput(problem, argument=role) from error
    return [None if null else x for x, null in zip(values, series.is_null(), strict=True)]


def _group(row: dict[str, Any]) -> Group:
    used = int(row["used"])
    rows = int(row.get("rows", used))
    first, last = (moment_of(row.get(end)) for end in ("first", "last"))
    least, most = _float(row.get("least")), _float(row.get("most"))
    return Group(
        value=row["arm"],
        by=row.get("by"),
        rows=rows,
        kept=int(row.get("kept", rows)),
        used=used,
        n=used if "n" not in row else int(row["n"] or 0),
        mean=_float(row["mean"]),
        variance=_float(row.get("variance")),
        first=first,
        last=last,
        least=least,
        most=most,
        peaks=_float(row.get("corner")) == _float(row.get("moment")) + most,
        odd=int(row.get("odd") or 0),
        smallest=_float(row.get("smallest")),
        largest=_float(row.get("largest")),
    )


def _keys(query: LogQuery) -> list[str]:
    return ["arm"] if query.by is None else ["arm", "by"]


def _where(condition: nw.Expr, value: nw.Expr) -> nw.Expr:
    """The value where the condition holds, and null elsewhere."""
    return nw.when(condition).then(value)


def _float(x: Any) -> float:
    return math.nan if x is None else float(x)


def moment_of(x: Any) -> datetime | None:
    """A time of a column in UTC."""
    if x is None:
        return None
    return from_seconds(float(x)) if isinstance(x, int | float) else in_utc(x)
