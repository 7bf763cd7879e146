"""Conditions of filters as narwhals expressions: the same rows from every source.

Libraries differ in what they make of a missing number, of a fraction beside whole numbers, of
single precision and of a date beside a time. So none of that is left to them: NaN is missing, a
comparison with a missing value is false, and both sides have the same type before they meet.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from typing import Any

import narwhals as nw

from driftanchor.errors import InvalidInput
from driftanchor.logs.times import bound, has_time_of_day
from driftanchor.logs.where import ColumnComparison, Condition, Value

SIGNS = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
LARGEST = 2**63 - 1  # pyarrow has no larger literal
EQUALITY = ("=", "!=", "in", "not in")
TEXT = (nw.String, nw.Categorical, nw.Enum)
BITS: dict[type[nw.dtypes.DType], int] = {
    kind: bits
    for bits, kinds in {
        8: (nw.Int8, nw.UInt8),
        16: (nw.Int16, nw.UInt16),
        32: (nw.Int32, nw.UInt32),
        64: (nw.Int64, nw.UInt64),
        128: (nw.Int128, nw.UInt128),
    }.items()
    for kind in kinds
}


def expression(condition: Condition, roles: dict[str, str], schema: nw.Schema) -> nw.Expr:
    """Whether a condition holds of a row: true or false, never missing.

    Args:
        condition: What must hold.
        roles: By the name of a column, what it is called in the frame.
        schema: The types of the frame's columns.
    """
    if not isinstance(condition, ColumnComparison):
        parts = [expression(part, roles, schema) for part in condition.parts]
        return functools.reduce(operator.and_ if condition.how == "and" else operator.or_, parts)
    role = roles[condition.column]
    column, dtype = nw.col(role), schema[role]
    missing = column.is_null()
    if dtype.is_float():  # pandas has no other missing number, so it is one everywhere
        missing = missing | column.is_nan()
    if condition.sign in ("null", "not null"):
        return missing if condition.sign == "null" else ~missing
    _refuse_other_kinds(condition, dtype)
    return _compared(condition, column, dtype) & ~missing  # pandas: missing differs from all


def comparable(moment: Any, dtype: nw.dtypes.DType) -> Any:
    """A time in UTC in the type of the column it is compared with: timestamps, or seconds."""
    if isinstance(dtype, nw.Datetime):
        return moment if dtype.time_zone is not None else moment.replace(tzinfo=None)
    return moment.timestamp()


def _compared(condition: ColumnComparison, column: nw.Expr, dtype: nw.dtypes.DType) -> nw.Expr:
    sign, values = condition.sign, condition.values
    if dtype.is_integer():
        return _whole(condition, column, dtype)
    if dtype.is_numeric():  # single precision and decimals as what is typed
        for value in values:
            if sign in EQUALITY and isinstance(value, int) and int(float(value)) != value:
                raise _inexact(condition, value, "as a float it equals its neighbours too")
        return _plain(sign, column.cast(nw.Float64), [float(value) for value in values])
    if isinstance(dtype, nw.Date):  # at the midnight it starts with
        column, dtype = column.cast(nw.Datetime("us")), nw.Datetime("us")
    if isinstance(dtype, nw.Datetime):
        times = [comparable(_moment(value, condition.column), dtype) for value in values]
        return _plain(sign, column, times)
    if isinstance(dtype, nw.Categorical | nw.Enum):  # ordered by their text
        column = column.cast(nw.String)
    return _plain(sign, column, values)


def _plain(sign: str, column: nw.Expr, values: Sequence[Any]) -> nw.Expr:
    if sign in SIGNS:
        compared: nw.Expr = SIGNS[sign](column, values[0])
        return compared
    found = column.is_in(values) if values else _never(column)
    return found if sign == "in" else ~found


def _whole(condition: ColumnComparison, column: nw.Expr, dtype: nw.dtypes.DType) -> nw.Expr:
    """Whole numbers against any: none but those that the column can hold meets it."""
    sign: str = condition.sign
    values: Sequence[Any] = condition.values  # numbers, as was checked
    least, most = _range(dtype)
    held = [int(x) for x in values if least <= x <= most and x == int(x)]
    if any(x > LARGEST for x in held):
        raise _inexact(condition, max(held), f"whole numbers above {LARGEST} are not compared")
    if sign in ("in", "not in"):
        return _plain(sign, column, held)
    if sign in ("=", "!="):
        same = SIGNS["="](column, nw.lit(held[0], dtype)) if held else _never(column)
        return same if sign == "=" else ~same
    return _ordered(sign, column, values[0], dtype)


def _ordered(sign: str, column: nw.Expr, limit: Any, dtype: nw.dtypes.DType) -> nw.Expr:
    """Below a fraction is at most the whole number below it; beyond the column's range is all."""
    least, most = _range(dtype)
    upwards = sign in (">", ">=")
    if not least <= limit <= most:
        return ~_never(column) if upwards == (limit < least) else _never(column)
    if limit != int(limit):
        sign = ">=" if upwards else "<="
    whole = math.ceil(limit) if upwards else math.floor(limit)
    compared: nw.Expr = SIGNS[sign](column, nw.lit(whole, dtype))
    return compared


def _range(dtype: nw.dtypes.DType) -> tuple[int, int]:
    bits = BITS[type(dtype)]
    if dtype.is_signed_integer():
        return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    return 0, 2**bits - 1


def _never(column: nw.Expr) -> nw.Expr:
    """False, or missing where the column is."""
    never: nw.Expr = column != column
    return never


def _refuse_other_kinds(condition: ColumnComparison, dtype: nw.dtypes.DType) -> None:
    """Refuse values that a column of this type cannot be compared with."""
    times = isinstance(dtype, nw.Date | nw.Datetime)
    for value in condition.values:
        if isinstance(value, bool):
            fits = isinstance(dtype, nw.Boolean)
        elif isinstance(value, str):
            fits = times or isinstance(dtype, TEXT)
        else:
            fits = dtype.is_numeric()
        if not fits:
            raise InvalidInput(
                f"compares column {condition.column!r} with {value!r}, but it holds {dtype}",
                argument="where",
            )
        if not times and condition.sign not in EQUALITY and has_time_of_day(value):
            raise InvalidInput(
                f"compares column {condition.column!r}, which holds text, with the time {value!r}: "
                "letters do not sort as times do; convert the column to timestamps first",
                argument="where",
            )


def _inexact(condition: ColumnComparison, value: int, why: str) -> InvalidInput:
    return InvalidInput(
        f"compares column {condition.column!r} with {value}, and {why}: make it a column of text, "
        f"as it is in CSV, and write '{value}'",
        argument="where",
    )


def _moment(value: Value, name: str) -> Any:
    try:
        return bound(value, "where")
    except InvalidInput as error:
        raise InvalidInput(
            f"compares column {name!r}, which holds times, with {value!r}: write a date or "
            "time such as '2026-01-31T12:00'",
            argument="where",
        ) from error
