"""Rename the columns of frames and tables to their roles, with narwhals."""

from __future__ import annotations

from collections import Counter
from datetime import UTC
from typing import Any

import narwhals as nw
from narwhals.exceptions import DuplicateError

from driftanchor.errors import InvalidInput, UnknownName, shown
from driftanchor.logs.comparisons import comparable
from driftanchor.logs.query import LogQuery, argument_of
from driftanchor.logs.sql import identifier
from driftanchor.logs.times import EARLIEST, LATEST, LEAST_SECONDS, UNITS

Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]
LABELS = ("arm", "by", "within")


def frame_of(logs: object) -> Frame:
    """Anything narwhals knows, with columns of different names; others are refused."""
    native: Any = logs
    try:
        frame: Frame = nw.from_native(native)
    except TypeError as error:
        raise InvalidInput(
            "must be paths of files, a pandas, polars or pyarrow frame, a DuckDB relation or "
            f"an Ibis table, got {' '.join(shown(logs).split())}",
            argument="logs",
        ) from error
    except DuplicateError as error:
        raise _repeated(logs) from error
    if frame.implementation.is_duckdb() and len(_names(logs)) > len(set(_names(logs))):
        raise _repeated(logs)  # DuckDB would take the first
    return frame


def project(frame: Frame, query: LogQuery) -> Frame:
    """Rename columns to their roles, with numbers as floats and times as timestamps."""
    schema = frame.collect_schema()
    for role, name in query.columns.items():
        if name not in schema:
            raise _unknown(name, schema.names(), argument_of(role))
    labels = {role: name for role, name in query.columns.items() if role in LABELS}
    parts = {role: _label(name, schema[name], role) for role, name in labels.items()}
    for role, name in query.numbers.items():
        parts[role] = _number(name, schema[name], role)
    if query.time is not None:
        parts["time"] = _moment(query.time, schema[query.time])
    for role, name in query.columns.items():
        if role.startswith("where "):
            parts[role] = nw.col(name)
    return _of_known_years(_in_utc(frame.select(**parts)))


def _label(name: str, dtype: nw.dtypes.DType, role: str) -> nw.Expr:
    if isinstance(dtype, nw.Categorical | nw.Enum):
        return nw.col(name).cast(nw.String)
    if dtype.is_nested() or isinstance(dtype, nw.Object | nw.Unknown | nw.Binary):
        raise _holds(name, dtype, role, "labels: turn it into text")
    return nw.col(name)


def _number(name: str, dtype: nw.dtypes.DType, role: str) -> nw.Expr:
    column = nw.col(name)
    if isinstance(dtype, nw.Boolean):  # not every database casts it to a float
        column = nw.when(column).then(nw.lit(1)).when(~column).then(nw.lit(0))
    elif not dtype.is_numeric():
        convert = "convert it first (pandas.to_numeric, or a cast)"
        raise _holds(
            name, dtype, role, f"numbers: {convert}; what cannot be converted is missing then"
        )
    return _float(column, dtype)


def _float(column: nw.Expr, dtype: nw.dtypes.DType) -> nw.Expr:
    """Numbers as floats; pyarrow casts no whole number above 2⁵³, and divides them all."""
    return (column / 1 if dtype.is_integer() else column).cast(nw.Float64)


def _moment(name: str, dtype: nw.dtypes.DType) -> nw.Expr:
    """Timestamps stay as they are; numbers become seconds since 1970."""
    column = nw.col(name)
    if isinstance(dtype, nw.Date):
        return column.cast(nw.Datetime("us"))
    if isinstance(dtype, nw.Datetime):
        return column
    if not dtype.is_numeric():
        convert = "convert it first (pandas.to_datetime, str.to_datetime, or a cast to timestamp)"
        raise _holds(name, dtype, "time", f"times: {convert}")
    seconds = _float(column, dtype)
    none = nw.lit(None, nw.Float64)
    cases: Any = nw.when(seconds.abs() < LEAST_SECONDS).then(none)
    for size, per_second in UNITS.items():
        cases = cases.when(seconds.abs() < size).then(seconds / per_second)
    in_seconds: nw.Expr = cases
    return in_seconds


def _names(logs: Any) -> list[Any]:
    return list(getattr(logs, "column_names", None) or logs.columns)


def _repeated(logs: object) -> InvalidInput:
    name, times = Counter(_names(logs)).most_common(1)[0]
    return InvalidInput(f"have {times} columns named {shown(name)}: rename them", argument="logs")


def _unknown(name: str, known: list[Any], argument: str) -> InvalidInput:
    odd = [x for x in known if not isinstance(x, str)]  # pandas: numbers, or several levels
    if not odd:
        return UnknownName("column", name, known, argument=argument)
    return InvalidInput(
        f"is {name!r}, and the frame has columns without a name of text, such as {shown(odd[0])}: "
        "name them first, as in frame.columns = ['arm', 'reward']",
        argument=argument,
    )


def _of_known_years(frame: Frame) -> Frame:
    """Times before year 1 or after 9999 are missing: Python has none to show them as."""
    dtype = frame.collect_schema().get("time")
    if dtype is None or (isinstance(dtype, nw.Datetime) and dtype.time_unit == "ns"):
        return frame  # nanoseconds end in 2262
    ends = [comparable(end.replace(tzinfo=UTC), dtype) for end in (EARLIEST, LATEST)]
    time = nw.col("time")
    return frame.with_columns(time=nw.when(time.is_between(*ends)).then(time))


def _holds(name: str, dtype: nw.dtypes.DType, role: str, wanted: str) -> InvalidInput:
    problem = f"is column {name!r}, which holds {dtype}, not {wanted}"
    return InvalidInput(problem, argument=argument_of(role))


def _in_utc(frame: Frame) -> Frame:
    """Times with a zone, in UTC: polars compares times of one zone only.

    DuckDB has them without a zone then, for to fetch its zoned times it needs pytz.
    """
    zoned = [
        name
        for name, dtype in frame.collect_schema().items()
        if isinstance(dtype, nw.Datetime) and dtype.time_zone is not None
    ]
    if not zoned:
        return frame
    if frame.implementation.is_duckdb():
        relation: Any = frame.to_native()
        times = ", ".join(
            f"timezone('UTC', {column}) AS {column}" for column in map(identifier, zoned)
        )
        return frame_of(relation.project(f"* REPLACE ({times})"))
    return frame.with_columns(nw.col(zoned).cast(nw.Datetime("us", "UTC")))
