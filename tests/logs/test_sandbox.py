"""The database sees the logs and nothing else, and takes no more memory than it may."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest
from log_folder import read, write

from driftanchor import DriftanchorError, InvalidInput
from driftanchor.logs import sandbox

pytestmark = pytest.mark.usefixtures("in_own_folder")
duckdb: Any = importlib.import_module("duckdb")
pyarrow: Any = importlib.import_module("pyarrow")
parquet: Any = importlib.import_module("pyarrow.parquet")

REACHING = [
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM 'b.csv'",
    "SELECT * FROM read_csv('{folder}/../{name}/b.csv')",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM frame",
    "COPY (SELECT 1) TO '{folder}/out.csv'",
    "ATTACH '{folder}/new.db'",
    "EXPORT DATABASE '{folder}/out'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SELECT * FROM 'https://example.com/a.csv'",
    "SET enable_external_access = true",
    "SET memory_limit = '100GB'",
    "RESET lock_configuration",
    "SET allowed_paths = ['/etc/passwd']",
    "PRAGMA temp_directory = '/tmp'",
]


@pytest.mark.parametrize("statement", REACHING)
def test_the_database_reaches_nothing_but_the_logs(statement: str, tmp_path: Path) -> None:
    write("a.csv")
    write("b.csv")
    frame = pyarrow.table({"a": [1]})
    assert frame.num_rows == 1  # what a SELECT could find by its name
    connection = sandbox.connect([tmp_path / "a.csv"], "100MB")
    scan = f"SELECT count(*) FROM read_csv('{tmp_path}/a.csv')"
    assert connection.execute(scan).fetchall() == [(4,)]
    with pytest.raises(duckdb.Error):
        connection.execute(statement.format(folder=tmp_path, name=tmp_path.name)).fetchall()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "b.csv"]


def test_a_small_parquet_of_many_rows_is_refused_at_once() -> None:
    table = pyarrow.table({"arm": ["A", "B"] * 500_000, "reward": [1.0, 0.0] * 500_000})
    with parquet.ParquetWriter("bomb.parquet", table.schema, compression="zstd") as writer:
        for _ in range(20):
            writer.write_table(table)
    assert Path("bomb.parquet").stat().st_size < 1_000_000
    with pytest.raises(InvalidInput, match=r"max_rows is 10,000, and .* has more rows"):
        read("bomb.parquet", max_rows=10_000)


def test_a_small_parquet_of_huge_values_needs_no_more_memory_than_allowed() -> None:
    table = pyarrow.table({"arm": ["x" * 100_000_000, "B"], "reward": [1.0, 0.0]})
    parquet.write_table(table, "bomb.parquet", compression="zstd", write_statistics=False)
    assert Path("bomb.parquet").stat().st_size < 1_000_000
    with pytest.raises(DriftanchorError, match=r"'bomb\.parquet' has 100 MB of column 'arm'"):
        read("bomb.parquet", memory="50MB")
