"""Frames that are not what they should be: clear errors, or the right numbers."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from driftanchor import InvalidInput, UnknownName, read_logs

duckdb: Any = importlib.import_module("duckdb")
pandas: Any = importlib.import_module("pandas")
pyarrow: Any = importlib.import_module("pyarrow")
ARMS, REWARDS = ["A", "B", "A"], [1, 0, 0]


def read(frame: object) -> dict[str, float]:
    told = read_logs(frame, arm="arm", reward="reward")
    return {label: arm.mean for label, arm in told.arms.items()}


def test_a_frame_without_names_of_text_says_so() -> None:
    numbered = pandas.DataFrame({0: ARMS, 1: REWARDS})
    levels = pandas.DataFrame({("arm", "x"): ARMS, ("reward", "y"): REWARDS})
    for frame, name in ((numbered, "0"), (levels, r"\('arm', 'x'\)")):
        with pytest.raises(
            InvalidInput, match=f"arm is 'arm', and the frame has columns without a name .* {name}:"
        ):
            read(frame)
    mixed = pandas.DataFrame({"arm": ARMS, "reward": REWARDS, 2: REWARDS})
    assert read(mixed) == {"A": 0.5, "B": 0.0}


def test_columns_of_the_same_name_are_refused() -> None:
    table = pyarrow.table([ARMS, REWARDS, [0, 0, 0]], names=["arm", "reward", "reward"])
    frame = pandas.DataFrame(dict(enumerate(table.to_pydict().values())))
    frame = pandas.concat([frame, frame[1]], axis=1).set_axis(table.column_names, axis=1)
    with duckdb.connect() as connection:
        relation = connection.sql("SELECT 'A' AS arm, 1 AS reward, 0 AS reward")
        for logs in (table, frame, relation):
            with pytest.raises(InvalidInput, match="logs have 2 columns named 'reward': rename"):
                read(logs)


def test_what_is_no_frame_is_named_in_one_line() -> None:
    with pytest.raises(InvalidInput, match=r"an Ibis table, got 0 1 1 0 2 0 dtype: int64$"):
        read(pandas.Series(REWARDS))
    with pytest.raises(UnknownName, match="unknown column 'arm'; did you mean 'arms'"):
        read(pandas.DataFrame({"arms": ARMS, "reward": REWARDS}))


def test_whole_numbers_that_floats_round_are_read() -> None:
    table = pyarrow.table({"arm": ARMS, "reward": pyarrow.array([2**53 + 1, 2**62, -(2**63)])})
    for frame in (table, table.to_pandas(types_mapper=pandas.ArrowDtype), table.to_pandas()):
        assert read(frame) == {"A": (2.0**53 - 2.0**63) / 2, "B": 2.0**62}
