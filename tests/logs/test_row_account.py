"""What is said of rows beside their numbers: labels that are no arms, totals above their counts."""

from __future__ import annotations

import importlib
import math
from pathlib import Path
from typing import Any

import pytest

from driftanchor import InvalidInput, Learner, RejectedRows, read_logs, read_periods

pyarrow: Any = importlib.import_module("pyarrow")
ROWS = "A,1,x\nB,0,x\nA,0,y\nB,1,y\n" * 40


@pytest.fixture
def joined(tmp_path: Path) -> Path:
    """A file in which one row, of a label of its own, has no number for a reward."""
    path = tmp_path / "both.csv"
    path.write_text(f"arm,reward,week\n{ROWS}variant,clicked,x\n{ROWS}")
    return path


def test_a_repeated_line_of_names_is_no_row(tmp_path: Path) -> None:
    path = tmp_path / "both.csv"
    path.write_text(f"arm,reward,week\n{ROWS}arm,reward,week\n{ROWS}")
    summary = read_logs(path, arm="arm", reward="reward")
    assert list(summary.arms) == ["A", "B"]
    assert dict(summary.provenance.rows_rejected) == {"line_repeats_header": 1}


def test_a_label_without_a_row_that_can_be_used_is_no_arm(joined: Path) -> None:
    told = "'variant' is not an arm: no row of that name can be used .1 row rejected."
    with pytest.warns(UserWarning, match=told):
        summary = read_logs(joined, arm="arm", reward="reward")
    assert list(summary.arms) == list(summary.offline.arms) == ["A", "B"]
    assert dict(summary.provenance.rows_rejected) == {"reward_not_number": 1}
    learner = Learner(offline=summary.offline, bias_bound=0.1, reward_range=(0, 1), seed=1)
    assert learner.pull() in {"A", "B"}
    with pytest.warns(UserWarning, match=told):
        weeks = read_periods(joined, by="week", arm="arm", reward="reward")
    assert {label: list(week.arms) for label, week in weeks.items()} == {
        "x": ["A", "B"],
        "y": ["A", "B"],
    }


def test_such_a_label_cannot_be_asked_for(joined: Path) -> None:
    with pytest.raises(InvalidInput, match="arms has 'variant', none of whose rows can be"):
        read_logs(joined, arm="arm", reward="reward", arms=["A", "variant"])
    asked = read_logs(joined, arm="arm", reward="reward", arms=["B", "A"])
    assert asked.provenance.rows_rejected == ()
    assert asked.warnings == ()


def test_a_few_such_labels_are_named(tmp_path: Path) -> None:
    path = tmp_path / "logs.csv"
    path.write_text("arm,reward\nA,1\nA,0\nB,1\n" + "".join(f"x{i},\n" for i in range(5)))
    with pytest.warns(UserWarning, match="'x0', 'x1', 'x2' and 2 more are not arms: .* .5 rows"):
        read_logs(path, arm="arm", reward="reward", allow_rejects=True)
    path.write_text("arm,reward\nA,\nB,x\n")
    for arms in (None, ["A"]):
        with pytest.raises(
            RejectedRows, match=r"reward_missing 1 .*: if an empty reward means 0, write 0"
        ):
            read_logs(path, arm="arm", reward="reward", arms=arms, allow_rejects=True)


CLICKS = {"arm": ["A", "B", "A", "B"], "views": [10, 20, 5, 7], "clicks": [3, 5, 6, 2]}


def test_a_total_above_its_count_is_named(tmp_path: Path) -> None:
    columns: Any = {"arm": "arm", "count": "views", "total": "clicks"}
    table = pyarrow.table(CLICKS)
    path = tmp_path / "logs.csv"
    table.to_pandas().to_csv(path, index=False)
    told = "column 'clicks' is no whole number from 0 to 'views' in 1 of 4 rows"
    for logs, place in ((table, "row 3 '6.0'"), (path, "logs.csv:4 '6.0'")):
        with pytest.warns(UserWarning, match=rf"{told} \(.*{place}\), most of them of arm 'A'"):
            summary = read_logs(logs, **columns)
        assert all(math.isnan(arm.variance) for arm in summary.arms.values())
        with pytest.warns(UserWarning, match="one arm only"):
            alone = read_logs(logs, arms=["B"], **columns)
        assert alone.arms["B"].variance == pytest.approx(7 * (1 - 7 / 27) / 26)
    assert read_logs(table, reward_range=(0, 2), **columns).warnings == ()


def test_totals_of_something_else_than_clicks_are_no_mistake() -> None:
    money = pyarrow.table(CLICKS | {"clicks": [31.5, 50.25, 0.0, 17.0]})
    summary = read_logs(money, arm="arm", count="views", total="clicks")
    assert summary.warnings == ()
    assert math.isnan(summary.arms["A"].variance)
