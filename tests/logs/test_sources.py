"""The same rows give the same numbers, wherever they come from."""

from __future__ import annotations

import contextlib
import csv
import functools
import gzip
import importlib
import json
import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from driftanchor import OfflineData, read_logs

N = 3_000


@dataclass(frozen=True)
class Rows:
    """The same rows as columns of Python values, and in every form that can be read."""

    columns: dict[str, list[Any]]
    forms: dict[str, Callable[[], object]]


def made_rows() -> dict[str, list[Any]]:
    """Events with rewards far from zero, so that a careless variance shows."""
    rng = np.random.default_rng(7)
    arms = rng.integers(0, 5, N)
    start = datetime(2026, 1, 1)
    return {
        "variant": [f"arm {i}" for i in arms],
        "reward": (1e6 + arms + rng.normal(0, 1, N)).tolist(),
        "views": rng.integers(1, 500, N).tolist(),
        "clicks": rng.integers(0, 2, N).tolist(),
        "spread": rng.uniform(0.5, 2, N).tolist(),
        "country": [("DE", "FR", None)[i] for i in rng.integers(0, 3, N)],
        "at": [start + timedelta(minutes=i) for i in range(N)],
    }


FORMS = ["csv", "csv.gz", "parquet", "jsonl", "pandas", "pandas on arrow", "polars"]
FORMS += ["polars, lazy", "pyarrow", "duckdb", "postgres"]
ARMS = [f"arm {i}" for i in range(5)]


