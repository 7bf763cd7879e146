"""Stores of other versions: how they are upgraded, and which are refused with which remedy."""

from __future__ import annotations

import contextlib
import importlib.resources
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from campaign_parts import Clock, create
from store_addresses import postgres_address

from driftanchor import Campaign, StoreMismatch, UnreadableState
from driftanchor.live.campaigns.verify import Verified
from driftanchor.live.stores import migrate
from driftanchor.live.stores.migrate import COPY_FIRST, LATEST, OLDER
from driftanchor.live.stores.statements import COLUMNS
from driftanchor.live.stores.store import open_store, upgrade_store

OLD = sorted((Path(__file__).parent / "old").glob("*.sql"))


def restored(file: Path, folder: Path) -> str:
    """The address of a store of an older version."""
    path = folder / "old.db"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(file.read_text())
    return f"sqlite:///{path}"


def tables(address: str) -> list[Any]:
    """What SQLite says of all tables and indexes but that of the version."""
    with contextlib.closing(sqlite3.connect(address.removeprefix("sqlite:///"))) as connection:
        return connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE tbl_name <> 'driftanchor_version' "
            "ORDER BY name"
        ).fetchall()


def test_every_version_has_a_migration_that_is_part_of_the_package() -> None:
    versions = [*OLDER, LATEST]
    assert versions == [f"{i:04}" for i in range(1, len(versions) + 1)]
    folder = importlib.resources.files("driftanchor.live.stores") / "migrations"
    assert (folder / "sqlite" / "0008_strict.sql").is_file()


def test_a_new_store_has_the_columns_that_rows_are_inserted_with(store_url: str) -> None:
    with contextlib.closing(open_store(store_url)) as store, store.session() as session:
        assert migrate.version_of(session) == LATEST
        for table, columns in COLUMNS.items():
            session.rows(f"SELECT {', '.join(columns)} FROM {table}")
            if session.dialect == "sqlite":
                info = session.rows(f"SELECT name FROM pragma_table_info('{table}')")
                assert {name for (name,) in info} == set(columns)
                ((sql,),) = session.rows(f"SELECT sql FROM sqlite_master WHERE name = '{table}'")
                assert "STRICT" in sql


@pytest.mark.parametrize("file", OLD, ids=lambda file: file.stem)
def test_a_store_of_every_version_opens_after_an_upgrade(file: Path, tmp_path: Path) -> None:
    address = restored(file, tmp_path)
    with pytest.raises(StoreMismatch, match=f"version {file.stem}, .* run: driftanchor store upg"):
        open_store(address)
    assert upgrade_store(address) == (file.stem, LATEST)
    assert upgrade_store(address) == (LATEST, LATEST)
    new = f"sqlite:///{tmp_path / 'new.db'}"
    open_store(new).close()
    assert tables(address) == tables(new)


@pytest.mark.parametrize("file", OLD[:4], ids=lambda file: file.stem)
def test_an_upgraded_store_goes_on(file: Path, tmp_path: Path) -> None:
    address = restored(file, tmp_path)
    upgrade_store(address)
    with contextlib.closing(open_store(address)) as store:
        keys = store.keys()
        assert [key.id for key in keys] == ([] if file.stem == "0001" else ["1f3a9c0b"])
        campaign = Campaign.load("old", store=store, clock=Clock(1_030.0))
        assert (campaign.verify().decisions, campaign.status().rewards) == (3, 1)
        assert campaign.ask("v").number == 2
        assert campaign.status().arms["C"].state == "active"
        campaign.change("as of an old store", floor=0.01)
        assert Campaign.load("old", store=store).settings.floor == 0.01
        campaign.verify()


ANSWERS = {  # to a unit asking on: number, arm and propensity, as version 0007 gave them
    "windowed": [
        (9, "A", 1.0),
        (10, "C", 0.7033498951736701),
        (11, "A", 0.4102816536256521),
        (12, "C", 0.5772847937410621),
        (13, "C", 0.48716887275268766),
    ],
    "plain": [
        (7, "ü", 0.38478716443967004),
        (8, "ü", 0.3683542835726087),
        (9, "z", 0.6316457164273913),
        (10, "z", 0.5716263873545226),
        (11, "z", 0.5716263873545226),
    ],
}


