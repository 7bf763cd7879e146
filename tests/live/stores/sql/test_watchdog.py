"""A PostgreSQL that hangs or is locked: calls end with an error, and all goes on afterwards.

No test measures time. A call that does not end is one that a thread still waits for after a minute.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Iterator

import psycopg
import pytest
from campaign_parts import asked, create

from benchmarks.torture.postgres import Postgres, running
from driftanchor import Campaign, StoreUnavailable
from driftanchor.live.stores.access_keys import make_key
from driftanchor.live.stores.sql.link import Link
from driftanchor.live.stores.sql.sql_engine import address, create_engine
from driftanchor.live.stores.sql.sql_store import SqlStore, open_sql
from driftanchor.live.stores.sql.watchdog import NoAnswer, watchdog
from driftanchor.live.stores.store import Reader

DEADLINE = 0.5  # seconds
FOR_EVER = 60.0  # seconds


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with running() as started:
        yield started


@pytest.fixture
def store(server: Postgres) -> Iterator[SqlStore]:
    opened = open_sql(server.address, patience=0.1, deadline=DEADLINE)
    yield opened
    opened.close()
    with psycopg.connect(server.address) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")


def ends(*calls: Callable[[], object]) -> list[object]:
    """What each call returned or raised, each in a thread of its own; all of them must end."""
    found: list[object] = [None] * len(calls)

    def call(i: int) -> None:
        try:
            found[i] = calls[i]()
        except Exception as error:
            found[i] = error

    threads = [threading.Thread(target=call, args=[i], daemon=True) for i in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(FOR_EVER)
    assert not any(thread.is_alive() for thread in threads)
    return found


def test_a_server_that_hangs_is_an_error_and_then_all_goes_on(
    server: Postgres, store: SqlStore
) -> None:
    campaign = create(store)
    ids = [asked(campaign, f"u{i}") for i in range(8)]
    calls = [functools.partial(campaign.tell, x, 1.0) for x in ids]
    key = make_key(["read"], now=1.0)[1]
    with server.hanging():
        found = ends(
            *calls,
            campaign.ask,
            campaign.status,
            lambda: campaign.decision(ids[0]),
            store.names,
            store.keys,
            store.key_counts,
            lambda: store.add_key(key),
            lambda: open_sql(server.address, patience=0.1, deadline=DEADLINE),
        )
    assert all(isinstance(x, StoreUnavailable) for x in found), found
    assert any("no answer within 0.5 seconds" in str(x) for x in found), found
    receipts = [campaign.tell(x, 1.0) for x in ids]
    assert {x.status for x in receipts} <= {"recorded", "replayed"}
    assert campaign.verify().rewards == 8
    assert campaign.status().decisions in (8, 9)  # the ask that failed may have been recorded


def test_a_transaction_cut_off_at_its_end_says_so_and_counts_once(
    server: Postgres, store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = create(store)
    one = asked(campaign)
    commit, hanging = Link.commit, server.hanging()

    def hang(link: Link) -> None:
        hanging.__enter__()
        commit(link)

    monkeypatch.setattr(Link, "commit", hang)
    (found,) = ends(lambda: campaign.tell(one, 1.0))
    monkeypatch.undo()
    hanging.__exit__(None, None, None)
    assert isinstance(found, StoreUnavailable)
    assert "whether the last changes were recorded is unknown: repeat the call" in str(found)
    assert campaign.tell(one, 1.0).status in ("recorded", "replayed")
    assert campaign.verify().rewards == 1


def test_a_lock_of_another_program_is_not_waited_for_for_ever(
    server: Postgres, store: SqlStore
) -> None:
    campaign = create(store)
    with psycopg.connect(server.address) as other:
        other.execute("SELECT * FROM heads FOR UPDATE")
        (found,) = ends(campaign.ask)
        assert isinstance(found, StoreUnavailable)
        assert "is too slow: canceling statement due to lock timeout" in str(found)
        assert campaign.counts()["decisions"] == 0  # readers do not wait
    assert campaign.ask().number == 1


def settings_at(url: str) -> list[str]:
    """The timeouts of a connection."""
    names = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
    engine = create_engine(address(url))
    with engine.connect() as connection:
        found = [str(connection.exec_driver_sql(f"SHOW {name}").scalar()) for name in names]
    engine.dispose()
    return found


def test_the_server_has_timeouts_too_unless_others_are_set(server: Postgres) -> None:
    assert settings_at(server.address) == ["7s", "5s", "64s"]
    own = f"{server.address}&options=-cstatement_timeout%3D30s"
    assert settings_at(own) == ["30s", "5s", "64s"]


def test_a_process_that_hangs_in_a_transaction_loses_its_locks(
    server: Postgres, store: SqlStore
) -> None:
    campaign = create(store)

    def hang(reader: Reader) -> None:
        reader.arms()
        with psycopg.connect(f"{server.address}&options=-cstatement_timeout%3D60s") as other:
            other.execute("SELECT * FROM heads FOR UPDATE")  # waits until we lose our lock
        reader.arms()

    with pytest.raises(StoreUnavailable, match="idle-in-transaction timeout"):
        store.transact(1, hang)
    assert campaign.ask().number == 1


def test_what_ends_in_time_is_left_alone(server: Postgres) -> None:
    with psycopg.connect(server.address, autocommit=True) as connection:
        for _ in range(3):
            with watchdog.limit(connection, FOR_EVER):
                connection.execute("SELECT 1")
        with pytest.raises(ZeroDivisionError), watchdog.limit(connection, FOR_EVER):
            raise ZeroDivisionError
        with pytest.raises(NoAnswer), watchdog.limit(connection, 0.05):
            connection.execute("SELECT pg_sleep(60)")
        assert connection.closed or connection.broken


def test_a_forked_process_has_a_watchdog_of_its_own(server: Postgres, store: SqlStore) -> None:
    campaign = create(store)
    campaign.ask()
    child = os.fork()
    if child == 0:  # no exception may leave this block
        code = 1
        try:
            with Campaign.load("c", store=server.address) as own:
                code = 0 if own.ask().number == 2 else 2
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert campaign.ask().number == 3
