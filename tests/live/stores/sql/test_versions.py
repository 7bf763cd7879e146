"""Stores of other versions: what is refused, and with which remedy."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from campaign_parts import Clock

from driftanchor import Campaign, StoreMismatch
from driftanchor.live.stores.sql import migrate, sql_engine, versions
from driftanchor.live.stores.sql.schema import OLDER, REVISION, metadata, version
from driftanchor.live.stores.sql.sql_store import SqlStore, open_sql, upgrade_sql
from driftanchor.live.stores.store import open_store

OLD = sorted((Path(__file__).parent / "stores").glob("*.sql"))


def test_the_last_migration_is_the_one_that_the_tables_name() -> None:
    scripts = ScriptDirectory.from_config(migrate.configuration())
    assert scripts.get_current_head() == REVISION
    known = {script.revision for script in scripts.walk_revisions()}
    assert known == {REVISION, *OLDER}


def test_migrations_lead_to_the_tables_of_the_program(store_url: str) -> None:
    bare = SqlStore(sql_engine.address(store_url))
    bare.in_one_transaction(migrate.run)
    bare.close()
    store = open_sql(store_url)
    assert store.names() == []
    with store.at_one_moment() as connection:
        assert versions.found(connection) == REVISION
        context = MigrationContext.configure(
            connection, opts={"version_table": version.name, "compare_type": True}
        )
        differences = compare_metadata(context, metadata)
        assert [x for x in differences if "driftanchor_version" not in str(x)] == []
    store.close()


@pytest.mark.parametrize("file", OLD, ids=lambda file: file.stem)
def test_a_store_of_every_version_opens_after_an_upgrade(file: Path, tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(file.read_text())
    connection.close()
    assert upgrade_sql(f"sqlite:///{path}") == (file.stem, REVISION)
    store = open_sql(f"sqlite:///{path}")
    keys = store.keys()
    assert [key.id for key in keys] == ([] if file.stem == "0001" else ["1f3a9c0b"])
    campaign = Campaign.load("old", store=store, clock=Clock(1_030.0))
    assert (campaign.verify().decisions, campaign.status().rewards) == (3, 1)
    assert campaign.ask("v").number == 2
    assert campaign.status().arms["C"].state == "active"
    campaign.change("as of an old store", floor=0.01)
    assert Campaign.load("old", store=store).settings.floor == 0.01
    campaign.verify()
    store.close()


def test_a_newer_store_is_refused_with_the_remedy(store_url: str) -> None:
    store = open_sql(store_url)
    store.in_one_transaction(
        lambda connection: connection.exec_driver_sql(
            "UPDATE driftanchor_version SET version_num = '9999'"
        ).close()
    )
    store.close()
    with pytest.raises(StoreMismatch, match="version 9999, which this driftanchor does not know"):
        open_store(store_url)
    with pytest.raises(StoreMismatch, match="use the driftanchor that wrote it, or a newer one"):
        store.upgrade()
    store.close()


def test_an_older_store_is_refused_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "OLDER", ("0000",))
    with pytest.raises(StoreMismatch, match=r"version 0000, .* run: driftanchor store upgrade"):
        versions.check("0000")


def test_the_tables_of_another_program_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE events (x)")
    connection.close()
    with pytest.raises(StoreMismatch, match=r"tables of another program, .* events"):
        open_store(f"sqlite:///{path}")
    with sqlite3.connect(path) as connection:
        found = connection.execute("SELECT name FROM sqlite_master").fetchall()
    connection.close()
    assert found == [("events",)]
