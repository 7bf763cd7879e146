"""To look at a store changes nothing, and creates nothing."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from campaign_parts import asked, create
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from store_addresses import postgres_address

from driftanchor import StoreUnavailable
from driftanchor.live.stores.sql import sql_engine, versions
from driftanchor.live.stores.sql.looking import looked_at
from driftanchor.live.stores.sql.schema import REVISION


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def revision(address: str) -> str | None:
    with looked_at(sql_engine.address(address)) as connection:
        return versions.found(connection)


def test_a_store_that_nobody_has_open_stays_one_file(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'store.db'}"
    create(address).close()
    before = contents(tmp_path)
    assert revision(address) == REVISION
    assert contents(tmp_path) == before


def test_a_store_that_others_write_to(tmp_path: Path) -> None:
    """What is only in its WAL is seen, and stays there."""
    address = f"sqlite:///{tmp_path / 'store.db'}"
    campaign = create(address)
    asked(campaign)
    with looked_at(sql_engine.address(address)) as connection:
        assert connection.execute(text("SELECT sum(decisions) FROM heads")).scalar_one() == 1
        before = {name: file for name, file in contents(tmp_path).items() if "-shm" not in name}
        assert len(before["store.db-wal"]) > 0
    assert {n: file for n, file in contents(tmp_path).items() if "-shm" not in n} == before
    asked(campaign)
    campaign.close()


def test_a_file_without_wal_stays_without(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "plain.db") as plain:
        plain.execute("CREATE TABLE other (x)")
    plain.close()
    before = contents(tmp_path)
    assert revision(f"sqlite:///{tmp_path / 'plain.db'}") is None
    assert contents(tmp_path) == before


def test_nothing_can_be_written(store_url: str) -> None:
    create(store_url).close()
    with pytest.raises(StoreUnavailable), looked_at(sql_engine.address(store_url)) as connection:
        connection.execute(text("DELETE FROM heads"))
    with looked_at(sql_engine.address(store_url)) as connection:
        assert connection.execute(text("SELECT count(*) FROM heads")).scalar_one() == 1
        with pytest.raises(SQLAlchemyError):
            connection.execute(text("CREATE TABLE other (x INTEGER)"))


def test_an_empty_store_stays_empty(postgres: str, tmp_path: Path) -> None:
    address = postgres_address(postgres)
    assert revision(address) is None
    assert revision(address) is None
    missing = tmp_path / "no.db"
    with pytest.raises(StoreUnavailable, match="it cannot be opened"):
        revision(f"sqlite:///{missing}")
    assert contents(tmp_path) == {}


def test_a_server_that_is_away() -> None:
    with (
        pytest.raises(StoreUnavailable, match="cannot be reached") as raised,
        looked_at(sql_engine.address("postgresql://u:secret@127.0.0.1:1/x")),
    ):
        pass
    assert "secret" not in str(raised.value)