@pytest.fixture(scope="module")
def rows(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Rows]:
    """The made rows in every form."""
    columns = made_rows()
    folder = tmp_path_factory.mktemp("rows")
    pyarrow: Any = importlib.import_module("pyarrow")
    pandas: Any = importlib.import_module("pandas")
    polars: Any = importlib.import_module("polars")
    duckdb: Any = importlib.import_module("duckdb")
    table = pyarrow.table(columns)
    for half, part in enumerate((table.slice(0, N // 3), table.slice(N // 3))):
        importlib.import_module("pyarrow.parquet").write_table(part, folder / f"{half}.parquet")
    with (folder / "rows.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    text = (folder / "rows.csv").read_bytes()
    (folder / "rows.csv.gz").write_bytes(gzip.compress(text))
    objects = ({k: v[i] for k, v in columns.items()} for i in range(N))
    lines = (json.dumps(row | {"at": row["at"].isoformat()}) for row in objects)
    (folder / "rows.jsonl").write_text("\n".join(lines))
    with contextlib.ExitStack() as stack:
        connection = stack.enter_context(duckdb.connect())

        @functools.cache
        def in_postgres() -> object:
            ibis: Any = importlib.import_module("ibis")
            folder = request.getfixturevalue("postgres")
            server = ibis.postgres.connect(host=folder, user="postgres", database="postgres")
            stack.callback(server.disconnect)
            return server.create_table("rows", table)

        forms: dict[str, Callable[[], object]] = {
            "csv": lambda: folder / "rows.csv",
            "csv.gz": lambda: str(folder / "rows.csv.gz"),
            "parquet": lambda: [str(folder / "[01].parquet")],
            "jsonl": lambda: folder / "rows.jsonl",
            "pandas": lambda: pandas.DataFrame(columns),
            "pandas on arrow": lambda: table.to_pandas(types_mapper=pandas.ArrowDtype),
            "polars": lambda: polars.DataFrame(columns),
            "polars, lazy": lambda: polars.LazyFrame(columns),
            "pyarrow": lambda: table,
            "duckdb": lambda: connection.from_arrow(table),
            "postgres": in_postgres,
        }
        yield Rows(columns, forms)


def exact(rows: Rows, keep: Callable[[dict[str, Any]], bool]) -> dict[str, list[float]]:
    """The rewards of each arm, picked by hand."""
    names = list(rows.columns)
    each = [dict(zip(names, row, strict=True)) for row in zip(*rows.columns.values(), strict=True)]
    return {arm: [r["reward"] for r in each if r["variant"] == arm and keep(r)] for arm in ARMS}


def test_every_form_is_tried(rows: Rows) -> None:
    assert list(rows.forms) == FORMS


@pytest.mark.parametrize("form", FORMS)
def test_events_are_the_same_from_everywhere(rows: Rows, form: str) -> None:
    offline = OfflineData.from_logs(rows.forms[form](), arm="variant", reward="reward")
    expected = exact(rows, lambda _: True)
    assert list(offline.arms) == ARMS
    assert offline.n.tolist() == [len(rewards) for rewards in expected.values()]
    for i, rewards in enumerate(expected.values()):
        mean = math.fsum(rewards) / len(rewards)
        squares = math.fsum((x - mean) ** 2 for x in rewards)
        assert offline.mean[i] == pytest.approx(mean, rel=1e-9, abs=0)
        assert offline.variance[i] == pytest.approx(squares / (len(rewards) - 1), rel=1e-9, abs=0)
        assert (offline.smallest[i], offline.largest[i]) == (min(rewards), max(rewards))


@pytest.mark.parametrize("form", FORMS)
def test_filters_and_times_are_the_same_from_everywhere(rows: Rows, form: str) -> None:
    summary = read_logs(
        rows.forms[form](),
        arm="variant",
        reward="reward",
        time="at",
        since="2026-01-01T10:00:30+01:00",
        until=datetime(2026, 1, 2, 20),
        where="not (country = 'FR' or views < 100) and clicks in (0, 1)",
        arms=["arm 3", "arm 1"],
    )
    since, until = datetime(2026, 1, 1, 9, 0, 30), datetime(2026, 1, 2, 20)

    def keep(row: dict[str, Any]) -> bool:
        inside: bool = row["country"] == "DE" and row["views"] >= 100
        return inside and since <= row["at"] < until

    expected = exact(rows, keep)
    assert list(summary.arms) == ["arm 3", "arm 1"]
    times = {
        label: [
            at.replace(tzinfo=UTC)
            for at, reward in zip(rows.columns["at"], rows.columns["reward"], strict=True)
            if reward in set(expected[label])
        ]
        for label in summary.arms
    }
    for label, arm in summary.arms.items():
        assert arm.n == len(expected[label]) > 50
        assert arm.mean == pytest.approx(np.mean(expected[label]), rel=1e-9, abs=0)
        assert (arm.first, arm.last) == (times[label][0], times[label][-1])
    how = summary.provenance
    assert how.rows_read == len(rows.columns["at"])
    assert how.rows_used == sum(arm.n for arm in summary.arms.values())
    assert how.rows_rejected == ()


@pytest.mark.parametrize("form", FORMS)
def test_counted_rows_are_the_same_from_everywhere(rows: Rows, form: str) -> None:
    logs = rows.forms[form]()
    clicks = OfflineData.from_logs(logs, arm="variant", count="views", total="clicks")
    merged = OfflineData.from_logs(
        logs, arm="variant", count="views", mean="reward", variance="spread"
    )
    assert all(map(math.isnan, [*clicks.reward_ends(), *merged.reward_ends()]))
    for i, arm in enumerate(ARMS):
        mine = [j for j, label in enumerate(rows.columns["variant"]) if label == arm]
        n, total = (sum(rows.columns[name][j] for j in mine) for name in ("views", "clicks"))
        if form == "parquet":  # two files, whose counts differ by more than chance
            strata = [x.provenance.strata for x in (clicks, merged) if x.provenance]
            assert [x.pooled[i][1] for x in strata if x] == [n, n]
            assert clicks.n[i] == pytest.approx(n, rel=1e-3)
            assert clicks.mean[i] == pytest.approx(total / n, rel=1e-3)
            continue
        assert (clicks.n[i], merged.n[i]) == (n, n)
        assert clicks.mean[i] == pytest.approx(total / n, rel=1e-12)
        assert clicks.variance[i] == pytest.approx(total * (n - total) / n / (n - 1), rel=1e-12)
        parts = [
            (rows.columns["views"][j], rows.columns["reward"][j], rows.columns["spread"][j])
            for j in mine
        ]
        mean = math.fsum(c * m for c, m, _ in parts) / n
        squares = math.fsum((c - 1) * v + c * (m - mean) ** 2 for c, m, v in parts)
        assert merged.mean[i] == pytest.approx(mean, rel=1e-9, abs=0)
        assert merged.variance[i] == pytest.approx(squares / (n - 1), rel=1e-9, abs=0)


@pytest.mark.parametrize("form", ["pandas", "polars", "pyarrow", "duckdb", "postgres"])
def test_a_missing_column_of_a_frame_is_named_with_the_nearest(rows: Rows, form: str) -> None:
    with pytest.raises(LookupError, match="unknown column 'rewards'; did you mean 'reward'"):
        OfflineData.from_logs(rows.forms[form](), arm="variant", reward="rewards")


@pytest.mark.parametrize(
    ("value", "mean"),
    [
        (True, 1.0),
        ("FALSE", 0.0),
        ("1", 1.0),
        (" 1e0 ", 1.0),
        (0.5, 0.5),
        ("", "reward_missing"),
        (None, "reward_missing"),
        ("nan", "reward_not_finite"),
        ("yes", "reward_not_number"),
        ("1_0", "reward_not_number"),
        ("1,5", "reward_not_number"),
        ("0x1", "reward_not_number"),
    ],
)
def test_csv_and_json_lines_read_a_value_alike(
    value: object, mean: float | str, tmp_path: Path
) -> None:
    text = "" if value is None else str(value)
    (tmp_path / "a.csv").write_text(f'arm,reward\nA,"{text}"\nB,0\nB,1\n')
    rows = [{"arm": arm, "reward": reward} for arm, reward in (("A", value), ("B", 0), ("B", "1"))]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for path in tmp_path.iterdir():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a label that is no arm
            told = read_logs(path, arm="arm", reward="reward", allow_rejects=True)
        rejected = dict(told.provenance.rows_rejected)
        assert rejected == ({mean: 1} if isinstance(mean, str) else {})
        assert rejected or told.arms["A"].mean == mean
