"""Times in every form people log them, always told in UTC."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from driftanchor import InvalidInput, RejectedRows, read_logs, read_periods
from driftanchor.logs.log_summary import LogSummary
from driftanchor.logs.times import bound

pandas: Any = importlib.import_module("pandas")
polars: Any = importlib.import_module("polars")
pyarrow: Any = importlib.import_module("pyarrow")
parquet: Any = importlib.import_module("pyarrow.parquet")
MOMENTS = [datetime(2026, 3, 1, 22, tzinfo=UTC) + timedelta(minutes=20 * i) for i in range(12)]
FORMS: dict[str, Callable[[datetime], object]] = {
    "ISO": lambda t: t.replace(tzinfo=None).isoformat(),
    "ISO with a blank": lambda t: f"{t:%Y-%m-%d %H:%M:%S}",
    "ISO with Z": lambda t: f"{t:%Y-%m-%dT%H:%M:%S}.000Z",
    "ISO with an offset": lambda t: t.astimezone(timezone(timedelta(hours=-5))).isoformat(),
    "seconds": lambda t: int(t.timestamp()),
    "fractions of seconds": lambda t: t.timestamp() + 0.0,
    "milliseconds": lambda t: int(t.timestamp() * 1e3),
    "microseconds": lambda t: int(t.timestamp() * 1e6),
    "nanoseconds": lambda t: int(t.timestamp()) * 10**9,
}
TYPED: dict[str, Callable[[], object]] = {
    "pandas": lambda: pandas.Series(MOMENTS).dt.tz_localize(None),
    "pandas, zoned": lambda: pandas.Series(MOMENTS).dt.tz_convert("Asia/Tokyo"),
    "pandas, nanoseconds": lambda: pandas.Series(MOMENTS).astype("datetime64[ns, UTC]"),
    "pandas, epoch": lambda: pandas.Series([t.timestamp() for t in MOMENTS]),
    "polars": lambda: polars.Series([t.replace(tzinfo=None) for t in MOMENTS]),
    "polars, zoned": lambda: polars.Series(MOMENTS).dt.convert_time_zone("America/Lima"),
    "polars, epoch": lambda: polars.Series([int(t.timestamp() * 1000) for t in MOMENTS]),
    "pyarrow": lambda: pyarrow.array(MOMENTS, pyarrow.timestamp("ms", "+03:00")),
}


def read(logs: object, **options: Any) -> LogSummary:
    return read_logs(logs, arm="arm", reward="reward", time="at", **options)


def check(logs: object) -> None:
    """The span of all rows, and of those in an hour."""
    summary = read(logs)
    assert (summary.arms["A"].first, summary.arms["B"].last) == (MOMENTS[0], MOMENTS[-1])
    within = read(logs, since="2026-03-01T23:00", until="2026-03-02T01:00+01:00")
    assert (within.arms["B"].first, within.arms["A"].last) == (MOMENTS[3], MOMENTS[4])
    assert [arm.n for arm in within.arms.values()] == [1, 2]
    assert within.provenance.rows_filtered == 9


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_times_in_files(form: str, kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"logs.{kind}"
    values = [FORMS[form](moment) for moment in MOMENTS]
    table = pyarrow.table({"arm": ["A", "B"] * 6, "reward": [1, 1, 0] * 4, "at": values})
    if kind == "parquet":
        parquet.write_table(table, path)
    elif kind == "csv":
        table.to_pandas().to_csv(path, index=False)
    else:
        table.to_pandas().to_json(path, orient="records", lines=True)
    check(path)


@pytest.mark.parametrize("form", TYPED)
def test_times_in_frames_and_their_parquet(form: str, tmp_path: Path) -> None:
    library: Any = importlib.import_module(form.partition(",")[0])
    make = library.table if library is pyarrow else library.DataFrame
    frame = make({"arm": ["A", "B"] * 6, "reward": [1, 1, 0] * 4, "at": TYPED[form]()})
    check(frame)
    table = frame if library is pyarrow else pyarrow.table(frame)
    parquet.write_table(table, tmp_path / "logs.parquet")
    check(tmp_path / "logs.parquet")


def test_times_in_a_relation_whatever_zone_its_session_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pytz", None)  # DuckDB asks for it to fetch zoned times
    duckdb: Any = importlib.import_module("duckdb")
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'Asia/Tokyo'")
        at = pyarrow.array(MOMENTS, pyarrow.timestamp("us", "UTC"))
        table = pyarrow.table({"arm": ["A", "B"] * 6, "reward": [1, 1, 0] * 4, "at": at})
        check(connection.from_arrow(table))


def test_dates_are_the_midnights_they_start_with(tmp_path: Path) -> None:
    days = [date(2026, 3, 1) + timedelta(days=i) for i in range(4)]
    table = pyarrow.table({"arm": ["A", "B"] * 2, "reward": [0, 1, 1, 0], "at": days})
    parquet.write_table(table, tmp_path / "logs.parquet")
    table.to_pandas().to_csv(tmp_path / "logs.csv", index=False)
    for logs in (table, polars.from_arrow(table), *tmp_path.iterdir()):
        summary = read(logs, since=date(2026, 3, 2), until="2026-03-04")
        told = {label: arm.to_json()["first"] for label, arm in summary.arms.items()}
        assert told == {"A": "2026-03-03T00:00:00Z", "B": "2026-03-02T00:00:00Z"}


def test_rows_without_a_time_are_rejected_and_not_filtered(tmp_path: Path) -> None:
    path = tmp_path / "logs.csv"
    odd = ["", "yesterday", "20260301", "01/03/2026", "infinity", "7", "2026-13-01"]
    odd.append("0001-01-01T00:00:00+14:00")  # in UTC before the first year there is
    fine = "A,1,2026-03-01\nA,0,2026-03-01\nB,1,2026-03-02\n"
    path.write_text("arm,reward,at\n" + fine + "".join(f"B,1,{x}\n" for x in odd))
    summary = read(path, since="2026-01-01", allow_rejects=True)
    assert dict(summary.provenance.rows_rejected) == {"time_unreadable": 7, "time_missing": 1}
    assert summary.provenance.rows_used == 3
    assert [e.value for e in summary.examples if e.reason == "time_unreadable"] == odd[1:4]
    numbers = polars.DataFrame(
        {"arm": ["A", "A", "B"], "reward": [1, 0, 1], "at": [20260301.0, 1.8e9, 1.7e9]}
    )
    told = read(numbers, until="2030-01-01", allow_rejects=True).provenance
    assert dict(told.rows_rejected) == {"time_missing": 1}


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_times_are_iso_and_nothing_is_guessed(kind: str, tmp_path: Path) -> None:
    odd = ["31/12/24", "31-12-24", "24-12-31", "31\\12\\24", "5 1 24", "2024/12/31", "2024-1-5"]
    odd += ["12/31/2024", "epoch", "inf", "1_700_000_000", "10000-01-01"]
    fine = ["2024-12-31", " 2024-12-31 12:00 ", "2024-12-31T12:00:00.5+02:00", "1735646400"]
    at = fine + odd
    table = pyarrow.table({"arm": ["A", "B"] * 8, "reward": [1, 0, 0, 1] * 4, "at": at})
    path = tmp_path / f"logs.{kind}"
    if kind == "parquet":
        parquet.write_table(table, path)
    elif kind == "csv":
        table.to_pandas().to_csv(path, index=False)
    else:
        table.to_pandas().to_json(path, orient="records", lines=True)
    told = read(path, allow_rejects=True)
    assert dict(told.provenance.rows_rejected) == {"time_unreadable": len(odd)}
    assert [x.value for x in told.examples] == odd[:3]
    assert told.arms["A"].first == datetime(2024, 12, 31, tzinfo=UTC)
    with pytest.raises(RejectedRows, match=r"'31/12/24', .*: write 2026-01-31T12:00, as in"):
        read(path)


@pytest.mark.parametrize("seconds", [-253_402_300_800, 253_402_300_800])
@pytest.mark.parametrize("unit", ["s", "us"])
def test_years_that_python_does_not_know_are_missing(seconds: int, unit: str) -> None:
    size = {"s": 1, "us": 10**6}[unit]
    at = pyarrow.array([seconds * size, 1_700_000_000 * size] * 3, pyarrow.timestamp(unit))
    table = pyarrow.table({"arm": ["A", "A", "B"] * 2, "reward": [1, 0, 0, 1, 1, 1], "at": at})
    for frame in (table, polars.from_arrow(table), table.to_pandas()):
        told = read(frame, allow_rejects=True)
        assert dict(told.provenance.rows_rejected) == {"time_missing": 3}
        days = read_periods(
            frame, by="day", arm="arm", reward="reward", time="at", allow_rejects=True
        )
        assert list(days) == ["2023-11-14"]
    for frame in (table, polars.from_arrow(table)):
        with pytest.raises(InvalidInput, match="by is a column with a value that Python cannot"):
            read_periods(frame, by="at", arm="arm", reward="reward")


def test_numbers_before_year_one_are_missing_times() -> None:
    frame = pandas.DataFrame(
        {"arm": ["A", "A", "B", "B"], "reward": [1, 0, 0, 1], "at": [-9.9e10, *[2e9] * 3]}
    )
    told = read(frame, allow_rejects=True).provenance
    assert dict(told.rows_rejected) == {"time_missing": 1}


@pytest.mark.parametrize("text", ["9999-12-31T23:59-12:00", "0001-01-01T00:00+12:00"])
def test_bounds_beyond_the_years_of_utc_are_refused(text: str) -> None:
    with pytest.raises(
        InvalidInput, match=f"must be within the years 1 to 9999 in UTC, got '{text[:9]}"
    ):
        bound(text, "since")
    frame = polars.DataFrame({"arm": ["A"], "reward": [1], "at": [datetime(2026, 1, 1)]})
    with pytest.raises(InvalidInput, match="where compares column 'at', which holds times, with"):
        read_logs(frame, arm="arm", reward="reward", where=f"at >= '{text}'")


def test_text_in_frames_must_be_converted_by_the_caller() -> None:
    frame = polars.DataFrame({"arm": ["A"], "reward": [1], "at": ["2026-03-01"]})
    with pytest.raises(
        InvalidInput, match="time is column 'at', which holds String, not times: convert it first"
    ):
        read(frame)
