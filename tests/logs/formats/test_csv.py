from __future__ import annotations

from pathlib import Path

import pytest

from driftanchor.logs import sandbox
from driftanchor.logs.formats.base import Place, Scan
from driftanchor.logs.formats.csv import Csv
from driftanchor.logs.log_file import LogFile


def scan(path: Path, content: str) -> Scan:
    path.write_text(content)
    with sandbox.connect([path], "400MB") as connection:
        return Csv().scan(connection, LogFile(path.name, path, "csv", ""), "arm")


@pytest.mark.parametrize(
    ("names", "delimiter"),
    [("arm,a;b", ","), ("a,b;arm", ";"), ("x\tarm", "\t"), ("arm|x,y,z|w", "|"), ("arm", ",")],
)
def test_the_delimiter_is_the_one_that_gives_the_arm(
    names: str, delimiter: str, tmp_path: Path
) -> None:
    found = scan(tmp_path / "a.csv", f"{names}\n")
    assert found.delimiter == delimiter
    assert "arm" in found.columns


def test_a_name_that_is_there_twice_is_ambiguous(tmp_path: Path) -> None:
    found = scan(tmp_path / "a.csv", "arm, x ,x\n")
    assert {name: column.type for name, column in found.columns.items()} == {
        "arm": "VARCHAR",
        "x": "ambiguous",
    }


def test_lines_are_those_of_an_editor(tmp_path: Path) -> None:
    found = scan(tmp_path / "a.csv", 'arm,x\nA,"one\ntwo"\n\nB,1,2\nC,3\n')
    assert list(Csv().places(found, {4})) == [
        Place(line=1, record=1, row=0),  # the names
        Place(line=2, record=2, row=1),
        Place(line=4, record=3, row=0),  # empty
        Place(line=5, record=4, row=0),  # DuckDB could not read it
        Place(line=6, record=5, row=2),
    ]
