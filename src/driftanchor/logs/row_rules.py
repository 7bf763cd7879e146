"""Which rows are kept, which of these can be used, and why the others cannot.

All of it is narwhals expressions of the columns that `file_columns.select` and
`frame_columns.project` give. An expression that is null counts as false.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

import narwhals as nw

from driftanchor.errors import InvalidInput
from driftanchor.logs.query import LogQuery
from driftanchor.logs.times import bound
from driftanchor.logs.where import ColumnComparison, Condition, Value

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

    A row that cannot be read, or without a readable time, is kept: it is rejected later, and not
    silently left out.
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
    if not parts:
        return None
    found = functools.reduce(operator.and_, parts)
    return functools.reduce(operator.or_, map(nw.col, _bad_lines(schema)), found)


def usable(query: LogQuery) -> nw.Expr:
    """Whether all that is needed of a row is there and possible."""
    return functools.reduce(operator.and_, _rules(query).values())


def problems(query: LogQuery, schema: nw.Schema) -> dict[str, nw.Expr]:
    """Why a row cannot be used, in the order in which the reasons are tried."""
    found = {reason: nw.col(reason) for reason in _bad_lines(schema)}
    for reason, fine in _rules(query).items():
        role, _, what = reason.partition("_")
        if what == "missing" and f"{role} raw" in schema:  # it is there, but says nothing
            unreadable = "time_unreadable" if role == "time" else f"{role}_not_number"
            found[unreadable] = ~fine & ~nw.col(f"{role} raw").is_null()
        found[reason] = ~fine
    return found


def _bad_lines(schema: nw.Schema) -> list[str]:
    """The columns of files that say whether a line cannot be read; their names are reasons."""
    return [name for name in schema if name.startswith("line_")]


def _rules(query: LogQuery) -> dict[str, nw.Expr]:
    """What must hold of a row, by the reason to reject it if it does not."""
    rules = {} if query.time is None else {"time_missing": ~nw.col("time").is_null()}
    if "by" in query.columns:
        rules["by_missing"] = ~nw.col("by").is_null()
    count, total = nw.col("count"), nw.col("total")
    idle = {"mean": count == 0, "variance": count <= 1}  # then the column has nothing to say
    for role in query.numbers:
        column = nw.col(role)
        mine = {"missing": ~column.is_null(), "not_finite": column.is_finite()}
        if role == "count":
            mine["not_whole"] = count.is_between(0, MOST_COUNTED) & (count.floor() == count)
        elif role == "total":
            mine["without_count"] = (count > 0) | (total == 0)
        elif role == "variance":
            mine["negative"] = column >= 0
        for what, fine in mine.items():
            rules[f"{role}_{what}"] = fine | idle[role] if role in idle else fine
    if query.reward_range is not None:
        low, high = query.limits
        if query.shape == "totals":
            fine = (total >= low * count) & (total <= high * count)
        elif query.shape == "moments":
            fine = nw.col("mean").is_between(low, high) | idle["mean"]
        else:
            fine = nw.col("reward").is_between(low, high)
        rules["reward_out_of_range"] = fine
    return rules


def _condition(condition: Condition, roles: dict[str, str], schema: nw.Schema) -> nw.Expr:
    if not isinstance(condition, ColumnComparison):
        parts = [_condition(part, roles, schema) for part in condition.parts]
        return functools.reduce(operator.and_ if condition.how == "and" else operator.or_, parts)
    column, dtype = nw.col(roles[condition.column]), schema[roles[condition.column]]
    missing = column.is_null()
    if dtype.is_float():  # pandas has no other missing number, so it is one everywhere
        missing = missing | column.is_nan()
    if condition.sign in ("null", "not null"):
        return missing if condition.sign == "null" else ~missing
    values = [_value(value, dtype, condition.column) for value in condition.values]
    answer: nw.Expr
    if condition.sign in SIGNS:
        answer = SIGNS[condition.sign](column, values[0])
    else:
        found = _among(column, values, dtype)
        answer = found if condition.sign == "in" else ~found
    return answer & ~missing  # pandas takes a missing value for one that differs


def _among(column: nw.Expr, values: list[Any], dtype: nw.dtypes.DType) -> nw.Expr:
    """Whether a column is one of the values; lists are compared in its type alone."""
    if dtype.is_integer():
        values = [int(value) for value in values if value == value // 1]
    elif dtype.is_numeric():
        values = [float(value) for value in values]
    return column.is_in(values) if values else column != column


def _value(value: Value, dtype: nw.dtypes.DType, name: str) -> Any:
    """A value of a filter in the type of its column."""
    if isinstance(value, str) and isinstance(dtype, nw.Date | nw.Datetime):
        try:
            moment = bound(value, "where")
        except InvalidInput as error:
            raise InvalidInput(
                f"compares column {name!r}, which holds times, with {value!r}: write a date or "
                "time such as '2026-01-31T12:00'",
                argument="where",
            ) from error
        return None if moment is None else _comparable(moment, dtype)
    fits: tuple[type[nw.dtypes.DType], ...] = (nw.String, nw.Categorical, nw.Enum)
    if isinstance(value, bool):
        fits = (nw.Boolean,)
    if (isinstance(value, bool | str) and not isinstance(dtype, fits)) or (
        not isinstance(value, bool | str) and not dtype.is_numeric()
    ):
        raise InvalidInput(
            f"compares column {name!r} with {value!r}, but it holds {dtype}", argument="where"
        )
    return value


def _comparable(moment: Any, dtype: nw.dtypes.DType) -> Any:
    """A time in UTC in the type of the column it is compared with."""
    if isinstance(dtype, nw.Datetime):
        return moment if dtype.time_zone is not None else moment.replace(tzinfo=None)
    return moment.date() if isinstance(dtype, nw.Date) else moment.timestamp()
