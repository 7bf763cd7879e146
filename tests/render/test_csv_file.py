from __future__ import annotations

import csv
from pathlib import Path

import pytest

from driftanchor.errors import InvalidInput
from driftanchor.render.csv_file import without_formula, write_csv, write_grouped

FORMULAS = ["=1+1", "+cmd", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "-inf", "+", "-", "=", "+1_0"]
HARMLESS = ["", "a", "a=1", " =1", "-1", "+1.5", "-.5", "-2e-3", "1-1", "'=1", "−1"]


@pytest.mark.parametrize("text", FORMULAS)
def test_what_a_spreadsheet_would_run_gets_an_apostrophe(text: str) -> None:
    assert without_formula(text) == f"'{text}"


@pytest.mark.parametrize("value", [*HARMLESS, -1, -2.5, float("-inf"), None])
def test_everything_else_stays(value: object) -> None:
    assert without_formula(value) is value


def read(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_headings_and_cells_are_escaped_unless_they_are_asked_for_as_they_are(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.csv"
    write_csv(path, ["=h", "n"], [["@a", -1], ["\udcff", 2.5]])
    assert read(path) == [["'=h", "n"], ["'@a", "-1"], ["\\udcff", "2.5"]]
    write_csv(path, ["=h", "n"], [["@a", -1]], escape_formulas=False)
    assert read(path) == [["=h", "n"], ["@a", "-1"]]


def test_a_place_that_cannot_be_written_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot write"):
        write_csv(tmp_path / "no" / "a.csv", ["a"], [])


@pytest.mark.parametrize("escape", [True, False])
def test_groups_are_written_as_their_rows_are(tmp_path: Path, escape: bool) -> None:
    groups: list[tuple[list[object], list[tuple[int, int, float]]]] = [
        (["=a", 'b, "c"', None, 0.1], [(0, 5, 1e-9), (1, 5, -2.5)]),
        (["\udcff", True, float("inf"), 7], [(2, 10**20, float("nan"))]),
        (["empty", "", "", ""], []),
    ]
    heading = ["=h", "x", "y", "z", "run", "round", "regret"]
    rows = [[*start, *numbers] for start, all_numbers in groups for numbers in all_numbers]
    write_csv(tmp_path / "rows.csv", heading, rows, escape_formulas=escape)
    write_grouped(tmp_path / "groups.csv", heading, groups, escape_formulas=escape)
    assert (tmp_path / "groups.csv").read_bytes() == (tmp_path / "rows.csv").read_bytes()
