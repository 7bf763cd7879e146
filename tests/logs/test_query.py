"""What can be asked for, and the summary that comes back."""

from __future__ import annotations

import importlib
import json
import math
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import driftanchor as da
from driftanchor.core.provenance import Provenance
from driftanchor.logs.query import FLAGS

pandas: Any = importlib.import_module("pandas")
pyarrow: Any = importlib.import_module("pyarrow")
TABLE = pyarrow.table(
    {"arm": ["A", "B", "A"], "reward": [1, 0, 0], "n": [10, 20, 30], "sum": [1, 5, 3], "t": [1] * 3}
)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "name the column of reward, or those of count and total, or .*; got none of them"),
        ({"reward": "reward", "count": "n"}, "got count, reward"),
        ({"count": "n"}, "got count"),
        ({"total": "sum"}, "got total"),
        ({"count": "n", "total": "sum", "mean": "sum"}, "got count, mean, total"),
        ({"count": "n", "variance": "sum"}, "got count, variance"),
        ({"reward": ""}, "reward must name a column, got ''"),
        ({"reward": 3}, "reward must name a column, got 3"),
        ({"arm": None}, "arm is missing"),
        ({"since": "2026-01-01"}, "since needs time"),
        ({"time": "t", "since": "soon"}, "since must be a date or time such as .* got 'soon'"),
        ({"time": "t", "until": 3}, "until must be a date or time"),
        ({"time": "t", "since": "2026-01-02", "until": "2026-01-01"}, "since must be before until"),
        ({"reward_range": (1, 0)}, r"reward_range must rise, got \(1, 0\)"),
        ({"reward_range": 1}, "reward_range must be a list of values"),
        ({"reward_range": (0, 1, 2)}, r"reward_range must be \(lowest, highest\)"),
        ({"reward_range": (0, math.nan)}, "reward_range must be a number, got nan"),
        ({"max_rows": 0}, "max_rows must be at least 1, got 0"),
        ({"max_rows": 1.5}, "max_rows must be a whole number"),
        ({"memory": "lots"}, "memory must be text such as '400MB', got 'lots'"),
        ({"memory": "1MB'; SELECT 1"}, "memory must be text such as"),
        ({"memory": 400}, "memory must be text such as"),
        ({"format": "xls"}, "unknown format 'xls'"),
        *(({"root": x}, "root must name a folder, got") for x in (3, b"x", ["."], True, "", "\0")),
        *(({x: "no"}, f"{x} must be True or False, got 'no'") for x in FLAGS),
        ({"arms": []}, "arms is empty"),
        ({"arms": ["A", "A"]}, "arms has the label 'A' twice"),
        ({"arms": "A"}, "arms must be a list of values"),
        ({"arms": ["A", "C"]}, "unknown arm in the logs 'C'; known: A, B"),
    ],
)
def test_what_cannot_be_asked_is_refused(options: dict[str, Any], message: str) -> None:
    needs_reward = not {"count", "total", "reward"} & options.keys() and options
    asked: dict[str, Any] = {"arm": "arm"} | ({"reward": "reward"} if needs_reward else {})
    with pytest.raises(da.InvalidInput, match=message):
        da.read_logs(TABLE, **(asked | options))


def test_an_unknown_option_is_a_type_error() -> None:
    options: Any = {"rewards": "reward"}
    with pytest.raises(TypeError, match="rewards"):
        da.read_logs(TABLE, arm="arm", **options)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (
            ["a", "b", "c"],
            "reward is column 'x', which holds String, not numbers: convert it first",
        ),
        ([{"a": 1}] * 3, "reward is column 'x', which holds Struct.*, not numbers"),
        ([datetime(2026, 1, 1)] * 3, "reward is column 'x', which holds Datetime.*, not numbers"),
    ],
)
def test_rewards_of_frames_must_be_numbers(column: list[Any], message: str) -> None:
    table = TABLE.append_column("x", pyarrow.array(column))
    with pytest.raises(da.InvalidInput, match=message):
        da.read_logs(table, arm="arm", reward="x")


def test_arms_of_frames_are_labels_whatever_their_type() -> None:
    frame = pandas.DataFrame({"reward": [1.0, 0, 1, 0], "arm": [10, 9, None, 10]})
    told = da.read_logs(frame, arm="arm", reward="reward", allow_rejects=True)
    assert list(told.arms) == ["9", "10"]
    assert dict(told.provenance.rows_rejected) == {"arm_missing": 1}
    frame["arm"] = pandas.Categorical(["x", "y", "x", "x"])
    assert list(da.read_logs(frame, arm="arm", reward="reward").arms) == ["x", "y"]
    frame["arm"] = [1, "1", "x", "x"]
    with pytest.raises(da.InvalidInput, match="column 'arm', which holds Object, not labels"):
        da.read_logs(frame, arm="arm", reward="reward")


def test_one_arm_and_equal_rewards_are_told() -> None:
    alone = pyarrow.table({"arm": ["A", "A"], "reward": [1, 0]})
    with pytest.warns(UserWarning, match="one arm only, 'A': there is nothing to choose"):
        summary = da.read_logs(alone, arm="arm", reward="reward")
    assert summary.to_json()["warnings"] == list(summary.warnings)
    equal = pyarrow.table({"arm": ["A", "A", "B"], "reward": [2, 2, 2]})
    with pytest.warns(UserWarning, match="all rewards are equal: is it the right column"):
        da.OfflineData.from_logs(equal, arm="arm", reward="reward")
    apart = pyarrow.table({"arm": ["A", "A", "B"], "reward": [2, 2, 3]})
    with pytest.warns(UserWarning, match="the rewards of each arm are equal"):
        da.OfflineData.from_logs(apart, arm="arm", reward="reward")


