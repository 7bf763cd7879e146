"""Backups, and moves from one kind of store to the other."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from campaign_parts import create
from store_addresses import postgres_address

from driftanchor import Campaign, Conflict
from driftanchor.live.stores.access_keys import make_key
from driftanchor.live.stores.copy import backup, copy
from driftanchor.live.stores.store import Store, open_store


@pytest.fixture
def store(store_url: str) -> Store:
    store = open_store(store_url)
    campaign = create(store)
    for decision in campaign.ask(n=5):
        campaign.tell(str(decision.id), 0.5)
    campaign.ask("u")
    create(store, "d", arms=["A", "☃"]).ask(key="k")
    store.add_key(make_key(["read"], now=5.0, note="☃")[1])
    return store


def number(store: Store, name: str) -> int:
    row = store.find(name)
    assert row is not None
    return row.id


def same(one: Store, other: Store) -> None:
    assert one.names() == other.names() == ["c", "d"]
    assert one.keys() == other.keys() != []
    for name in one.names():
        first, second = (Campaign.load(name, store=store) for store in (one, other))
        assert first.verify() == second.verify()
        assert first.status().to_json() == second.status().to_json()
        with one.reading(number(one, name)) as here, other.reading(number(other, name)) as there:
            assert list(here.all_decisions()) == list(there.all_decisions())
            assert list(here.entries(0)) == list(there.entries(0))
            assert list(here.all_keyed()) == list(there.all_keyed())
            assert here.history() == there.history()


def test_a_backup_holds_everything_in_one_file(store: Store, tmp_path: Path) -> None:
    assert backup(store, tmp_path / "kept.db") == 2
    assert [path.name for path in tmp_path.glob("*kept*")] == ["kept.db"]
    assert not list(tmp_path.glob(".driftanchor*"))
    kept = open_store(f"sqlite:///{tmp_path / 'kept.db'}")
    same(store, kept)
    assert Campaign.load("c", store=kept).ask("u").replayed
    kept.close()
    store.close()


def test_a_backup_that_fails_leaves_nothing(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()

    def interrupt(session: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("driftanchor.live.stores.migrate.create", interrupt)
    with pytest.raises(KeyboardInterrupt):
        backup(store, folder / "kept.db")
    assert list(folder.iterdir()) == []
    store.close()


def test_a_store_moves_to_another_kind_and_goes_on(store: Store, store_url: str) -> None:
    other = open_store(store_url.replace("store.db", "other.db")) if "sqlite" in store_url else None
    if other is None:  # PostgreSQL to itself would need another schema: the backup goes there
        assert store.names() == ["c", "d"]
        with pytest.raises(Conflict, match="has campaigns or keys already"):
            copy(store, store)
    else:
        assert copy(store, other) == 2
        same(store, other)
        assert create(other, "e").ask().number == 1
        other.close()
    store.close()


def test_a_store_with_keys_alone_is_not_copied_to(tmp_path: Path) -> None:
    one, other = (open_store(f"sqlite:///{tmp_path / name}.db") for name in "ab")
    other.add_key(make_key(["admin"], now=5.0)[1])
    with pytest.raises(Conflict, match="has campaigns or keys already"):
        copy(one, other)
    assert len(other.keys()) == 1
    one.close()
    other.close()


@pytest.mark.parametrize("store_url", ["sqlite"], indirect=True)
def test_a_store_moves_to_a_server_and_back(store: Store, postgres: str, tmp_path: Path) -> None:
    server = open_store(postgres_address(postgres))
    assert copy(store, server) == 2
    same(store, server)
    for name in ("e", "f"):  # the server counts on from the ids that were copied
        assert create(server, name).ask().number == 1
    assert Campaign.load("c", store=server).ask("u").replayed
    back = open_store(f"sqlite:///{tmp_path / 'back.db'}")
    assert copy(server, back) == 4
    assert [Campaign.load(x, store=back).verify().decisions for x in "cdef"] == [6, 1, 1, 1]
    for one in (store, server, back):
        one.close()


def test_a_backup_is_of_one_moment(store: Store, tmp_path: Path) -> None:
    campaign, stop = Campaign.load("c", store=store), threading.Event()

    def work() -> None:
        while not stop.is_set():
            campaign.tell(str(campaign.ask().id), 1.0)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for i in range(3):
            backup(store, tmp_path / f"{i}.db")
    finally:
        stop.set()
        thread.join()
    for i in range(3):
        with Campaign.load("c", store=f"sqlite:///{tmp_path / f'{i}.db'}") as kept:
            assert kept.verify().decisions >= 6
    store.close()