def test_an_upgraded_store_gives_the_same_answers_as_the_version_that_wrote_it(
    tmp_path: Path,
) -> None:
    """It has windows, late rewards, corrections, new arms, changed settings and two epochs."""
    address, clock = restored(OLD[4], tmp_path), Clock(1_790_005_635.95)
    upgrade_store(address)
    with contextlib.closing(open_store(address)) as store:
        first, second = store.keys()
        assert (first.revoked_at, second.campaign) == (1_500.25, "plain")
        campaigns = {name: Campaign.load(name, store=store, clock=clock) for name in ANSWERS}
        verified = {name: campaign.verify() for name, campaign in campaigns.items()}
        assert verified == {"windowed": Verified(29, 8, 4), "plain": Verified(18, 6, 3)}
        answers: dict[str, list[Any]] = {name: [] for name in ANSWERS}
        for i in range(5):
            clock.now += 1_000.0
            for name, campaign in campaigns.items():
                decision = campaign.ask(f"u{i}")
                answers[name].append((decision.number, decision.arm, decision.propensity))
                if i % 2 == 0:
                    campaign.tell(str(decision.id), 0.25)
        assert answers == ANSWERS
        verified = {name: campaign.verify() for name, campaign in campaigns.items()}
        assert verified == {"windowed": Verified(47, 13, 12), "plain": Verified(29, 11, 6)}


def test_an_upgrade_of_a_damaged_store_is_an_error_and_changes_nothing(tmp_path: Path) -> None:
    address = restored(OLD[0], tmp_path)
    with contextlib.closing(sqlite3.connect(tmp_path / "old.db")) as connection:
        connection.execute("UPDATE decisions SET propensity = 'x'")
        connection.commit()
    before = tables(address)
    with pytest.raises(UnreadableState, match=r"damaged: .* cannot store TEXT value in REAL"):
        upgrade_store(address)
    assert tables(address) == before


def test_an_upgrade_of_an_empty_database_creates_the_tables(store_url: str) -> None:
    if store_url.startswith("sqlite"):
        Path(store_url.removeprefix("sqlite:///")).touch()
    assert upgrade_store(store_url) == (None, LATEST)
    with contextlib.closing(open_store(store_url)) as store:
        assert store.names() == []


def test_a_newer_store_is_refused_with_the_remedy(store_url: str) -> None:
    with contextlib.closing(open_store(store_url)) as store:
        store.write(lambda x: x.run("UPDATE driftanchor_version SET version_num = '9999'"))
    with pytest.raises(StoreMismatch, match="version 9999, which this driftanchor does not know"):
        open_store(store_url)
    with pytest.raises(StoreMismatch, match="use the driftanchor that wrote it, or a newer one"):
        upgrade_store(store_url)


def test_an_older_postgresql_store_is_upgraded(postgres: str) -> None:
    postgres_url = postgres_address(postgres)
    with contextlib.closing(open_store(postgres_url)) as store:
        create(store).ask("u")
        store.write(lambda x: x.run("UPDATE driftanchor_version SET version_num = '0007'"))
    with pytest.raises(StoreMismatch) as error:
        open_store(postgres_url)
    assert f"{COPY_FIRST}, then run: driftanchor store upgrade" in str(error.value)
    assert upgrade_store(postgres_url) == ("0007", LATEST)
    with Campaign.load("c", store=postgres_url, clock=Clock()) as campaign:
        assert campaign.ask("u").replayed


def test_the_tables_of_another_program_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE events (x)")
    before = path.read_bytes()
    for call in (open_store, upgrade_store):
        with pytest.raises(StoreMismatch, match=r"tables of another program, .* events"):
            call(f"sqlite:///{path}")
    assert path.read_bytes() == before
