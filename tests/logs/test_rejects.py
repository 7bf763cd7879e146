"""Every row is accounted for: why it cannot be used, and on which line it stands."""

from __future__ import annotations

import gzip
import importlib
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftanchor import RejectedRows, read_logs
from driftanchor.logs.log_summary import LogSummary

FINE = [("A", "0.5"), ("B", "1"), ("A", "0"), ("B", "0.25")]
pyarrow: Any = importlib.import_module("pyarrow")


def read(path: object, **options: Any) -> LogSummary:
    return read_logs(path, arm="arm", reward="reward", allow_rejects=True, **options)


def places(summary: LogSummary) -> dict[str, list[int | None]]:
    found: dict[str, list[int | None]] = {}
    for example in summary.examples:
        found.setdefault(example.reason, []).append(example.line)
    return found


def test_every_reason_of_a_csv_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "logs.csv"
    lines = [
        "\ufeffarm,reward,note",
        "A,1,fine",
        'B,0,"two',
        'lines"',
        "A,,missing",
        "",
        "B,abc,no number",
        "A,nan,not finite",
        "B,-inf,not finite",
        "A,7,out of range",
        "B,0.5",
        "A,0.5,too,many",
        ",0.5,no arm",
        "  ,0.5,no arm",
        f"{'x' * 10_000},0.5,long",
        'B,"1"x,quotes',
        "\x07,1,not printable",
        "B,TRUE,fine",
        "A, 0.5 ,fine",
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    summary = read(path, reward_range=(0, 1))
    assert places(summary) == {
        "reward_missing": [5],
        "reward_not_number": [7],
        "reward_not_finite": [8, 9],
        "reward_out_of_range": [10],
        "line_ragged": [11, 12],
        "arm_missing": [13, 14],
        "arm_too_long": [15],
        "line_unreadable": [16],
        "arm_not_printable": [17],
    }
    told = summary.provenance
    assert (told.rows_read, told.rows_filtered, told.rows_used) == (16, 0, 4)
    assert {label: (arm.n, arm.mean) for label, arm in summary.arms.items()} == {
        "A": (2, 0.75),
        "B": (2, 0.5),
    }
    long = next(example for example in summary.examples if example.reason == "arm_too_long")
    assert str(long) == f"{path}:15 {'x' * 40 + '…'!r}"


RECORDS = st.lists(
    st.sampled_from(["A,1,n", 'B,0,"a\nb"', "A,bad,n", "", "B,1", "A,1,n,n", "B,inf,n", ",1,n"]),
    min_size=1,
    max_size=60,
)
REASONS = {
    "A,bad,n": "reward_not_number",
    "B,1": "line_ragged",
    "A,1,n,n": "line_ragged",
    "B,inf,n": "reward_not_finite",
    ",1,n": "arm_missing",
}


@settings(max_examples=settings().max_examples // 3)
@given(records=RECORDS, newline=st.sampled_from(["\n", "\r\n"]), packed=st.booleans())
def test_the_lines_are_those_an_editor_shows(
    records: list[str], newline: str, packed: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    records = ["A,1,n", "B,0,n", *records, "A,0,n"]
    text = newline.join(["arm,reward,note", *(r.replace("\n", newline) for r in records)])
    path = tmp_path_factory.mktemp("lines") / ("logs.csv.gz" if packed else "logs.csv")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    expected: dict[str, list[int]] = {}
    line = 2
    for record in records:
        if record in REASONS:
            expected.setdefault(REASONS[record], []).append(line)
        line += 1 + record.count("\n")
    summary = read(path)
    assert dict(summary.provenance.rows_rejected) == {k: len(v) for k, v in expected.items()}
    assert places(summary) == {reason: found[:3] for reason, found in expected.items()}


def test_every_reason_of_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "logs.jsonl"
    lines = [
        json.dumps({"arm": "A", "reward": 1}),
        "",
        json.dumps({"arm": "B", "reward": "0.5"}),
        "{not json",
        json.dumps({"arm": "B", "reward": {"deep": 1}}),
        json.dumps({"arm": None, "reward": True}),
        json.dumps({"arm": "A"}),
        '{"arm": "A", "reward": NaN}',
        json.dumps({"arm": 7, "reward": False, "a/b~c": 1}),
        '{"arm": "A", "rew',
    ]
    path.write_text("\n".join(lines))
    summary = read(path)
    assert places(summary) == {
        "line_not_json": [4, 10],
        "reward_not_number": [5],
        "arm_missing": [6],
        "reward_missing": [7],
        "reward_not_finite": [8],
    }
    assert {label: (arm.n, arm.mean) for label, arm in summary.arms.items()} == {
        "7": (1, 0.0),
        "A": (1, 1.0),
        "B": (1, 0.5),
    }
    with pytest.warns(UserWarning, match="one arm only, '7'"):
        told = read(path, where='"a/b~c" = 1').provenance
    assert (told.rows_filtered, told.rows_used) == (6, 1)
    assert dict(told.rows_rejected) == {"line_not_json": 2}


def test_rows_of_parquet_and_of_frames_are_numbered(tmp_path: Path) -> None:
    table = pyarrow.table(
        {"arm": ["A", "B", None, "A", "B"], "reward": [1.0, math.nan, 1.0, None, 0.0]}
    )
    path = tmp_path / "logs.parquet"
    importlib.import_module("pyarrow.parquet").write_table(table, path)
    polars: Any = importlib.import_module("polars")
    for logs in (path, table, polars.from_arrow(table)):
        summary = read(logs)
        assert {e.reason: e.row for e in summary.examples} == {
            "reward_not_finite": 2,
            "arm_missing": 3,
            "reward_missing": 4,
        }
        assert not any(example.line for example in summary.examples)


def test_examples_are_the_first_few_over_all_files(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("arm,reward\nA,0.5\nB,x\nB,x\n")
    (tmp_path / "2.csv").write_text("reward;arm\n1;A\n0;B\nx;B\nx;B\n;A\n")
    summary = read(str(tmp_path / "?.csv"))
    told = [f"{Path(e.file or '').name}:{e.line}" for e in summary.examples]
    assert told == ["1.csv:3", "1.csv:4", "2.csv:4", "2.csv:6"]
    assert dict(summary.provenance.rows_rejected) == {"reward_missing": 1, "reward_not_number": 4}


def test_rejected_rows_outside_the_filters_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "logs.csv"
    path.write_text(
        "arm,reward,land,at\nA,1,DE,2026-01-01\nB,x,FR,2026-01-01\nB,0,DE,2026-01-02\nC,x,DE,2026-01-03\n,1,DE,2026-01-01\n"
    )
    told = read(path, where="land = 'DE'", arms=["B", "A"]).provenance
    assert (told.rows_read, told.rows_filtered, told.rows_used) == (5, 2, 2)
    assert dict(told.rows_rejected) == {"arm_missing": 1}
    told = read(path, time="at", until="2026-01-03", where="land in ('DE', 'FR')").provenance
    assert (told.rows_filtered, dict(told.rows_rejected)) == (
        1,
        {"reward_not_number": 1, "arm_missing": 1},
    )


@pytest.mark.parametrize("where", ["age > 3", "new = true", "age is not null and age > 3"])
def test_values_that_a_filter_cannot_read_are_filtered(where: str, tmp_path: Path) -> None:
    path = tmp_path / "logs.csv"
    lines = [
        "arm,reward,age,new",
        "A,1,n/a,?",
        "B,0,4,true",
        "A,0,7,true",
        "A,1,9,TRUE",
        "B,x,n/a,?",
    ]
    path.write_text("\n".join(lines))
    told = read(path, where=where).provenance
    assert (told.rows_read, told.rows_filtered, told.rows_used) == (5, 2, 3)
    assert told.rows_rejected == ()


def test_one_in_a_hundred_is_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "logs.csv"
    body = "A,1\nA,0\n" * 99
    path.write_text(f"arm,reward\n{body}A,x\nB,1\nA,x\n")
    assert read_logs(path, arm="arm", reward="reward").provenance.rows_used == 199
    path.write_text(f"arm,reward\n{body}A,x\nA,x\nB,1\nB,y\n")
    message = (
        r"3 of 202 rows of '.*logs.csv' cannot be used: reward_not_number 3 \(.*logs.csv:200 'x', "
        r".*logs.csv:201 'x', .*logs.csv:203 'y'\); fix them, or .* \(--allow-rejects\)"
    )
    with pytest.raises(RejectedRows, match=message):
        read_logs(path, arm="arm", reward="reward")
    assert read(path).provenance.rows_used == 199


def test_logs_of_which_no_row_can_be_used_are_refused_in_any_case(tmp_path: Path) -> None:
    path = tmp_path / "logs.csv"
    path.write_text("arm,reward\nA,x\n,1\n")
    with pytest.raises(RejectedRows, match="2 of 2 rows"):
        read(path)


COUNTED = [  # what is wrong with a row of arm, count, total or mean, and variance
    ("A,,1,0", "count_missing"),
    ("A,x,1,0", "count_not_number"),
    ("A,-1,1,0", "count_not_whole"),
    ("A,1.5,1,0", "count_not_whole"),
    ("A,1e300,1,0", "count_not_whole"),
    ("A,inf,1,0", "count_not_finite"),
    ("A,5,,0", "{}_missing"),
    ("A,5,x,0", "{}_not_number"),
    ("A,5,-inf,0", "{}_not_finite"),
    ("A,5,99,0", "reward_out_of_range"),
]


@pytest.mark.parametrize("role", ["total", "mean"])
def test_every_reason_of_counted_rows(role: str, tmp_path: Path) -> None:
    path = tmp_path / "logs.csv"
    rows = "\n".join(row for row, _ in COUNTED)
    path.write_text(f"arm,n,x,v\nA,5,1,0.2\nB,0,0,\n{rows}\n")
    options: Any = {role: "x", "variance": "v" if role == "mean" else None}
    summary = read_logs(
        path, arm="arm", count="n", reward_range=(-10, 10), allow_rejects=True, **options
    )
    expected: dict[str, list[int]] = {}
    for line, (_, reason) in enumerate(COUNTED, start=4):
        expected.setdefault(reason.format(role), []).append(line)
    assert places(summary) == expected
    assert summary.arms["A"].n == 5


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("A,5,1,", "variance_missing"),
        ("A,5,1,x", "variance_not_number"),
        ("A,5,1,-1", "variance_negative"),
        ("A,5,1,nan", "variance_not_finite"),
        ("A,0,,", None),
        ("A,1,2,", None),
    ],
)
def test_a_variance_is_needed_of_two_rewards_and_more(
    row: str, reason: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "logs.csv"
    path.write_text(f"arm,n,x,v\nA,5,1,0.2\nB,5,1,0.1\n{row}\n")
    summary = read_logs(path, arm="arm", count="n", mean="x", variance="v", allow_rejects=True)
    assert dict(summary.provenance.rows_rejected) == ({reason: 1} if reason else {})


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_an_underscore_makes_no_number(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    rows = [("A", "1_0"), ("B", "1"), ("v1_2", "2"), ("A", "0"), ("B", "1_")]
    lines = ["arm,reward", *(f"{arm},{reward}" for arm, reward in rows)]
    if path.suffix == ".jsonl":
        lines = [json.dumps({"arm": arm, "reward": reward}) for arm, reward in rows]
    path.write_text("\n".join(lines))
    summary = read(path)
    assert dict(summary.provenance.rows_rejected) == {"reward_not_number": 2}
    assert {label: arm.mean for label, arm in summary.arms.items()} == {"A": 0, "B": 1, "v1_2": 2}


def test_a_total_without_a_count_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "logs.csv"
    path.write_text("arm,n,x\nA,5,1\nB,0,3\n")
    with pytest.raises(RejectedRows, match="total_without_count 1"):
        read_logs(path, arm="arm", count="n", total="x")
