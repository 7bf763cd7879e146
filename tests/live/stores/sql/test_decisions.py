"""Statements about decisions."""

from __future__ import annotations

from pathlib import Path

import pytest

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
        decisions.keyed(explained, 1, listed)

    store._write(work)
    store.close()
    assert [plan.partition(" (")[2] for plan in plans] == [
        "id=?)",
        "campaign_id=? AND epoch=? AND holds=?)",
        "campaign_id=? AND key=?)",
    ]
