"""Arms compared within files, periods and columns."""

from __future__ import annotations

import gzip
import importlib
import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from log_forms import FORMS, forms_of

from driftanchor import InvalidInput, OfflineData, Provenance, read_logs

pyarrow: Any = importlib.import_module("pyarrow")
compute: Any = importlib.import_module("pyarrow.compute")
pytestmark = pytest.mark.usefixtures("in_own_folder")
SIMPSON = "Simpson's paradox"
NAMES: Any = {"arm": "arm", "reward": "reward"}
# Of arm, place and number of rows: what share of the rewards is 1.
RATES = {"one": 0.1, "two": 0.5}
SPLIT = {("A", "one"): 900, ("B", "one"): 100, ("A", "two"): 100, ("B", "two"): 900}


def rows(split: dict[tuple[str, str], int] = SPLIT) -> list[tuple[str, str, float]]:
    """Rows of (arm, place, reward); both arms have the same rates everywhere."""
    return [
        (arm, place, float(i < round(RATES[place] * n)))
        for (arm, place), n in split.items()
        for i in range(n)
    ]


def write(name: str, lines: Sequence[tuple[Any, ...]], header: str = "arm,place,reward") -> str:
    Path(name).write_text("\n".join([header, *(",".join(map(str, x)) for x in lines)]) + "\n")
    return name


def files(split: dict[tuple[str, str], int] = SPLIT) -> list[str]:
    found = rows(split)
    return [write(f"{p}.csv", [row for row in found if row[1] == p]) for p in RATES]


def table(**columns: Any) -> Any:
    found = list(zip(*rows(), strict=True))
    return pyarrow.table(dict(zip(("arm", "place", "reward"), found, strict=True)) | columns)


def test_equal_arms_of_two_files_with_other_splits_are_equal() -> None:
    with pytest.warns(UserWarning, match=SIMPSON) as told:
        summary = read_logs(files(), **NAMES)
    assert len(told) == 1
    message = str(told[0].message)
    assert "pooled over all rows, 'B' has the mean 0.46 and 'A' 0.14" in message
    assert "compared within files, they have 0.3 and 0.3" in message
    offline = summary.offline
    np.testing.assert_allclose(offline.mean, [0.3, 0.3])
    assert offline.n.tolist() == [360, 360]
    np.testing.assert_allclose(offline.variance, 0.3 * 0.7 * 360 / 359)
    strata = summary.provenance.strata
    assert strata is not None
    assert (strata.within, strata.count, strata.used) == (("file",), 2, "stratified")
    assert strata.why == "the arms' shares of the rows differ between files"
    assert [row[:2] for row in strata.pooled] == [("A", 1000), ("B", 1000)]
    assert [row[2] for row in strata.pooled] == pytest.approx([0.14, 0.46])
    assert [row[1] for row in strata.stratified] == [360, 360]
    assert OfflineData.from_json(offline.to_json()) == offline
    assert Provenance.from_json(summary.provenance.to_json()) == summary.provenance


@pytest.mark.parametrize("form", ["jsonl", "parquet", "csv with line breaks", "csv.gz"])
def test_files_of_every_format_are_compared(form: str, tmp_path: Path) -> None:
    named = []
    for place in RATES:
        folder = tmp_path / place
        folder.mkdir()
        part = table().filter(compute.field("place") == place)
        forms_of(part, folder)
        text = (folder / "rows.csv").read_text()
        (folder / "rows.csv").write_text(text.replace("A,one", 'A,"o\nne"').replace(place, "x"))
        (folder / "rows.csv.gz").write_bytes(gzip.compress(text.encode()))
        named.append(folder / f"rows.{form.partition(' ')[0]}")
    with pytest.warns(UserWarning, match=SIMPSON):
        offline = OfflineData.from_logs(named, **NAMES)
    np.testing.assert_allclose(offline.mean, [0.3, 0.3])


