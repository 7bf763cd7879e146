"""The driver's own connection, as statements use it."""

from __future__ import annotations

import sqlite3

from driftanchor.live.stores.sql.link import Link


def test_a_link_runs_statements_and_fetches_all_they_find() -> None:
    link = Link("sqlite", sqlite3.connect(":memory:"))
    link.run("CREATE TABLE t (a, b)")
    link.run_for("INSERT INTO t VALUES (?, ?)", [(i, f"row {i}") for i in range(3)])
    assert link.database == "sqlite"
    assert link.rows("SELECT b FROM t WHERE a > ? ORDER BY a", (0,)) == [("row 1",), ("row 2",)]
    assert link.rows("SELECT b FROM t WHERE a > 5") == []
