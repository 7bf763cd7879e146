"""No query reads a whole campaign where an index leads to a few rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from store_addresses import postgres_address

from driftanchor.live.stores.reader import Reader
from driftanchor.live.stores.rows import Counters
from driftanchor.live.stores.statements import Session
from driftanchor.live.stores.store import Store, open_store


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[Store]:
    store = open_store(f"sqlite:///{tmp_path}/a.db")
    yield store
    store.close()


class Explained:
    """A session that asks how queries would run, instead of running them."""

    def __init__(self, session: Session, explain: str) -> None:
        self._session, self._explain = session, explain
        self.dialect, self.listed = session.dialect, session.listed
        self.plans: list[str] = []

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        found = self._session.rows(f"{self._explain} {sql}", values)
        self.plans += [str(row[-1]) for row in found]
        return []

    lookup = rows


@pytest.mark.parametrize("count", [1, 4, 50, 512])
def test_no_list_makes_sqlite_read_all_decisions(count: int, sqlite: Store) -> None:
    listed = [f"x{i}" for i in range(count)]
    with sqlite.session() as session:
        explained = Explained(session, "EXPLAIN QUERY PLAN")
        reader = Reader(explained, 1, Counters())  # type: ignore[arg-type]
        reader.decisions(listed)
        reader.holding(listed, 0)
        reader.keyed(listed, 0.0)
    assert [plan.partition(" (")[2] for plan in explained.plans if "SEARCH" in plan] == [
        "id=?)",
        "campaign_id=? AND epoch=? AND holds=?)",
        "campaign_id=? AND key=?)",
    ]


def test_changes_and_estimates_are_found_by_an_index(sqlite: Store) -> None:
    with sqlite.session() as session:
        explained = Explained(session, "EXPLAIN QUERY PLAN")
        reader = Reader(explained, 1, Counters())  # type: ignore[arg-type]
        reader.changes(5)
        reader.matured()
        reader.matured(5.0)
        reader.due(5.0, 10)
    assert explained.plans == [
        "SEARCH events USING INDEX events_changes (campaign_id=? AND seq>?)",
        "SEARCH events USING INDEX events_matured (campaign_id=?)",
        "SEARCH events USING INDEX events_matured_at (campaign_id=? AND at<?)",
        "SEARCH decisions USING INDEX decisions_due (campaign_id=? AND due_at>? AND due_at<?)",
    ]


MANY = """
    INSERT INTO decisions (id, campaign_id, number, seq, arm, unit, holds, epoch, propensity, state,
                           asked_at)
    SELECT 'x' || i, 1, i, i, 0, 'x' || i, 'x' || i, 0, 0.5, 'open', 0
    FROM generate_series(1, 2000) i
"""


@pytest.mark.parametrize("count", [1, 4, 50, 512])
def test_no_list_makes_postgresql_read_all_decisions_of_a_campaign_that_grew(
    count: int, postgres: str
) -> None:
    """The queries ran while the table was empty, more often than it takes to cache a plan."""
    store = open_store(postgres_address(postgres))
    listed = [f"x{i}" for i in range(1, count + 1)]

    def work(session: Session) -> list[str]:
        reader = Reader(session, 1, Counters())
        for _ in range(12):
            assert not reader.holding(listed, 0)
        session.run("SET session_replication_role = replica")  # there need not be a campaign
        session.run("ALTER TABLE decisions SET (autovacuum_enabled = off)")
        session.run(MANY)
        session.run("SET session_replication_role = DEFAULT")
        assert sorted(row.id for row in reader.holding(listed, 0)) == sorted(listed)
        explained = Explained(session, "EXPLAIN (ANALYZE, FORMAT TEXT)")
        reader = Reader(explained, 1, Counters())  # type: ignore[arg-type]
        reader.holding(listed, 0)
        return explained.plans

    plans = store.write(work)
    store.close()
    assert not [line for line in plans if "Rows Removed by Filter" in line], plans
