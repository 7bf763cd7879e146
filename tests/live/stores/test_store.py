"""Opening stores: read-only, for a moment, by a forked process."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import psycopg
import pytest
from campaign_parts import asked, create
from store_addresses import postgres_address

from driftanchor import StoreUnavailable
from driftanchor.errors import Conflict
from driftanchor.live.stores import migrate
from driftanchor.live.stores.migrate import LATEST
from driftanchor.live.stores.statements import Session
from driftanchor.live.stores.store import open_read_only, open_store, opening

DATABASE_ERRORS = (sqlite3.OperationalError, psycopg.errors.ReadOnlySqlTransaction)


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def version(address: str) -> str | None:
    with open_read_only(address) as session:
        return migrate.version_of(session)


def test_a_store_that_nobody_has_open_stays_one_file(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'store.db'}"
    create(address).close()
    before = contents(tmp_path)
    assert version(address) == LATEST
    assert contents(tmp_path) == before


def test_a_store_that_others_write_to(tmp_path: Path) -> None:
    """What is only in its WAL is seen, and stays there."""
    address = f"sqlite:///{tmp_path / 'store.db'}"
    campaign = create(address)
    asked(campaign)
    with open_read_only(address) as session:
        assert session.rows("SELECT sum(decisions) FROM heads") == [(1,)]
        before = {name: file for name, file in contents(tmp_path).items() if "-shm" not in name}
        assert len(before["store.db-wal"]) > 0
    assert {n: file for n, file in contents(tmp_path).items() if "-shm" not in n} == before
    asked(campaign)
    campaign.close()


def test_a_file_without_wal_stays_without(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "plain.db")) as plain:
        plain.execute("CREATE TABLE other (x)")
    before = contents(tmp_path)
    assert version(f"sqlite:///{tmp_path / 'plain.db'}") is None
    assert contents(tmp_path) == before


def test_a_read_only_session_writes_nothing(store_url: str) -> None:
    create(store_url).close()
    for statement in ("DELETE FROM arms", "CREATE TABLE other (x INTEGER)"):
        with open_read_only(store_url) as session, pytest.raises(DATABASE_ERRORS):
            session.rows(statement)
    with open_read_only(store_url) as session:
        assert session.rows("SELECT count(*) FROM arms") == [(3,)]
    with contextlib.closing(open_store(store_url)) as store, store.session() as session:
        assert session.rows("SELECT count(*) FROM arms") == [(3,)]


def test_an_empty_store_stays_empty(postgres: str, tmp_path: Path) -> None:
    address = postgres_address(postgres)
    assert version(address) is None
    assert version(address) is None
    with pytest.raises(StoreUnavailable, match="it cannot be opened"):
        version(f"sqlite:///{tmp_path / 'no.db'}")
    assert contents(tmp_path) == {}


def test_a_server_that_is_away() -> None:
    address = "postgresql://u:secret@127.0.0.1:1/x"
    with pytest.raises(StoreUnavailable, match="cannot be reached") as raised:
        version(address)
    assert "secret" not in str(raised.value)


def test_a_store_that_was_opened_for_a_block_is_closed_if_it_fails(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'store.db'}"
    with contextlib.suppress(ZeroDivisionError), opening(address) as store, opening(store) as same:
        create(same)
        raise ZeroDivisionError
    assert sorted(contents(tmp_path)) == ["store.db", "store.db-lock"]


def test_nothing_of_a_transaction_is_kept_if_one_statement_fails(store_url: str) -> None:
    with contextlib.closing(open_store(store_url)) as store:
        row = ("id", "", "read", 1.0, None, None, "", None)

        def insert_twice(session: Session) -> None:
            session.insert("api_keys", [row])
            session.insert("api_keys", [row])

        with pytest.raises(Conflict, match="refuses the change"):
            store.write(insert_twice)
        assert store.key_counts()[0] == 0
        store.write(lambda x: x.insert("api_keys", [row]))
        assert store.key_counts()[0] == 1
