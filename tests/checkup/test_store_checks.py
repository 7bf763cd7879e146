"""What is said about a store: its tables, and that it is there. Nothing is created by looking."""

from __future__ import annotations

import os
import sqlite3
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from campaign_parts import asked, create
from sqlalchemy import Connection
from sqlalchemy.engine import URL
from store_addresses import postgres_address

from driftanchor import InvalidInput, StoreUnavailable
from driftanchor.checkup import store_checks
from driftanchor.checkup.diagnosis import Diagnosis
from driftanchor.checkup.store_checks import check_store
from driftanchor.live.stores.sql.looking import looked_at
from driftanchor.live.stores.sql.schema import OLDER, REVISION
from driftanchor.live.stores.sql.sql_store import open_sql

OLD = sorted((Path(__file__).parents[1] / "live/stores/sql/stores").glob("*.sql"))


def about(address: str) -> Diagnosis:
    """What is said of the store itself."""
    (found,) = [each for each in check_store(address) if each.name == "store"]
    return found


def test_a_store_of_this_version(store_url: str) -> None:
    campaign = create(store_url)
    create(store_url, "d").close()
    asked(campaign)
    campaign.close()
    found = about(store_url)
    assert found.status == "fine"
    assert found.found.endswith(f"tables of version {REVISION}, 2 campaigns with 1 decision")


@pytest.mark.parametrize("file", [x for x in OLD if x.stem in OLDER], ids=lambda file: file.stem)
def test_a_store_of_an_older_version(file: Path, tmp_path: Path) -> None:
    path = tmp_path / "an old one.db"
    with sqlite3.connect(path) as old:
        old.executescript(file.read_text())
    old.close()
    before = path.read_bytes()
    found = about(str(path))
    assert found.status == "problem"
    assert f"tables of version {file.stem}; this program has {REVISION}" in found.found
    assert f"run driftanchor store upgrade --store '{path}'" in found.advice
    assert [x.name for x in tmp_path.iterdir()] == [path.name]
    assert path.read_bytes() == before


def test_a_store_of_a_newer_version(store_url: str) -> None:
    store = open_sql(store_url)
    newer = "UPDATE driftanchor_version SET version_num = '9999'"
    store.in_one_transaction(lambda connection: connection.exec_driver_sql(newer).close())
    store.close()
    found = about(store_url)
    assert (found.status, "version 9999" in found.found) == ("problem", True)
    assert "or a newer one" in found.advice


def test_a_database_without_tables(postgres: str, tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    for address in (postgres_address(postgres), str(tmp_path / "empty.db")):
        for _ in range(2):  # the first look created nothing
            found = about(address)
            assert found.status == "missing"
            assert found.found.endswith("there are no tables yet")


def test_the_tables_of_another_program(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE events (x)")
    other.close()
    found = about(str(tmp_path / "other.db"))
    assert (found.status, "tables of another program" in found.found) == ("problem", True)


def test_what_is_no_store(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.db")  # to open it would wait for ever
    (tmp_path / "text.db").write_text("no database " * 100)
    said = {
        "no.db": "there is no store",
        "no/no.db": "does not exist: make it",
        "text.db/a.db": "Not a directory",
        "pipe.db": "is not a regular file",
        ".": "is not a regular file",
        "text.db": "the file is no SQLite database",
    }
    for name, message in said.items():
        found = about(str(tmp_path / name))
        assert (found.status, message in found.found) == ("problem", True), found
        assert "no decision is made and no reward is kept there" in found.advice
    assert sorted(x.name for x in tmp_path.iterdir()) == ["pipe.db", "text.db"]


def test_a_file_that_somebody_begins_to_use_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read then may be halves of two states, which look like damage."""
    create(str(tmp_path / "store.db")).close()
    tries: list[URL] = []

    def torn(url: URL) -> AbstractContextManager[Connection]:
        tries.append(url)
        if len(tries) == 1:
            raise StoreUnavailable("the file is damaged: restore a backup")
        return looked_at(url)

    monkeypatch.setattr(store_checks, "looked_at", torn)
    assert about(str(tmp_path / "store.db")).status == "fine"
    assert len(tries) == 2


def test_a_server_that_is_away_and_no_secret_is_shown() -> None:
    (found,) = [
        x
        for x in check_store("postgresql://u:secret@127.0.0.1:1/x?password=hidden")
        if x.name == "store"
    ]
    assert (found.status, "cannot be reached" in found.found) == ("problem", True)
    assert "secret" not in str(found)
    assert "hidden" not in str(found)


def test_what_is_no_address() -> None:
    for address in ("mysql://u:secret@x/y", "sqlite://", ":memory:"):
        with pytest.raises(InvalidInput, match="store must") as raised:
            list(check_store(address))
        assert "secret" not in str(raised.value)