@pytest.mark.parametrize("form", FORMS)
def test_a_column_compares_arms_in_every_form_of_logs(form: str, tmp_path: Path) -> None:
    logs = forms_of(table(), tmp_path)[form]
    with pytest.warns(UserWarning, match=SIMPSON):
        offline = OfflineData.from_logs(logs, by="place", **NAMES)
    np.testing.assert_allclose(offline.mean, [0.3, 0.3])
    assert offline.provenance is not None
    assert dict(offline.provenance.columns)["by"] == "place"
    assert OfflineData.from_logs(logs, **NAMES).mean.tolist() == pytest.approx([0.14, 0.46])


@pytest.mark.parametrize("form", FORMS)
def test_periods_compare_arms_where_times_are_named(form: str, tmp_path: Path) -> None:
    at = [datetime(2026, 1, 1 if place == "one" else 2, 12) for _, place, _ in rows()]
    logs = forms_of(table(at=at), tmp_path)[form]
    with pytest.warns(UserWarning, match=SIMPSON):
        summary = read_logs(logs, time="at", **NAMES)
    np.testing.assert_allclose(summary.offline.mean, [0.3, 0.3])
    strata = summary.provenance.strata
    assert strata is not None
    assert strata.within == ("day",)
    pooled = read_logs(logs, time="at", by="month", **NAMES)
    assert pooled.provenance.strata is None  # there is one month only


def test_counted_rows_are_compared_too() -> None:
    cells = [(arm, p, n, round(RATES[p] * n), RATES[p]) for (arm, p), n in SPLIT.items()]
    names = ("arm", "place", "views", "clicks", "rate")
    logs = pyarrow.table(dict(zip(names, zip(*cells, strict=True), strict=True)))
    for numbers in ({"total": "clicks"}, {"mean": "rate"}):
        options: Any = {"arm": "arm", "count": "views", **numbers}
        with pytest.warns(UserWarning, match=SIMPSON):
            offline = OfflineData.from_logs(logs, by="place", **options)
        np.testing.assert_allclose(offline.mean, [0.3, 0.3])
        assert offline.n.tolist() == [360, 360]


def test_equal_shares_keep_the_pooled_numbers_to_the_bit() -> None:
    same = {("A", "one"): 700, ("B", "one"): 350, ("A", "two"): 212, ("B", "two"): 100}
    apart = files(same)
    whole = write("whole.csv", rows(same))
    summary, plain = read_logs(apart, **NAMES), read_logs(whole, **NAMES)
    assert summary.offline.n.tolist() == plain.offline.n.tolist()
    assert summary.offline.mean.tolist() == plain.offline.mean.tolist()
    np.testing.assert_allclose(summary.offline.variance, plain.offline.variance, rtol=1e-12)
    strata = summary.provenance.strata
    assert strata is not None
    assert strata.used == "pooled"
    assert "are the same in all files" in strata.why
    assert plain.provenance.strata is None
    assert "strata" not in plain.provenance.to_json()


def test_other_shares_are_corrected_without_a_warning_where_the_order_stays() -> None:
    lines = [
        ("A" if i % 10 < share else "B", place, float(i % 100 < (60 if i % 10 < share else 10)))
        for place, share in (("one", 8), ("two", 3))
        for i in range(1_000)
    ]
    logs = pyarrow.table(
        dict(zip(("arm", "place", "reward"), zip(*lines, strict=True), strict=True))
    )
    strata = read_logs(logs, by="place", **NAMES).provenance.strata
    assert strata is not None
    assert strata.used == "stratified"


def test_a_missing_value_is_a_group_of_its_own() -> None:
    place = [None if p == "one" else p for _, p, _ in rows()]
    with pytest.warns(UserWarning, match=SIMPSON):
        summary = read_logs(table(place=place), by="place", **NAMES)
    assert summary.provenance.rows_rejected == ()
    np.testing.assert_allclose(summary.offline.mean, [0.3, 0.3])


def test_arms_in_files_of_their_own_are_compared_within_days() -> None:
    lines = [
        (arm, "", float(i % 10 < (1 if day == 0 else 5)), f"2026-01-0{day + 1}")
        for (arm, day), n in {("A", 0): 900, ("A", 1): 100, ("B", 0): 100, ("B", 1): 900}.items()
        for i in range(n)
    ]
    header = "arm,place,reward,at"
    named = [write(f"{a}.csv", [x for x in lines if x[0] == a], header) for a in "AB"]
    with pytest.warns(UserWarning, match="compared within days, they have 0.3 and 0.3"):
        read_logs(named, time="at", **NAMES)
    with pytest.warns(UserWarning, match="'A' and 'B' never appear together in any of the files"):
        summary = read_logs(named, **NAMES)
    assert summary.offline.n.tolist() == [1000, 1000]


