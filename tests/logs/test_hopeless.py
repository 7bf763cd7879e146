"""A column of text that should be numbers is refused before all of it is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from driftanchor import InvalidInput, RejectedRows, read_logs
from driftanchor.logs import hopeless


@pytest.fixture(autouse=True)
def _ten_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hopeless, "HOPELESS", 10)


def logs(path: Path, rewards: list[str]) -> Path:
    rows = [("AB"[i % 2], reward, f"note {i}") for i, reward in enumerate(rewards)]
    if path.suffix == ".csv":
        path.write_text("arm,reward,note\n" + "".join(f"{a},{r},{n}\n" for a, r, n in rows))
    else:
        objects = [{"arm": a, "reward": r or None, "note": n} for a, r, n in rows]
        path.write_text("".join(json.dumps(x) + "\n" for x in objects))
    return path


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_thousands_of_values_without_a_number_are_refused(name: str, tmp_path: Path) -> None:
    path = logs(tmp_path / name, ["", "x"] * 20)
    message = (
        rf"reward is column 'reward', and none of its first 10 values in '.*{name}' is a number, "
        r"such as '.*': is it the right column\?"
    )
    with pytest.raises(InvalidInput, match=message):
        read_logs(path, arm="arm", reward="reward")


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_a_single_number_is_hope(name: str, tmp_path: Path) -> None:
    path = logs(tmp_path / name, ["x"] * 9 + ["true"] + ["x"] * 20)
    with pytest.raises(RejectedRows, match=r"29 of 30 rows .* reward_not_number 29"):
        read_logs(path, arm="arm", reward="reward")


@pytest.mark.parametrize(
    "filters",
    [{"where": "note = 'note 40'"}, {"arms": ["A"]}, {"time": "t", "since": "2020-01-01"}],
)
def test_rows_that_filters_keep_may_come_later(filters: dict[str, Any], tmp_path: Path) -> None:
    path = logs(tmp_path / "a.csv", ["x"] * 40 + ["1"])
    path.write_text(
        path.read_text().replace("note\n", "note,t\n").replace("note 40", "note 40,2026-01-01")
    )
    with pytest.warns(UserWarning, match="one arm only, 'A'"):
        summary = read_logs(path, arm="arm", reward="reward", allow_rejects=True, **filters)
    assert summary.provenance.rows_used == 1
