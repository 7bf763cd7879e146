"""What an identification says: in numbers, in a line, in a table, in a file."""

import csv
from pathlib import Path

import numpy as np
import pytest

from driftanchor import Identification, UnknownName
from driftanchor.core.stats.intervals import wilson

PULLS = np.array([[10, 12, 14, 20], [30, 30, 40, 50]])
ANSWERS = np.array([[0, 1, 0, -1], [0, 0, 0, 0]])
FOUND = Identification(("lucb-h", "lucb"), PULLS, ANSWERS, 0, 0.1, "anytime", 20, 3)


def test_errors_and_stops_are_shares_of_all_runs() -> None:
    assert FOUND.stopped("lucb-h") == 0.75
    assert FOUND.error("lucb-h") == (0.25, *wilson(0.25, 4))
    assert FOUND.error("lucb") == (0.0, *wilson(0.0, 4))
    with pytest.raises(UnknownName, match="unknown rule 'lucbh'; did you mean 'lucb-h'"):
        FOUND.error("lucbh")


def test_the_summary_has_pulls_stops_and_errors() -> None:
    row = FOUND.summary()["lucb-h"]
    assert list(row) == [
        *("mean", "se", "median", "q90", "q99", "max", "stopped"),
        *("error", "error_low", "error_high"),
    ]
    assert (row["mean"], row["median"], row["max"], row["stopped"]) == (14.0, 13.0, 20.0, 0.75)
    assert row["se"] == pytest.approx(PULLS[0].std(ddof=1) / 2)


def test_it_is_a_line_a_table_and_a_frame() -> None:
    assert repr(FOUND) == (
        "<Identification: lucb-h, lucb: 4 runs, δ = 0.1, anytime radius, seed 3>"
    )
    assert list(FOUND.to_frame().columns) == ["rule", *FOUND.summary()["lucb"]]
    assert FOUND._repr_html_().startswith("<table><caption>Pulls until the best arm is known")
    single = Identification(("lucb",), PULLS[:1, :1], ANSWERS[:1, :1], 0, 0.1, "paper", 20, 3)
    assert single._columns()["se"] == [None]


def test_every_run_is_in_the_file(tmp_path: Path) -> None:
    FOUND.to_csv(tmp_path / "runs.csv")
    with (tmp_path / "runs.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 8
    assert rows[1] == {"rule": "lucb-h", "run": "1", "pulls": "12", "answer": "2"}
    assert rows[3]["answer"] == ""
