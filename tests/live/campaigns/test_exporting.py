"""A campaign as a file, and what can be computed from it."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
from campaign_parts import Clock, create

from driftanchor import TS, Campaign, InvalidInput


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    made = create(
        f"sqlite:///{tmp_path / 'store.db'}", arms=["=A()", "B"], reward_window=60, clock=Clock()
    )
    for i in range(5):
        decision = made.ask(f"@u{i}" if i % 2 else None)
        if i < 3:
            made.tell(str(decision.id), i / 4)
    made.pause()
    return made


def rows_of(path: Path) -> list[dict[str, object]]:
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    if path.suffix == ".parquet":
        found = duckdb.read_parquet(str(path))
        return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]
    with path.open(newline="") as file:
        return [dict(row) for row in csv.DictReader(file)]


@pytest.mark.parametrize("what", ["decisions", "events"])
def test_all_formats_hold_the_same(campaign: Campaign, tmp_path: Path, what: str) -> None:
    files = [tmp_path / f"out.{ending}" for ending in ("jsonl", "parquet", "csv")]
    counts = {campaign.export(file, what, escape_formulas=False) for file in files}
    lines, parquet, text = map(rows_of, files)
    assert counts == {5 if what == "decisions" else 9} == {len(lines)}
    assert lines == parquet
    as_text = [{k: "" if v is None else str(v) for k, v in row.items()} for row in lines]
    assert as_text == text
    assert {file.name for file in tmp_path.iterdir() if not file.name.startswith("store")} == {
        "out.jsonl",
        "out.parquet",
        "out.csv",
    }


def test_decisions_have_their_propensity_and_reward(campaign: Campaign, tmp_path: Path) -> None:
    campaign.export(tmp_path / "out.jsonl")
    rows = rows_of(tmp_path / "out.jsonl")
    assert [row["number"] for row in rows] == [1, 2, 3, 4, 5]
    assert [row["reward"] for row in rows] == [0.0, 0.25, 0.5, None, None]
    assert [row["unit"] for row in rows] == [None, "@u1", None, "@u3", None]
    assert all(0.0 < float(str(row["propensity"])) < 1.0 for row in rows)
    assert {row["due_at"] for row in rows} == {1_060.0}


def test_events_come_in_order_with_propensities(campaign: Campaign, tmp_path: Path) -> None:
    campaign.export(tmp_path / "out.jsonl", "events")
    rows = rows_of(tmp_path / "out.jsonl")
    assert [row["seq"] for row in rows] == list(range(1, 10))
    assert [row["kind"] for row in rows][-3:] == ["decided", "decided", "paused"]
    assert all((row["propensity"] is None) == (row["kind"] != "decided") for row in rows)


def test_a_spreadsheet_runs_no_formula(campaign: Campaign, tmp_path: Path) -> None:
    campaign.export(tmp_path / "out.csv")
    text = (tmp_path / "out.csv").read_text()
    assert ",=A()" not in text
    assert ",@u1" not in text
    assert "'@u1" in text


def test_what_cannot_be_exported(campaign: Campaign, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="path must end in"):
        campaign.export(tmp_path / "out.xlsx")
    with pytest.raises(InvalidInput, match="unknown what 'reward'"):
        campaign.export(tmp_path / "out.csv", "reward")


def test_weighted_means_recover_what_each_arm_pays(tmp_path: Path) -> None:
    """Each arm pays its mean exactly, so that all that varies is who is chosen.

    The error of each weighted mean is compared with 4 of its standard errors: a right program fails
    with a probability below 2e-4 over the two arms and other seeds.
    """
    means = {"A": 0.6, "B": 0.4}
    campaign = create(
        f"sqlite:///{tmp_path / 'store.db'}", arms=list(means), policy=TS(noise=0.5), floor=0.1
    )
    for _ in range(20):
        for decision in campaign.ask(n=20):
            campaign.tell(str(decision.id), means[decision.arm])
    campaign.export(tmp_path / "out.jsonl")
    rows = rows_of(tmp_path / "out.jsonl")
    for arm, mean in means.items():
        weights = [1 / float(str(row["propensity"])) if row["arm"] == arm else 0.0 for row in rows]
        estimate = sum(weights) * mean / len(rows)
        error = mean * (sum((w - 1) ** 2 for w in weights) ** 0.5) / len(rows)
        assert abs(estimate - mean) < 4 * error
        assert error < 0.1


def test_what_only_counts_as_true_is_refused(campaign: Campaign, tmp_path: Path) -> None:
    export: Any = campaign.export
    with pytest.raises(InvalidInput, match="escape_formulas must be True or False, got 'no'"):
        export(tmp_path / "out.csv", escape_formulas="no")
    assert not (tmp_path / "out.csv").exists()
