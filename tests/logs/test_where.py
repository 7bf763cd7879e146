"""Filters: what they say, that SQL says the same, and what they refuse."""

from __future__ import annotations

import importlib
import warnings
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftanchor import InvalidInput, read_logs
from driftanchor.logs.where import ColumnComparison, Joined, kinds, parse

COLUMNS: dict[str, list[Any]] = {
    "arm": ["A", "B"] * 6,
    "reward": [0.0, 1.0, 0.0] * 4,
    "age": [1, 2, None, 3, 4, 5, None, 7, 8, 9, 2, 2],
    "land": ["DE", None, "FR", "it's", "DE", "FR", "", None, "DE", "a;b", "FR", "DE"],
    "new": [True, False, None] * 4,
}
ROWS = list(zip(*COLUMNS.values(), strict=True))
duckdb: Any = importlib.import_module("duckdb")
pandas: Any = importlib.import_module("pandas")
polars: Any = importlib.import_module("polars")
pyarrow: Any = importlib.import_module("pyarrow")

SIGNS = st.sampled_from(["=", "<>", "!=", "<", "<=", ">", ">=", "=="])
NUMBERS = st.sampled_from(["2", "-1", "4.5", "1e1"])
TEXTS = st.sampled_from(["'DE'", "'it''s'", "''", "'a;b'", "'x'"])
NOT = st.sampled_from(["", "not "])


def compared(column: str, values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Conditions on one column."""
    lists = st.lists(values, min_size=1, max_size=3).map(", ".join)
    return (
        st.builds(lambda sign, x: f"{column} {sign} {x}", SIGNS, values)
        | st.builds(lambda no, xs: f"{column} {no}IN ({xs})", NOT, lists)
        | st.builds(lambda no, a, b: f"{column} {no}between {a} AND {b}", NOT, values, values)
        | st.builds(lambda no: f"{column} Is {no}null", NOT)
    )


CONDITIONS = st.recursive(
    compared("age", NUMBERS)
    | compared('"land"', TEXTS)
    | st.builds(lambda x: f"new = {x}", st.sampled_from(["true", "FALSE"])),
    lambda inner: (
        st.builds(lambda a, b: f"{a} and {b}", inner, inner)
        | st.builds(lambda a, b: f"({a} OR {b})", inner, inner)
        | st.builds(lambda a: f"not ({a})", inner)
    ),
    max_leaves=6,
)


FRAMES = {
    "pandas": pandas.DataFrame(COLUMNS).astype({"new": "boolean"}),
    "pandas on arrow": pyarrow.table(COLUMNS).to_pandas(types_mapper=pandas.ArrowDtype),
    "polars": polars.DataFrame(COLUMNS),
    "pyarrow": pyarrow.table(COLUMNS),
}


@settings(max_examples=settings().max_examples // 2)
@given(where=CONDITIONS, form=st.sampled_from(list(FRAMES)))
def test_sql_keeps_the_same_rows(where: str, form: str) -> None:
    with duckdb.connect() as connection:
        relation = connection.from_arrow(FRAMES["pyarrow"])
        ((expected,),) = relation.filter(where).aggregate("count(*)").fetchall()
    assert kept(FRAMES[form], where) == expected


def kept(frame: object, where: str) -> int:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of one arm, and of equal rewards
            return read_logs(frame, arm="arm", reward="reward", where=where).provenance.rows_used
    except InvalidInput as error:
        if "the filters keep none of them" in str(error):
            return 0
        raise


@pytest.mark.parametrize(
    ("where", "rows"),
    [
        ("age > 3", 5),
        ("land = 'DE'", 4),
        ("land is null", 3),  # an empty field of CSV is a missing one
        ("new = true", 4),
        ("new = false and age >= 2.5", 2),
        ("reward = 1 or not reward < 1", 4),
        ("arm = 'A'", 6),
    ],
)
def test_text_is_compared_as_what_it_is_compared_with(
    where: str, rows: int, tmp_path: Path
) -> None:
    lines = [",".join("" if x is None else str(x) for x in row) for row in ROWS]
    path = tmp_path / "logs.csv"
    path.write_text("\n".join([",".join(COLUMNS), *lines]))
    assert kept(path, where) == rows


def test_times_in_frames_are_compared_as_times() -> None:
    start = datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=2)))
    when = [start + timedelta(hours=i) for i in range(12)]
    frame = polars.DataFrame(COLUMNS).with_columns(
        at=polars.Series(when).dt.convert_time_zone("Europe/Berlin"),
        day=polars.Series([moment.date() + timedelta(days=i) for i, moment in enumerate(when)]),
        naive=polars.Series([moment.replace(tzinfo=None) for moment in when]),
    )
    assert kept(frame, "at < '2026-01-01T00:00Z'") == 2
    assert kept(frame, "naive < '2026-01-01T02:00'") == 2
    assert kept(frame, "day in ('2026-01-01', '2026-01-03')") == 2


def test_negations_are_carried_down_to_the_comparisons() -> None:
    assert parse("not (a = 1 and not (b in ('x') or c is null))") == Joined(
        "or",
        (
            ColumnComparison("a", "!=", (1,)),
            Joined("or", (ColumnComparison("b", "in", ("x",)), ColumnComparison("c", "null", ()))),
        ),
    )


def test_columns_and_what_they_are_compared_with() -> None:
    assert kinds(parse("a = 1 and \"b c\" in ('x') and d is null and e = true and é.f > 2")) == {
        "a": "number",
        "b c": "text",
        "d": "presence",
        "e": "boolean",
        "é.f": "number",
    }
    assert parse("id = 9007199254740993") == ColumnComparison("id", "=", (9007199254740993,))


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (3, "where must be text such as .* got 3"),
        ("", "where must be text such as"),
        ("age", "expected a comparison at its end"),
        ("age =", "expected a number, 'text' in single quotes, true or false at its end"),
        ("age = old", "true or false at 'old'"),
        ('land = "DE"', "expected a number, 'text' in single quotes"),
        ("1 = 1", "expected a column at '1 = 1'"),
        ("age = 1; drop table logs", "expected the end at '; drop table logs'"),
        ("age = 1 -- x", "expected the end at '-- x'"),
        ("age = 1 /* x */", "expected the end"),
        ("(select count(*) from read_csv('/etc/passwd')) > 0", "expected a comparison at .count"),
        ("age in (select 1)", "true or false at 'select 1"),
        ("exists (from read_text('/etc/passwd'))", "expected a comparison"),
        ("read_text('/etc/passwd') = 'x'", r"expected a comparison at \"\('/etc/passwd"),
        ("getenv('HOME') = 'x'", "expected a comparison"),
        ("land = 'DE' and", "expected a column at its end"),
        ("(age = 1", r"expected '\)' at its end"),
        ("age = 1)", r"expected the end at '\)'"),
        ("age between 1", "expected 'and' at its end"),
        ("land = 'DE", "single quotes"),
        ("age = 1 and age = 'x'", "where compares column 'age' with number and with text"),
        ("(" * 200 + "age = 1" + ")" * 200, "more than 100 parentheses inside one another"),
        (" or ".join(["age = 1"] * 101), "more than 100 comparisons"),
        ("age = 'x'", "where compares column 'age' with 'x', but it holds Int64"),
        ("land = 3", "where compares column 'land' with 3, but it holds String"),
        ("age = true", "where compares column 'age' with True, but it holds Int64"),
        ("ages = 1", "unknown column 'ages'; did you mean 'age'"),
    ],
)
def test_what_is_no_filter_is_refused(where: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_logs(pyarrow.table(COLUMNS), arm="arm", reward="reward", where=where)
