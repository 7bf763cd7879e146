"""Rename the columns of files to their roles, in SQL.

Numbers become doubles, times become UTC timestamps, and unreadable values become NULL. The text of
a number or time is kept, such as in `reward raw`, to tell missing from unreadable values.
"""

from __future__ import annotations

from driftanchor.errors import InvalidInput, UnknownName, excerpt, shown
from driftanchor.logs.formats import FORMATS, Column, Scan
from driftanchor.logs.formats.log_format import FILE
from driftanchor.logs.labels import LONGEST
from driftanchor.logs.query import LogQuery, argument_of
from driftanchor.logs.sql import identifier
from driftanchor.logs.times import EARLIEST, LATEST, LEAST_SECONDS, UNITS
from driftanchor.logs.where import Kind

WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
RANGE = f"BETWEEN TIMESTAMP '{EARLIEST}' AND TIMESTAMP '{LATEST}'"
ISO = "____-__-__%"  # DuckDB reads 31/12/24 too: as the year 31
NAN = "'nan', 'NaN', 'NAN', '-nan'"
NUMERIC = {*WHOLE, *(f"U{kind}" for kind in WHOLE), "FLOAT", "DOUBLE", "BOOLEAN"}
LABELS = ("arm", "by", "within")
EXCERPT = 50  # characters of a value that are kept to be shown
NO_LABELS = ("STRUCT", "MAP", "UNION", "BLOB", "VARIANT")
ZONED = ("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ")


def select(scan: Scan, query: LogQuery, *, hopeful: bool = False, numbered: bool = False) -> str:
    """Return a SELECT for the rows of files.

    Args:
        scan: The files.
        query: The columns to read.
        hopeful: Whether to assume that text parses as numbers and that keys are unique, which is
            faster. DuckDB then parses numbers while it splits lines, and may drop rows.
        numbered: Whether to number the rows from 1, in file order.
    """
    found = {role: _column(scan, name, role) for role, name in query.columns.items()}
    parts = {role: _label(found[role], role) for role in LABELS if role in found}
    twice = " OR ".join(column.given_twice for column in found.values() if column.given_twice)
    twice = "" if hopeful else twice
    for role in query.numbers:
        hoped = hopeful and found[role].type == "VARCHAR"
        value = _read(found[role], "DOUBLE") if hoped else number(found[role], role)
        parts[role] = f"CASE WHEN {twice} THEN NULL ELSE {value} END" if twice else value
        parts[f"{role} raw"] = _text(found[role])
    if query.time is not None:
        parts["time"] = moment(found["time"])
        parts["time raw"] = _text(found["time"])
    for role, kind in zip(_where(query), query.where_kinds.values(), strict=True):
        column, is_text = found[role], FORMATS[scan.files[0].format].is_text
        parts[role] = _compared(column, kind, is_text) if column.type == "VARCHAR" else column.sql
    parts |= scan.bad_lines
    if twice:
        parts["line_repeats_key"] = twice
    if scan.names_files:
        parts["file"] = identifier(FILE)
    if numbered:
        parts["row"] = "row_number() OVER ()"
    listed = ", ".join(f"{sql} AS {identifier(name)}" for name, sql in parts.items())
    return f"SELECT {listed} FROM {scan.sql}"


def _label(column: Column, role: str) -> str:
    if column.type.startswith(NO_LABELS) or column.type.endswith("]"):
        raise _holds(column, role, "labels")
    text = column.type == "VARCHAR"
    return f"substring({column.sql}, 1, {LONGEST + 1})" if text else column.sql


def number(column: Column, role: str) -> str:
    """A column as doubles; of text, true is 1 and false is 0."""
    if column.type == "VARCHAR":
        words = f"CASE lower({column.sql}) WHEN 'true' THEN 1.0 WHEN 'false' THEN 0.0 END"
        return f"COALESCE({_read(column, 'DOUBLE')}, {words})"
    if column.type in NUMERIC or column.type.startswith("DECIMAL"):
        return f"CAST({column.sql} AS DOUBLE)"
    raise _holds(column, role, "times" if role == "time" else "numbers")


def moment(column: Column) -> str:
    """A column as timestamps in UTC, of the years that Python knows."""
    read = _moment(column)
    return f"CASE WHEN {read} {RANGE} THEN {read} END"


def _moment(column: Column) -> str:
    if column.type == "VARCHAR":
        read = f"timezone('UTC', {_read(column, 'TIMESTAMPTZ')})"
        iso = f"CASE WHEN trim({column.sql}) LIKE '{ISO}' THEN {read} END"
        return f"COALESCE({iso}, {_since_1970(_read(column, 'DOUBLE'))})"
    if column.type.startswith(ZONED):
        return f"timezone('UTC', CAST({column.sql} AS TIMESTAMPTZ))"
    if column.type == "DATE" or column.type.startswith("TIMESTAMP"):
        return f"CAST({column.sql} AS TIMESTAMP)"
    return _since_1970(number(column, "time"))


def _compared(column: Column, kind: Kind, is_text: bool) -> str:
    """Text as what a filter compares it with; where all is text, that of NaN is missing."""
    if kind == "number":
        return _read(column, "DOUBLE")
    if kind == "boolean":
        return _read(column, "BOOLEAN")
    if kind == "time":
        return moment(column)
    if kind == "presence" and is_text:
        return f"CASE WHEN trim({column.sql}) NOT IN ({NAN}) THEN {column.sql} END"
    return column.sql


def _read(column: Column, type: str) -> str:
    """Text as a type, NULL where it is none; looked at twice, so that DuckDB leaves no row out."""
    fits = f"NOT contains({column.sql}, '_')" if type == "DOUBLE" else f"{column.sql} IS NOT NULL"
    return f"CASE WHEN {fits} THEN TRY_CAST({column.sql} AS {type}) END"  # to DuckDB 1_0 is 10


def _since_1970(number: str) -> str:
    micros = f"WHEN abs({number}) < {LEAST_SECONDS} THEN NULL"
    for size, per_second in UNITS.items():
        micros += f" WHEN abs({number}) < {size} THEN {1e6 / per_second}"
    return f"make_timestamp(CAST({number} * CASE {micros} END AS BIGINT))"


def _text(column: Column) -> str:
    """The beginning of a value as people see it; NULL if there is nothing to see."""
    return f"NULLIF(left(trim(CAST({column.sql} AS VARCHAR)), {EXCERPT}), '')"


def _column(scan: Scan, name: str, role: str) -> Column:
    column, argument = scan.columns.get(name), argument_of(role)
    file = scan.files[0].name
    if column is None:
        raise UnknownName("column", name, scan.columns, argument=argument, place=file)
    if column.type == "ambiguous":
        problem = f"is {name!r}, and {file!r} has more than one {name!r}: rename one of them"
        raise InvalidInput(problem, argument=argument)
    return column


def _holds(column: Column, role: str, wanted: str) -> InvalidInput:
    type = excerpt(column.type)
    problem = f"is column {shown(column.name)}, which holds {type}, not {wanted}"
    return InvalidInput(problem, argument=argument_of(role))


def _where(query: LogQuery) -> list[str]:
    return [role for role in query.columns if role.startswith("where ")]
