"""Which rows are kept, which of these can be used, and why the others cannot.

All of it is narwhals expressions of the columns that `file_columns.select` and
`frame_columns.project` give. An expression that is null counts as false.
"""

from __future__ import annotations

import functools
import operator

import narwhals as nw

from driftanchor.logs import comparisons
from driftanchor.logs.query import LogQuery

MOST_COUNTED = 2**53  # floats above are not all the whole numbers any more


def kept(query: LogQuery, schema: nw.Schema) -> nw.Expr | None:
    """Whether the filters keep a row; none if there are no filters.

    A row that cannot be read, or without a readable time, is kept: it is rejected later, and not
    silently left out.
    """
    parts = []
    if query.condition is not None:
        roles = {name: role for role, name in query.columns.items() if role.startswith("where ")}
        parts.append(comparisons.expression(query.condition, roles, schema))
    since, until = query.span
    time = nw.col("time")
    if since is not None:
        parts.append((time >= comparisons.comparable(since, schema["time"])) | time.is_null())
    if until is not None:
        parts.append((time < comparisons.comparable(until, schema["time"])) | time.is_null())
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


def odd_total() -> nw.Expr:
    """Whether a total cannot be a number of rewards of 1 among rewards of 0 and 1."""
    count, total = nw.col("count"), nw.col("total")
    odd: nw.Expr = (total < 0) | (total > count) | (total.floor() != total)
    return odd


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