@pytest.mark.parametrize("library", ["pyarrow", "pandas", "polars"])
def test_a_frame_without_rows_is_refused(library: str) -> None:
    polars: Any = importlib.import_module("polars")
    empty = TABLE.slice(0, 0)
    frames = {"pyarrow": empty, "pandas": empty.to_pandas(), "polars": polars.from_arrow(empty)}
    with pytest.raises(da.InvalidInput, match=f"{library} .* has column names and no rows"):
        da.read_logs(frames[library], arm="arm", reward="reward")


def test_totals_that_are_no_clicks_have_no_variance() -> None:
    money = pyarrow.table({"arm": ["A", "B"], "n": [10, 20], "sum": [30, 40]})
    told = da.read_logs(money, arm="arm", count="n", total="sum")
    assert [(arm.mean, arm.interval) for arm in told.arms.values()] == [(3.0, None), (2.0, None)]
    assert all(math.isnan(arm.variance) for arm in told.arms.values())
    ranged = da.read_logs(TABLE, arm="arm", count="n", total="sum", reward_range=(0, 9))
    assert math.isnan(ranged.arms["A"].variance)
    clicks = da.read_logs(TABLE, arm="arm", count="n", total="sum", reward_range=(0, 1))
    assert clicks.arms["A"].variance == pytest.approx(40 * 0.1 * 0.9 / 39)


def test_means_without_variances_have_none() -> None:
    told = da.read_logs(TABLE, arm="arm", count="n", mean="reward")
    assert (told.arms["A"].n, told.arms["A"].mean) == (40, 0.25)
    assert math.isnan(told.arms["A"].variance)


def test_merged_variances_keep_their_digits_far_from_zero() -> None:
    parts = {"arm": ["A", "A", "B"], "n": [2, 2, 2], "m": [1e9 + 1, 1e9 + 3, 0], "v": [2.0, 2.0, 1]}
    told = da.read_logs(pyarrow.table(parts), arm="arm", count="n", mean="m", variance="v")
    assert told.arms["A"].variance == pytest.approx((2 + 2 + 4 * 1) / 3, rel=1e-12)


def test_provenance_is_kept_and_old_records_still_load(tmp_path: Path) -> None:
    path = tmp_path / "logs.csv"
    path.write_text("arm,reward,land,at\nA,1,DE,2026-01-01\nB,0,DE,2026-01-02\nA,1,FR,2026-01-01\n")
    options: Any = {"time": "at", "since": "2026-01-01", "where": "land = 'DE'"}
    options |= {"arms": ["B", "A"], "reward_range": (0, 1)}
    before = datetime.now().astimezone()
    offline = da.OfflineData.from_logs(path, arm="arm", reward="reward", **options)
    how = offline.provenance
    assert how is not None
    assert how.columns == (("arm", "arm"), ("reward", "reward"), ("time", "at"))
    assert dict(how.filters) == {
        "where": "land = 'DE'",
        "since": "2026-01-01T00:00:00Z",
        "arms": "B, A",
        "reward_range": "0.0 to 1.0",
    }
    assert (how.rows_read, how.rows_filtered, how.rows_used) == (3, 1, 2)
    assert abs((datetime.fromisoformat(how.read_at) - before).total_seconds()) < 600
    assert offline.source == str(path)
    record = json.loads(json.dumps(offline.to_json(), allow_nan=False))
    assert da.OfflineData.from_json(record) == offline
    old = {key: value for key, value in record.items() if key not in ("provenance", "digest")}
    assert da.OfflineData.from_json(old).provenance is None
    assert da.OfflineData.from_json(old) != offline


def test_provenance_survives_new_arms_learners_and_their_files(tmp_path: Path) -> None:
    offline = da.OfflineData.from_logs(TABLE, arm="arm", reward="reward")
    assert offline.provenance is not None
    assert offline.provenance.sources[0].name == "pyarrow Table"
    assert offline.with_arm("C").provenance == offline.provenance
    learner = da.Learner(offline=offline, arms=["B", "A", "C"], bias_bound=0.1, reward_range=(0, 1))
    assert learner.offline.provenance == offline.provenance
    learner.save(tmp_path / "learner.json")
    assert da.Learner.load(tmp_path / "learner.json").offline.provenance == offline.provenance


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (3, "provenance must map names to values, got 3"),
        ({"sources": 3}, "sources must be a list of values"),
        ({"sources": [{"size": 3}]}, "name of a source must be text, got None"),
        ({"columns": {"arm": 3}}, "columns 'arm' must be text, got 3"),
        ({"rows_read": -1}, "rows_read must be at least 0, got -1"),
        ({"rows_rejected": {"x": "y"}}, "rows_rejected of 'x' must be a whole number, got 'y'"),
        ({"read_at": None}, "read_at must be text, got None"),
    ],
)
def test_a_damaged_provenance_is_refused(change: Any, message: str) -> None:
    record = da.OfflineData.from_logs(TABLE, arm="arm", reward="reward").to_json()
    record["provenance"] = record["provenance"] | change if isinstance(change, dict) else change
    with pytest.raises(da.UnreadableState, match=f"record is damaged: {message}"):
        da.OfflineData.from_json(record)


def test_a_provenance_lacks_nothing() -> None:
    with pytest.raises(da.UnreadableState, match="provenance lacks 'sources'"):
        Provenance.from_json({})
    junk: Any = "logs"
    with pytest.raises(da.InvalidInput, match="provenance must be a Provenance, got 'logs'"):
        da.OfflineData(da.Arms(["A"]), 0, None, provenance=junk)
