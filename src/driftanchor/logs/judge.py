"""Which rows are kept, which of these can be used, and why the others cannot: expressions.

They speak of the columns of `projection.select` and `frames.project`. An expression that is null
counts as false.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable
from typing import Any

import narwhals as nw

from driftanchor.errors import InvalidInput
from driftanchor.logs.query import LARGEST, LogQuery
from driftanchor.logs.times import bound
from driftanchor.logs.where import Comparison, Condition, Value

MOST_COUNTED = 2**53  # floats above are not all the whole numbers any more
SIGNS = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def kept(query: LogQuery, schema: nw.Schema) -> nw.Expr | None:
    """Whether the filters keep a row; none if there are no filters.

    A row without a readable time is kept: it is rejected later, and not silently left out.
    """
    parts = []
    if query.condition is not None:
        roles = {name: role for role, name in query.columns.items() if role.startswith("where ")}
        parts.append(_condition(query.condition, roles, schema))
    since, until = query.span
    time = nw.col("time")
    if since is not None:
        parts.append((time >= _comparable(since, schema["time"])) | time.is_null())
    if until is not None:
        parts.append((time < _comparable(until, schema["time"])) | time.is_null())
    return functools.reduce(operator.and_, parts) if parts else None


def usable(query: LogQuery) -> nw.Expr:
    """Whether all that is needed of a row is there and possible: no problem of `problems`."""
    low, high = query.limits
    parts = [] if query.time is None else [~nw.col("time").is_null()]
    if query.shape == "events":
        return _all([nw.col("reward").is_between(low, high), *parts])
    count = nw.col("count")
    parts.append(_whole(count))
    if query.shape == "totals":
        total = nw.col("total")
        parts += [_finite(total), _within(total, count, query), (count > 0) | (total == 0)]
    else:
        parts.append(nw.col("mean").is_between(low, high) | (count == 0))
    if query.variance is not None:
        parts.append((_finite(nw.col("variance")) & (nw.col("variance") >= 0)) | (count <= 1))
    return _all(parts)


def problems(query: LogQuery, schema: nw.Schema) -> dict[str, nw.Expr]:
    """Why a row cannot be used, in the order in which the reasons are tried."""
    found: dict[str, nw.Expr] = {}
    if "readable" in schema:
        found["line_not_json"] = ~nw.col("readable")
    if query.time is not None:
        found |= _absent("time", schema, "unreadable")
    count = nw.col("count")
    matters = {"mean": count > 0, "variance": count > 1}  # otherwise they say nothing
    for role in query.numbers:
        reasons = _absent(role, schema, "not_number")
        reasons[f"{role}_not_finite"] = ~_finite(nw.col(role))
        if role == "count":
            reasons["count_not_whole"] = ~_whole(count)
        if role == "variance":
            reasons["variance_negative"] = nw.col("variance") < 0
        if role in matters:
            reasons = {reason: bad & matters[role] for reason, bad in reasons.items()}
        found |= reasons
    low, high = query.limits
    if query.shape == "totals":
        found["total_without_count"] = (count == 0) & (nw.col("total") != 0)
        found["reward_out_of_range"] = ~_within(nw.col("total"), count, query)
    elif query.shape == "moments":
        found["reward_out_of_range"] = ~nw.col("mean").is_between(low, high) & (count > 0)
    else:
        found["reward_out_of_range"] = ~nw.col("reward").is_between(low, high)
    return found


def _absent(role: str, schema: nw.Schema, unreadable: str) -> dict[str, nw.Expr]:
    """A value that is not there, or that is there as text which says nothing."""
    absent, raw = nw.col(role).is_null(), f"{role} raw"
    if raw not in schema:
        return {f"{role}_missing": absent}
    return {
        f"{role}_missing": absent & nw.col(raw).is_null(),
        f"{role}_{unreadable}": absent & ~nw.col(raw).is_null(),
    }


def _finite(column: nw.Expr) -> nw.Expr:
    return column.is_between(-LARGEST, LARGEST)


def _whole(count: nw.Expr) -> nw.Expr:
    return count.is_between(0, MOST_COUNTED) & (count.floor() == count)


def _within(total: nw.Expr, count: nw.Expr, query: LogQuery) -> nw.Expr:
    """Whether the mean of a row's rewards lies in their range."""
    if query.reward_range is None:
        return ~total.is_null()
    low, high = query.limits
    return (total >= low * count) & (total <= high * count)


def _condition(condition: Condition, roles: dict[str, str], schema: nw.Schema) -> nw.Expr:
    if not isinstance(condition, Comparison):
        parts = [_condition(part, roles, schema) for part in condition.parts]
        return functools.reduce(operator.and_ if condition.how == "and" else operator.or_, parts)
    column, dtype = nw.col(roles[condition.column]), schema[roles[condition.column]]
    if condition.sign in ("null", "not null"):
        return column.is_null() if condition.sign == "null" else ~column.is_null()
    values = [_value(value, dtype, condition.column) for value in condition.values]
    answer: nw.Expr
    if condition.sign in SIGNS:
        answer = SIGNS[condition.sign](column, values[0])
    else:
        answer = column.is_in(values) if condition.sign == "in" else ~column.is_in(values)
    return answer & ~column.is_null()  # pandas takes a missing value for one that differs


def _value(value: Value, dtype: nw.dtypes.DType, name: str) -> Any:
    """A value of a filter in the type of its column."""
    if isinstance(value, str) and isinstance(dtype, nw.Date | nw.Datetime):
        moment = bound(value, f"the value of {name!r} in where")
        return None if moment is None else _comparable(moment, dtype)
    fits: tuple[type[nw.dtypes.DType], ...] = (nw.String, nw.Categorical, nw.Enum)
    if isinstance(value, bool):
        fits = (nw.Boolean,)
    if (isinstance(value, bool | str) and not isinstance(dtype, fits)) or (
        not isinstance(value, bool | str) and not dtype.is_numeric()
    ):
        raise InvalidInput(f"where compares column {name!r} with {value!r}, but it holds {dtype}")
    return value


def _comparable(moment: Any, dtype: nw.dtypes.DType) -> Any:
    """A time in UTC in the type of the column it is compared with."""
    if isinstance(dtype, nw.Datetime):
        return moment if dtype.time_zone is not None else moment.replace(tzinfo=None)
    return moment.date() if isinstance(dtype, nw.Date) else moment.timestamp()


def _all(parts: Iterable[nw.Expr]) -> nw.Expr:
    return functools.reduce(operator.and_, parts)
