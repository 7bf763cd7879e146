from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

from driftanchor import DriftanchorError, InvalidInput, read_logs
from driftanchor.logs import sandbox
from driftanchor.logs.formats import Survey
from driftanchor.logs.formats.parquet import Parquet
from driftanchor.logs.log_file import LogFile
from driftanchor.logs.query import LogQuery

pyarrow: Any = importlib.import_module("pyarrow")
parquet: Any = importlib.import_module("pyarrow.parquet")


def test_columns_have_their_types_and_the_footer_the_number_of_rows(tmp_path: Path) -> None:
    file = LogFile("a.parquet", tmp_path / "a.parquet", "parquet", "")
    nested = [{"deep": [1, 2], "x": {"arm": "B"}}] * 3
    table = pyarrow.table({"nested": nested, "arm": ["A"] * 3, 'x "y"': [1.5] * 3})
    parquet.write_table(table, file.path)
    with sandbox.connect([file.path], "400MB") as connection:
        query = LogQuery(arm="arm", reward="x")
        found = Parquet().scan(connection, file, query)
        assert Parquet().survey(connection, file, query, None) == Survey(3)
    assert {name: column.type for name, column in found.columns.items() if name != "nested"} == {
        "arm": "VARCHAR",
        'x "y"': "DOUBLE",
    }
    assert found.columns['x "y"'].sql == '"x ""y"""'


def test_a_name_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    columns = [["A", "B"], [1, 0], [0, 1], ["C", "D"]]
    parquet.write_table(pyarrow.table(columns, names=["arm", "won", "won", "Arm"]), path)
    with pytest.raises(InvalidInput, match=r"reward is 'won', and .* has more than one 'won'"):
        read_logs(path, arm="arm", reward="won")
    parquet.write_table(pyarrow.table(columns, names=["arm", "won", "lost", "Arm"]), path)
    for name, labels in (("arm", ["A", "B"]), ("Arm", ["C", "D"])):  # DuckDB knows no capitals
        assert list(read_logs(path, arm=name, reward="won").arms) == labels


def test_a_file_that_was_cut_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table({"arm": ["A", "B"] * 500, "won": [1, 0] * 500}), path)
    whole = path.read_bytes()
    for left in (4, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:left])
        with pytest.raises(DriftanchorError, match=r"a\.parquet"):
            read_logs(path, arm="arm", reward="won", allow_rejects=True)


def test_too_many_columns_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("driftanchor.logs.formats.parquet.MOST_COLUMNS", 2)
    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table({"arm": ["A"], "won": [1], "x": [{"y": 1}]}), path)
    with pytest.raises(
        InvalidInput, match=r"has 3 columns, and at most 2 can be read: write those"
    ):
        read_logs(path, arm="arm", reward="won")


def test_a_dictionary_that_fills_the_memory_at_once_is_refused_before_it_is_unpacked(
    tmp_path: Path,
) -> None:
    path = tmp_path / "bomb.parquet"
    labels = pyarrow.array([f"{i}" + "a" * 1_000_000 for i in range(20)])
    rows = pyarrow.array([i % 20 for i in range(1_000)], pyarrow.int32())
    coded = pyarrow.DictionaryArray.from_arrays(rows, labels)
    table = pyarrow.table({"arm": coded, "won": [1, 0, 0, 0] * 250, "name": ["A", "B"] * 500})
    parquet.write_table(table, path, compression="zstd", write_statistics=False)
    with pytest.raises(InvalidInput, match=r"20 MB of column 'arm' .* within 50MB: allow more"):
        read_logs(path, arm="arm", reward="won", memory="50MB", allow_rejects=True)
    assert list(read_logs(path, arm="name", reward="won", memory="50MB").arms) == ["A", "B"]
    with pytest.raises(DriftanchorError, match="arm_too_long 1,000"):
        read_logs(path, arm="arm", reward="won", memory="400MB")
