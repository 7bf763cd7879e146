"""A warehouse does the work: a real PostgreSQL, and what it sends to us."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from driftanchor import OfflineData, RejectedRows, read_logs

MANY = 50_000
MADE = f"""
CREATE TABLE events AS SELECT
    'arm ' || i % 4 AS arm, i % 4 AS number, (i % 10)::numeric / 4 AS paid, i % 25 < 5 AS won,
    timestamptz '2026-01-01 00:00+02' + i * interval '1 s' AS zoned,
    date '2026-01-01' + i % 30 AS day,
    CASE WHEN i % 100 = 7 THEN float8 'NaN' WHEN i % 100 = 8 THEN NULL ELSE i END AS odd
FROM generate_series(0, {MANY - 1}) i
"""


@pytest.fixture(scope="module")
def warehouse(postgres: str) -> Iterator[Any]:
    ibis: Any = importlib.import_module("ibis")
    connection = ibis.postgres.connect(host=postgres, user="postgres", database="postgres")
    connection.raw_sql(MADE).close()
    connection.con.commit()
    yield connection
    connection.disconnect()


@pytest.fixture
def events(warehouse: Any) -> Any:
    return warehouse.table("events")


def test_the_rows_stay_where_they_are(events: Any, warehouse: Any, tmp_path: Path) -> None:
    trace = tmp_path / "trace"  # libpq writes every message here, the rows as DataRow
    with trace.open("w") as file:
        warehouse.con.pgconn.trace(file.fileno())
        offline = OfflineData.from_logs(
            events, arm="arm", reward="paid", time="zoned", where="won = true", since="2026-01-01"
        )
        warehouse.con.pgconn.untrace()
    assert offline.n.sum() > MANY / 10
    told = trace.read_text()
    assert "GROUP BY" in told
    assert 4 <= told.count("DataRow") < 100  # the arms, and what Ibis asks of the catalogue


def test_every_type_of_column_can_be_used(events: Any) -> None:
    won = read_logs(events, arm="number", reward="won", time="zoned")
    assert {label: (arm.n, arm.mean) for label, arm in won.arms.items()} == {
        str(i): (MANY / 4, 0.2) for i in range(4)
    }
    assert won.to_json()["arms"]["0"]["first"] == "2025-12-31T22:00:00Z"
    days = read_logs(events, arm="number", reward="paid", time="day", until="2026-01-11")
    assert days.to_json()["arms"]["1"]["last"] == "2026-01-10T00:00:00Z"
    assert days.provenance.rows_used == sum(1 for i in range(MANY) if i % 30 < 10)


def test_rows_that_cannot_be_used_are_counted_there_too(events: Any) -> None:
    with pytest.raises(RejectedRows, match="1,000 of 50,000 rows of ibis Table cannot be used"):
        read_logs(events, arm="arm", reward="odd")
    told = read_logs(events, arm="arm", reward="odd", allow_rejects=True).provenance
    assert dict(told.rows_rejected) == {
        "reward_missing": MANY // 100,
        "reward_not_finite": MANY // 100,
    }


def test_more_rows_than_allowed_are_refused(events: Any) -> None:
    with pytest.raises(ValueError, match=r"max_rows is 100, and .* has more rows"):
        read_logs(events, arm="arm", reward="paid", max_rows=100)
