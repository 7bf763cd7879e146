"""The driver's own connection, as statements use it."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from types import SimpleNamespace

import psycopg
import pytest
from store_addresses import postgres_address

from driftanchor.live.stores.sql.link import Link


def test_a_link_runs_statements_and_fetches_all_they_find() -> None:
    link = Link("sqlite", sqlite3.connect(":memory:"))
    link.run("CREATE TABLE t (a, b)")
    link.run_for("INSERT INTO t VALUES (?, ?)", [(i, f"row {i}") for i in range(3)])
    assert link.database == "sqlite"
    assert link.rows("SELECT b FROM t WHERE a > ? ORDER BY a", (0,)) == [("row 1",), ("row 2",)]
    assert link.rows("SELECT b FROM t WHERE a > 5") == []


def test_what_finds_nothing_goes_to_postgresql_with_what_comes_next(postgres: str) -> None:
    with psycopg.connect(postgres_address(postgres), autocommit=True) as driver:
        link = Link("postgresql", driver)
        link.run("BEGIN")
        link.run("CREATE TEMPORARY TABLE t (a integer PRIMARY KEY, b text)")
        link.run_for("INSERT INTO t VALUES ($1, $2)", [(i, f"row {i}") for i in range(3)])
        assert driver.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        assert link.rows("SELECT b FROM t WHERE a > $1 ORDER BY a", (0,)) == [
            ("row 1",),
            ("row 2",),
        ]
        link.run("INSERT INTO t VALUES (3, 'row 3')")
        assert link.rows_as_of_now("SELECT count(*) FROM t") == [(4,)]
        link.run("DELETE FROM t WHERE a = $1", (3,))
        link.commit()
        assert driver.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        assert link.rows("SELECT count(*) FROM t") == [(3,)]


def test_nothing_is_committed_if_one_of_the_statements_before_fails(postgres: str) -> None:
    with psycopg.connect(postgres_address(postgres), autocommit=True) as driver:
        link = Link("postgresql", driver)
        link.run("CREATE TEMPORARY TABLE t (a integer PRIMARY KEY)")
        assert link.rows("SELECT count(*) FROM t") == [(0,)]
        link.run("BEGIN")
        link.run("INSERT INTO t VALUES (1)")
        link.run("INSERT INTO t VALUES (1)")
        link.run("INSERT INTO t VALUES (2)")
        with pytest.raises(psycopg.errors.UniqueViolation):
            link.commit()
        driver.rollback()
        assert link.rows("SELECT count(*) FROM t") == [(0,)]


@contextlib.contextmanager
def cancelled() -> Iterator[None]:
    """As a pipeline of psycopg ends that was interrupted."""
    try:
        yield
    finally:
        raise psycopg.errors.QueryCanceled


def test_an_interrupt_is_not_lost_in_the_error_that_follows_it(postgres: str) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with psycopg.connect(postgres_address(postgres), autocommit=True) as driver:
        link = Link("postgresql", driver)
        link._driver = SimpleNamespace(pipeline=cancelled)
        link._cursor = SimpleNamespace(execute=interrupted)
        with pytest.raises(KeyboardInterrupt):
            link.commit()
        link._cursor = SimpleNamespace(execute=lambda *_, **__: None)
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:  # an earlier one
            with pytest.raises(psycopg.errors.QueryCanceled):
                link.commit()
