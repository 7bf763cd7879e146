from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from driftanchor.logs import sample
from driftanchor.logs.sample import sample_rewards

pyarrow: Any = importlib.import_module("pyarrow")
NAMES: dict[str, Any] = {"arm": "ad", "reward": "won"}


@pytest.fixture
def table() -> Any:
    """Arms in turn, each with rewards of its own, and a rare one."""
    n = 6000
    ads = ["A" if i % 2 else "B" for i in range(n)]
    ads[100:200:10] = ["rare"] * 10
    return pyarrow.table({"ad": ads, "won": np.arange(n, dtype=float)})


def kinds(table: Any, folder: Path) -> dict[str, Any]:
    """The same rows in several sources."""
    importlib.import_module("pyarrow.csv").write_csv(table, folder / "logs.csv")
    importlib.import_module("pyarrow.parquet").write_table(table, folder / "logs.parquet")
    return {
        "arrow": table,
        "pandas": table.to_pandas(),
        "csv": str(folder / "logs.csv"),
        "parquet": str(folder / "logs.parquet"),
    }


def test_all_rewards_where_they_are_few(table: Any, tmp_path: Path) -> None:
    counts = {"A": 3000, "B": 2990, "rare": 10}
    for logs in kinds(table, tmp_path).values():
        found = sample_rewards(logs, counts, **NAMES)
        assert found is not None
        assert {label: len(rewards) for label, rewards in found.items()} == counts
        assert np.sort(found["A"]).tolist() == list(np.arange(1.0, 6000, 2))


def test_an_even_sample_where_they_are_many(
    table: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample, "MOST_OF_AN_ARM", 300)
    counts = {"A": 3000, "B": 2990, "rare": 10}
    same = []
    for logs in kinds(table, tmp_path).values():
        found = sample_rewards(logs, counts, **NAMES)
        assert found is not None
        assert len(found["rare"]) == 10
        assert len(found["A"]) == pytest.approx(300, abs=5)
        assert len(found["B"]) == pytest.approx(300, abs=5)
        assert found["A"].mean() == pytest.approx(3000, rel=0.02)
        same.append({label: np.sort(rewards).tolist() for label, rewards in found.items()})
    assert all(one == same[0] for one in same)


def test_filters_and_rejected_rows_are_left_out() -> None:
    logs = pyarrow.table(
        {"ad": ["A", "A", "B", "B", None], "won": [1.0, None, 2.0, 3.0, 4.0], "os": list("xxxyx")}
    )
    found = sample_rewards(logs, {"A": 1, "B": 1}, where="os = 'x'", **NAMES)
    assert found is not None
    assert {label: rewards.tolist() for label, rewards in found.items()} == {"A": [1.0], "B": [2.0]}


def test_tables_without_an_order_are_not_sampled() -> None:
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql("SELECT 'A' AS ad, 1.0 AS won UNION ALL SELECT 'B', 2.0")
    assert sample_rewards(relation, {"A": 1, "B": 1}, **NAMES) is None
