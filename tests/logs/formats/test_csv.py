from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from driftanchor.logs.formats import Lines, Scan
from driftanchor.logs.formats.csv import Csv
from driftanchor.logs.log_file import LogFile
from driftanchor.logs.query import LogQuery

UNASKED: Any = None  # CSV is looked at without DuckDB


def written(path: Path, content: str) -> LogFile:
    path.write_text(content, newline="")
    return LogFile(path.name, path, "csv", "")


def scan(file: LogFile) -> Scan:
    return Csv().scan(UNASKED, file, LogQuery(arm="arm", reward="x"))


def count(file: LogFile, most: int | None = None) -> int | None:
    return Csv().survey(UNASKED, file, LogQuery(arm="arm", reward="x"), most).rows


@pytest.mark.parametrize(
    ("names", "delimiter"),
    [("arm,a;b", ","), ("a,b;arm", ";"), ("x\tarm", "\t"), ("arm|x,y,z|w", "|"), ("arm", ",")],
)
def test_the_delimiter_is_the_one_that_gives_the_arm(
    names: str, delimiter: str, tmp_path: Path
) -> None:
    found = scan(written(tmp_path / "a.csv", f"{names}\n"))
    assert f"delim='{delimiter}'" in found.options
    assert "arm" in found.columns


def test_a_name_that_is_there_twice_is_ambiguous(tmp_path: Path) -> None:
    found = scan(written(tmp_path / "a.csv", "arm, x ,x\n"))
    assert {name: column.type for name, column in found.columns.items()} == {
        "arm": "VARCHAR",
        "x": "ambiguous",
    }


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ('"two\nlines",arm', ["two\nlines", "arm"]),
        ('5" nails,arm', ['5" nails', "arm"]),
        ("\n\n \narm,x", ["arm", "x"]),
        ("x" * 300_000 + ",arm", ["x" * 300_000, "arm"]),
        (",".join(["arm", *map(str, range(30_001))]), ["arm", *map(str, range(30_001))]),
    ],
)
def test_names_of_all_kinds(header: str, names: list[str], tmp_path: Path) -> None:
    assert list(scan(written(tmp_path / "a.csv", f"{header}\nA,1\n")).columns) == names


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ("arm,x\nA,1\nB,2\n", 2),
        ("arm,x\r\nA,1\r\nB,2", 2),
        ("arm,x\rA,1\r\rB,2\r", 2),
        ('arm,x\n"A",1\n\n"B ""b""",2\n', 2),
        ('arm,x\nA,"1\n2"\n', None),  # a record of two lines
        ('arm,x\nA,5" nails\nB,2\n', None),  # no quotes, but one has to look
        ("arm,x\r\nA,1\nB,2\n", None),  # DuckDB would stop there
        (",".join(["arm", *map(str, range(1_000))]) + "\n", None),  # too wide for it
    ],
)
def test_rows_are_counted_where_a_line_is_a_row(
    content: str, rows: int | None, tmp_path: Path
) -> None:
    assert count(written(tmp_path / "a.csv", content)) == rows


def test_counting_stops_at_the_limit(tmp_path: Path) -> None:
    file = written(tmp_path / "a.csv", "arm,x\n" + "A,1\n" * 100_000)
    assert 10 < (count(file, 10) or 0) < 100_000


def test_lines_are_those_of_an_editor(tmp_path: Path) -> None:
    file = written(tmp_path / "a.csv", 'arm,x\nA,"one\ntwo"\n\nB,1,2\nC,3\n')
    query = LogQuery(arm="arm", reward="x")
    assert list(Csv().lines(file, query)) == [
        Lines(2, [b'A,"one\ntwo"']),
        Lines(5, [b"B,1,2"], "line_ragged"),
        Lines(6, [b"C,3"]),
    ]
    assert list(Csv().numbers(file, query)) == [{"reward": "one\ntwo"}, {"reward": "3"}]
