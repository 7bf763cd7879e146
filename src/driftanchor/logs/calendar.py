"""Days, weeks and months of a time column as whole numbers, and their labels.

Numbers are used because all libraries count days alike, but define weeks differently.
"""

from __future__ import annotations

from datetime import date

import narwhals as nw

from driftanchor.errors import InvalidInput
from driftanchor.logs.frame_columns import Frame
from driftanchor.logs.query import LogQuery

EPOCH = date(1970, 1, 1).toordinal()


def number(part: str, query: LogQuery, dtype: nw.dtypes.DType) -> nw.Expr:
    """Return the day, ISO week or month of the column `time`, counted from year 1, in UTC.

    Days are counted as in `date.toordinal`: day 1 is a Monday.
    """
    time = nw.col("time")
    if not isinstance(dtype, nw.Datetime):  # seconds since 1970
        if part == "month":
            raise InvalidInput(
                f"is column {query.time!r}, which holds numbers, so it has no months: convert "
                "it to timestamps first",
                argument="time",
            )
        day = _times(time, 86_400) + EPOCH
        return day if part == "day" else _times(day - 1, 7)
    year = _whole(time.dt.year())
    if part == "month":
        return _where_known(12 * year + _whole(time.dt.month()) - 1)
    past = year - 1
    leap_days = _times(past, 4) - _times(past, 100) + _times(past, 400)
    day = 365 * past + leap_days + _whole(time.dt.ordinal_day())
    number = day if part == "day" else _times(day - 1, 7)
    return _where_known(number.cast(nw.Int64))


def _times(number: nw.Expr, part: int) -> nw.Expr:
    """How many times a part fits into a number; `//` takes several times as long to plan in SQL."""
    return (number / part).floor()


def order(frame: Frame) -> nw.Expr:
    """A number that grows with the column `time`, to the second at least.

    Zones of a database that change their clocks may repeat an hour.
    """
    time = nw.col("time")
    if not isinstance(frame.collect_schema()["time"], nw.Datetime):  # seconds since 1970
        return time
    if isinstance(frame, nw.DataFrame) or frame.implementation.is_polars():
        return time.dt.timestamp("ms")
    date = _whole(time.dt.year()) * 366 + _whole(time.dt.ordinal_day())
    minute = (date * 24 + _whole(time.dt.hour())) * 60 + _whole(time.dt.minute())
    return _where_known(minute * 60 + _whole(time.dt.second()))


def _whole(part: nw.Expr) -> nw.Expr:
    """A part of the times as whole numbers; 1 where there is no time, of which pandas has none."""
    return part.fill_null(1).cast(nw.Int64)


def _where_known(number: nw.Expr) -> nw.Expr:
    return nw.when(~nw.col("time").is_null()).then(number)


def label(number: float, calendar: str) -> str:
    """What a day, week or month is called.

    Example:
        >>> day = date(2026, 1, 1).toordinal()
        >>> label(day, "day"), label((day - 1) // 7, "week"), label(12 * 2026, "month")
        ('2026-01-01', '2026-W01', '2026-01')
    """
    count = int(number)
    if calendar == "day":
        return date.fromordinal(count).isoformat()
    if calendar == "week":
        year, week, _ = date.fromordinal(7 * count + 1).isocalendar()
        return f"{year:04}-W{week:02}"
    return f"{count // 12:04}-{count % 12 + 1:02}"
