"""Filters keep the same rows of every source."""

from __future__ import annotations

import importlib
import math
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from log_forms import FORMS, TEXT_FILES, forms_of, rows_kept

from driftanchor import InvalidInput, read_logs

pandas: Any = importlib.import_module("pandas")
polars: Any = importlib.import_module("polars")
pyarrow: Any = importlib.import_module("pyarrow")

DAYS = [*(date(2026, 1, day) for day in range(1, 8)), None]
HOURS = [*(datetime(2026, 1, 1, 3 * i) for i in range(7)), None]
ZONED = [hour and hour.replace(tzinfo=UTC) for hour in HOURS]
DECIMALS = [Decimal("0.10"), Decimal(1), Decimal("2.50"), None, Decimal(-3), *map(Decimal, "479")]
TABLE = pyarrow.table(
    {
        "arm": ["A", "B"] * 4,
        "reward": [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0],
        "age": [17.0, 18.0, math.nan, 20.0, None, math.nan, 30.0, 5.0],
        "far": [0.1, 1.0, 2.5, None, math.nan, math.inf, 100.0, -math.inf],
        "single": pyarrow.array([0.1, 1, 2.5, None, math.nan, 4, 9, 7], pyarrow.float32()),
        "whole": pyarrow.array([0, 1, 2, None, -3, 4, 2**53 + 1, 7], pyarrow.int64()),
        "small": pyarrow.array([0, 1, 2, None, -3, 4, 100, 7], pyarrow.int8()),
        "unsigned": pyarrow.array([0, 1, 2, None, 3, 4, 2**63 + 1, 7], pyarrow.uint64()),
        "exact": pyarrow.array(DECIMALS, pyarrow.decimal128(10, 2)),
        "new": [True, False, None, True, True, False, False, None],
        "day": DAYS,
        "at": pyarrow.array(HOURS, pyarrow.timestamp("us")),
        "zoned": pyarrow.array(ZONED, pyarrow.timestamp("us", "UTC")),
        "land": ["x", "y", "z", None, "nan", "w w", " z", "X"],
    }
)
OBJECTS = {"exact", "new", "day"}  # pandas holds these as Python objects, which are refused


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    return forms_of(TABLE, tmp_path_factory.mktemp("forms"))


@pytest.mark.parametrize(
    ("where", "rows"),
    [
        # NaN is missing: no comparison keeps it, negated or not.
        ("age >= 18", 3),
        ("age != 18", 4),
        ("not age = 18", 4),
        ("age not in (18, 20)", 3),
        ("age between 1 and 18", 3),
        ("age not between 1 and 18", 2),
        ("age is null", 3),
        ("not (age is null or age > 18)", 3),
        ("age >= 18 or not (age >= 18)", 5),
        ("far < 1e400", 5),
        # Whole numbers beside fractions, and beside what their column cannot hold.
        ("whole = 0.5", 0),
        ("whole != 0.5", 7),
        ("whole < 0.5", 2),
        ("whole >= 9007199254740992.5", 1),
        ("whole in (0.5, 1)", 1),
        ("whole between 0.5 and 2.5", 2),
        ("whole < 1e30", 7),
        ("small < 300", 7),
        ("small in (300, 1)", 1),
        ("unsigned < -1", 0),
        ("unsigned >= 1", 6),
        # Single precision is not what was typed, decimals are.
        ("single = 0.1", 0),
        ("exact in (0.1, 1)", 2),
        ("not new = true", 3),
        # A date is its midnight, and the time of day counts.
        ("day >= '2026-01-03T12:00'", 4),
        ("day in ('2026-01-03T12:00', '2026-01-04')", 1),
        ("at = '2026-01-01 03:00'", 1),
        ("at > '2026-01-01'", 6),
        ("at >= '2026-01-01T05:00+02:00'", 6),
        ("zoned in ('2026-01-01T05:00+02:00')", 1),
        ("land = 'nan'", 1),
        ("land < 'y'", 5),
    ],
)
def test_every_source_keeps_the_same_rows(forms: dict[str, object], where: str, rows: int) -> None:
    asked = [form for form in FORMS if form != "pandas" or not any(x in where for x in OBJECTS)]
    assert {form: rows_kept(forms[form], where) for form in asked} == dict.fromkeys(asked, rows)


def test_text_of_nan_is_missing_only_where_all_is_text(forms: dict[str, object]) -> None:
    kept = {form: rows_kept(forms[form], "land is null") for form in FORMS}
    assert kept == {form: 2 if form in TEXT_FILES else 1 for form in FORMS}


def test_numbers_that_floats_cannot_tell_apart_are_refused(forms: dict[str, object]) -> None:
    for form in ("csv", "jsonl", "pandas"):  # pandas: the missing value makes it a float
        assert "equals its neighbours too" in str(
            rows_kept(forms[form], "whole = 9007199254740993")
        )
    for form in ("parquet", "polars", "pyarrow", "duckdb", "ibis"):
        assert rows_kept(forms[form], "whole = 9007199254740993") == 1
        refused = str(rows_kept(forms[form], "unsigned = 9223372036854775809"))
        assert "whole numbers above 9223372036854775807 are not compared" in refused


@pytest.mark.parametrize("form", ["pandas", "pandas on arrow", "polars", "pyarrow"])
def test_text_of_a_frame_is_not_ordered_by_a_time_of_day(form: str) -> None:
    table = pyarrow.table({"arm": ["A", "B"], "reward": [1, 0], "at": ["2026-01-31 13:00", ""]})
    frames = {
        "pandas": table.to_pandas(),
        "pandas on arrow": table.to_pandas(types_mapper=pandas.ArrowDtype),
        "polars": polars.from_arrow(table),
        "pyarrow": table,
    }
    assert rows_kept(frames[form], "at >= '2026-01-31'") == 1
    assert rows_kept(frames[form], "at = '2026-01-31 13:00'") == 1
    with pytest.raises(
        InvalidInput, match="where compares column 'at', which holds text, with the time '2026-01"
    ):
        read_logs(frames[form], arm="arm", reward="reward", where="at >= '2026-01-31T12:00'")


def test_text_of_files_is_a_time_if_all_it_is_compared_with_are(tmp_path: Path) -> None:
    path = tmp_path / "logs.csv"
    path.write_text("arm,reward,at\nA,1,2026-01-31 13:00\nB,0,1769864400\nA,0,31/01/26\nB,1,n/a\n")
    assert rows_kept(path, "at >= '2026-01-31T12:00'") == 2
    assert rows_kept(path, "at in ('2026-01-31', 'n/a')") == 1
    assert rows_kept(path, "at != '2026-01-31T13:00'") == 0
