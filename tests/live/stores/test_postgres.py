"""A PostgreSQL that hangs or is locked: calls end with an error, and all goes on afterwards.

No test measures time. A call that does not end is one that a thread still waits for after a minute.
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from campaign_parts import asked, create
from psycopg.pq import TransactionStatus
from store_addresses import postgres_address

from benchmarks.torture.postgres import Postgres, running
from driftanchor import Campaign, StoreUnavailable
from driftanchor.live.stores.access_keys import make_key
from driftanchor.live.stores.address import parse_address
from driftanchor.live.stores.postgres import (
    MAX_CONNECTIONS,
    NoAnswer,
    PostgresSession,
    PostgresStore,
    Watchdog,
    watchdog,
)
from driftanchor.live.stores.reader import Reader
from driftanchor.live.stores.store import Store, open_store

if TYPE_CHECKING:
    from conftest import RunPython

DEADLINE = 0.5  # seconds
FOR_EVER = 60.0  # seconds
TERMINATE = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with running() as started:
        yield started


@pytest.fixture
def store(server: Postgres) -> Iterator[Store]:
    opened = open_store(server.address, patience=0.1, deadline=DEADLINE)
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
    server: Postgres, store: Store
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
            lambda: open_store(server.address, patience=0.1, deadline=DEADLINE),
        )
    assert all(isinstance(x, StoreUnavailable) for x in found), found
    assert any("no answer within 0.5 seconds" in str(x) for x in found), found
    receipts = [campaign.tell(x, 1.0) for x in ids]
    assert {x.status for x in receipts} <= {"recorded", "replayed"}
    assert campaign.verify().rewards == 8
    assert campaign.status().decisions in (8, 9)  # the ask that failed may have been recorded


def test_a_transaction_cut_off_at_its_end_says_so_and_counts_once(
    server: Postgres, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = create(store)
    one = asked(campaign)
    commit, hanging = PostgresSession.commit, server.hanging()

    def hang(session: PostgresSession) -> None:
        hanging.__enter__()
        commit(session)

    monkeypatch.setattr(PostgresSession, "commit", hang)
    (found,) = ends(lambda: campaign.tell(one, 1.0))
    monkeypatch.undo()
    hanging.__exit__(None, None, None)
    assert isinstance(found, StoreUnavailable)
    assert "whether the last changes were recorded is unknown: repeat the call" in str(found)
    assert campaign.tell(one, 1.0).status in ("recorded", "replayed")
    assert campaign.verify().rewards == 1


def test_a_lock_of_another_program_is_not_waited_for_for_ever(
    server: Postgres, store: Store
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
    with PostgresStore(parse_address(url), 0.1).session() as session:
        return [session.rows(f"SHOW {name}")[0][0] for name in names]


def test_the_server_has_timeouts_too_unless_others_are_set(server: Postgres) -> None:
    assert settings_at(server.address) == ["7s", "5s", "64s"]
    own = f"{server.address}&options=-cstatement_timeout%3D30s"
    assert settings_at(own) == ["30s", "5s", "64s"]


def test_a_process_that_hangs_in_a_transaction_loses_its_locks(
    server: Postgres, store: Store
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
    dog = watchdog(os.getpid())
    with psycopg.connect(server.address, autocommit=True) as connection:
        for _ in range(3):
            with dog.limit(connection, FOR_EVER):
                connection.execute("SELECT 1")
        with pytest.raises(ZeroDivisionError), dog.limit(connection, FOR_EVER):
            raise ZeroDivisionError
        with pytest.raises(NoAnswer), dog.limit(connection, 0.05):
            connection.execute("SELECT pg_sleep(60)")
        assert connection.closed or connection.broken


def test_a_watchdog_rests_and_starts_again(
    server: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("driftanchor.live.stores.postgres.CHECK", 0.001)
    dog = Watchdog()
    with psycopg.connect(server.address, autocommit=True) as connection:
        for _ in range(2):
            with dog.limit(connection, FOR_EVER):
                connection.execute("SELECT 1")
            while dog._running:
                time.sleep(0.01)
        with pytest.raises(NoAnswer), dog.limit(connection, 0.05):
            connection.execute("SELECT pg_sleep(60)")


def test_a_forked_process_has_a_watchdog_of_its_own(server: Postgres, store: Store) -> None:
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


def test_statements_are_sent_with_the_next_query(postgres: str) -> None:
    idle, in_transaction = TransactionStatus.IDLE, TransactionStatus.INTRANS
    with psycopg.connect(postgres_address(postgres), autocommit=True) as connection:
        session = PostgresSession(connection, DEADLINE)
        session.run("BEGIN")
        session.run("CREATE TEMPORARY TABLE t (a integer PRIMARY KEY, b text)")
        session.run_many("INSERT INTO t VALUES (?, ?)", [(i, f"row {i}") for i in range(3)])
        assert connection.info.transaction_status == idle
        found = session.rows("SELECT b FROM t WHERE a > ? ORDER BY a", (0,))
        assert found == [("row 1",), ("row 2",)]
        session.run("INSERT INTO t VALUES (3, 'row 3')")
        assert session.rows("SELECT count(*) FROM t") == [(4,)]
        assert connection.info.transaction_status == in_transaction
        session.run("DELETE FROM t WHERE a = ?", (3,))
        session.commit()
        assert connection.info.transaction_status == idle
        assert session.rows("SELECT count(*) FROM t") == [(3,)]


def test_nothing_is_committed_if_a_statement_before_fails(postgres: str) -> None:
    with psycopg.connect(postgres_address(postgres), autocommit=True) as connection:
        session = PostgresSession(connection, DEADLINE)
        session.run("CREATE TEMPORARY TABLE t (a integer PRIMARY KEY)")
        assert session.rows("SELECT count(*) FROM t") == [(0,)]
        session.run("BEGIN")
        for number in (1, 1, 2):
            session.run(f"INSERT INTO t VALUES ({number})")
        with pytest.raises(psycopg.errors.UniqueViolation):
            session.commit()
        connection.rollback()
        assert session.rows("SELECT count(*) FROM t") == [(0,)]


def test_a_restarted_server_costs_one_failed_read_and_no_write(
    server: Postgres, store: Store
) -> None:
    campaign = create(store)
    with contextlib.ExitStack() as several:  # some idle connections
        for _ in range(3):
            several.enter_context(store.session()).rows("SELECT 1")
    with psycopg.connect(server.address, autocommit=True) as other:
        other.execute(TERMINATE)
        with pytest.raises(StoreUnavailable):
            store.names()
        assert store.names() == ["c"]
        other.execute(TERMINATE)
        assert campaign.ask().number == 1


def test_an_interrupt_ends_the_transaction(server: Postgres, store: Store) -> None:
    campaign = create(store)

    def fail(reader: Reader) -> None:
        reader.arms()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.transact(1, fail)
    with psycopg.connect(server.address) as other:
        other.execute("SET lock_timeout = '2s'")
        other.execute("SELECT * FROM heads FOR UPDATE")
    assert campaign.ask().number == 1


def test_more_readers_than_connections_wait(server: Postgres) -> None:
    with contextlib.closing(open_store(server.address, deadline=0.2)) as store:
        with contextlib.ExitStack() as several:
            for _ in range(MAX_CONNECTIONS):
                several.enter_context(store.session())
            with pytest.raises(StoreUnavailable, match="no free connection"):
                store.names()
        assert store.names() == []


def test_a_server_that_is_away_is_an_error_without_the_password(tmp_path: Path) -> None:
    address = f"postgresql://me:secret@/postgres?host={tmp_path}"
    with pytest.raises(StoreUnavailable, match="cannot be reached") as error:
        open_store(address, patience=0.2)
    assert "secret" not in str(error.value)


def test_nothing_that_psycopg_says_of_a_lost_connection_is_on_stderr(
    run_python: RunPython,
) -> None:
    said = run_python(
        "import io, logging, sys\n"
        "import driftanchor.live.stores.postgres\n"
        "sys.stderr = io.StringIO()\n"
        "logging.getLogger('psycopg').warning('the connection is lost')\n"
        "print(repr(sys.stderr.getvalue()))"
    )
    assert said == "''\n"
