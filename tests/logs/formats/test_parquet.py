from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from driftanchor.logs import sandbox
from driftanchor.logs.formats.parquet import Parquet
from driftanchor.logs.log_file import LogFile

pyarrow: Any = importlib.import_module("pyarrow")
parquet: Any = importlib.import_module("pyarrow.parquet")


def test_columns_have_their_types_and_the_footers_the_number_of_rows(tmp_path: Path) -> None:
    files = [LogFile(name, tmp_path / name, "parquet", "") for name in ("a.parquet", "b.parquet")]
    for file in files:
        parquet.write_table(pyarrow.table({"arm": ["A"] * 3, 'x "y"': [1.5] * 3}), file.path)
    with sandbox.connect([file.path for file in files], "400MB") as connection:
        found = Parquet().scan(connection, files[0], "arm")
        assert Parquet().total(connection, files) == 6
    assert {name: column.type for name, column in found.columns.items()} == {
        "arm": "VARCHAR",
        'x "y"': "DOUBLE",
    }
    assert found.columns['x "y"'].sql == '"x ""y"""'
    assert list(Parquet().places(found, ())) == []
