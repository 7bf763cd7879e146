"""Statements about decisions."""

from __future__ import annotations

from pathlib import Path

import pytest
from store_addresses import postgres_address

from driftanchor.live.stores.sql import decisions
from driftanchor.live.stores.sql.link import Link
from driftanchor.live.stores.sql.sql_store import open_sql


@pytest.mark.parametrize("count", [1, 4, 50, 512])
def test_no_list_of_ids_or_units_makes_sqlite_read_all_decisions(
    count: int, tmp_path: Path
) -> None:
    store = open_sql(f"sqlite:///{tmp_path}/a.db")
    listed = [f"x{i}" for i in range(count)]
    plans: list[str] = []

    class Explained(Link):
        """A link that asks how a query would be done."""

        def rows(self, sql: str, values: object = ()) -> list[tuple[object, ...]]:
            found = super().rows(f"EXPLAIN QUERY PLAN {sql}", values)
            plans.extend(str(row[-1]) for row in found)
            return []

    def work(link: Link) -> None:
        explained = Explained("sqlite", link._cursor.connection)
        decisions.by_id(explained, 1, listed)
        decisions.holding(explained, 1, listed, 0)
        decisions.keyed(explained, 1, listed, 0.0)

    store._write(work)
    store.close()
    assert [plan.partition(" (")[2] for plan in plans] == [
        "id=?)",
        "campaign_id=? AND epoch=? AND holds=?)",
        "campaign_id=? AND key=?)",
    ]


MANY = """
    INSERT INTO decisions (id, campaign_id, number, seq, arm, unit, holds, epoch, propensity, state,
                           asked_at)
    SELECT 'x' || i, 1, i, i, 0, 'x' || i, 'x' || i, 0, 0.5, 'open', 0
    FROM generate_series(1, 2000) i
"""


@pytest.mark.parametrize("count", [1, 4, 50, 512])
def test_no_list_of_units_makes_postgresql_read_all_decisions_of_a_campaign_that_grew(
    count: int, postgres: str
) -> None:
    """The statements were run while the table was empty, more often than it takes to keep a way."""
    store = open_sql(postgres_address(postgres))
    listed = [f"x{i}" for i in range(1, count + 1)]
    read: list[int] = []

    def work(link: Link) -> None:
        for _ in range(12):
            assert not decisions.holding(link, 1, listed, 0)
        link.run("SET session_replication_role = replica")  # there need not be a campaign
        link.run("ALTER TABLE decisions SET (autovacuum_enabled = off)")
        link.run(MANY)
        link.run("SET session_replication_role = DEFAULT")
        found = decisions.holding(link, 1, listed, 0)
        assert sorted(row.id for row in found) == sorted(listed)

        class Explained(Link):
            """A link that asks how many rows a query looked at and left."""

            def rows_as_of_now(self, sql: str, values: object = ()) -> list[tuple[object, ...]]:
                found = super().rows_as_of_now(f"EXPLAIN (ANALYZE, FORMAT TEXT) {sql}", values)
                lines = [str(line) for (line,) in found]
                left = [line for line in lines if "Rows Removed by Filter" in line]
                read.append(sum(int(line.rpartition(":")[2]) for line in left))
                return []

        explained = Explained("postgresql", link._cursor.connection)
        decisions.holding(explained, 1, listed, 0)

    store._write(work)
    store.close()
    assert read == [0]