def test_arms_that_take_turns_by_day_are_compared_within_weeks() -> None:
    start = datetime(2026, 1, 5)  # a Monday
    cells = [(day, "AB"[day % 2], i) for day in range(28) for i in range(100)]
    at, arm = [start + timedelta(days=day) for day, _, _ in cells], [arm for _, arm, _ in cells]
    logs = pyarrow.table({"arm": arm, "at": at, "reward": [float(i % 3 == 0) for _, _, i in cells]})
    strata = read_logs(logs, time="at", **NAMES).provenance.strata
    assert strata is not None
    assert (strata.within, strata.count) == (("week",), 4)
    with pytest.warns(UserWarning, match="never appear together in any of the days"):
        read_logs(logs, time="at", by="day", **NAMES)


def test_files_and_days_together() -> None:
    """Only within a file and a day do both arms have the same rates."""
    rates = {("one", 1): 0.1, ("one", 2): 0.5, ("two", 1): 0.6, ("two", 2): 0.2}
    share = {("one", 1): 90, ("one", 2): 30, ("two", 1): 20, ("two", 2): 80}
    for name in ("one", "two"):
        lines = [
            (arm, day, float(i < round(rates[file, day] * n)))
            for (file, day), part in share.items()
            if file == name
            for arm, n in (("A", 10 * part), ("B", 10 * (100 - part)))
            for i in range(n)
        ]
        found = [(arm, f"2026-01-0{day}", reward) for arm, day, reward in lines]
        write(f"{name}.csv", found, "arm,at,reward")
    with pytest.warns(UserWarning, match="within files and days"):
        offline = OfflineData.from_logs(["one.csv", "two.csv"], time="at", **NAMES)
    assert offline.mean[0] == pytest.approx(offline.mean[1])


def test_small_logs_with_times_are_not_cut_into_periods() -> None:
    at = [datetime(2026, 1, 1 + i) for i in range(20)]
    logs = pyarrow.table(
        {"arm": ["A", "B"] * 10, "reward": [1.0, 0.0] * 5 + [0.0, 1.0] * 5, "at": at}
    )
    assert read_logs(logs, time="at", **NAMES).provenance.strata is None


def test_seconds_since_1970_are_periods_too() -> None:
    at = [1_767_225_600 + (0 if p == "one" else 86_400) for _, p, _ in rows()]
    with pytest.warns(UserWarning, match="within days"):
        read_logs(table(at=at), time="at", **NAMES)


def test_rows_that_are_filtered_or_rejected_are_in_no_group() -> None:
    found = [*rows(), *[("A", "two", 1.0)] * 5, ("B", "three", math.nan)]
    logs = pyarrow.table(
        dict(zip(("arm", "place", "reward"), zip(*found, strict=True), strict=True))
        | {"test": [False] * 2_000 + [True] * 5 + [False]}
    )
    with pytest.warns(UserWarning, match=SIMPSON):
        summary = read_logs(logs, by="place", where="test = false", **NAMES)
    strata = summary.provenance.strata
    assert strata is not None
    assert strata.count == 2
    np.testing.assert_allclose(summary.offline.mean, [0.3, 0.3])


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("nowhere", "has no column 'nowhere'"),
        ("week", "by is 'week', and there is neither time nor a column of that name"),
        ("", "by must name a column"),
    ],
)
def test_what_cannot_be_compared_within_is_refused(by: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_logs(files(), by=by, **NAMES)


def test_too_many_groups_are_told_and_not_compared() -> None:
    many = pyarrow.table(
        {"arm": ["A", "B"] * 60_000, "reward": [0.0, 1.0, 1.0, 0.0] * 30_000, "id": range(120_000)}
    )
    with pytest.warns(UserWarning, match="too many values of 'id' to compare arms within them"):
        assert read_logs(many, by="id", **NAMES).provenance.strata is None
