"""Disks that are full or read-only, files that are damaged, replaced or gone, servers away.

Each is a clear error, nothing is half-written, and all works again when the cause is gone.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import resource
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from campaign_parts import asked, create

from driftanchor import Campaign, InvalidInput, StoreUnavailable
from driftanchor.live.stores.sql.copying import backup
from driftanchor.live.stores.sql.failures import missing_folder, translated
from driftanchor.live.stores.sql.sql_engine import address
from driftanchor.live.stores.sql.sql_store import open_sql
from driftanchor.live.stores.store import open_store


@contextlib.contextmanager
def no_file_longer_than(size: int) -> Iterator[None]:
    """A disk without room: the system refuses to write beyond a size."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_is_an_error_and_nothing_is_half_written(tmp_path: Path) -> None:
    campaign = create(f"sqlite:///{tmp_path / 'store.db'}", sticky=None)
    acknowledged: list[str] = []

    def ask_for_ever() -> None:
        for i in itertools.count():
            acknowledged.append(asked(campaign, f"unit {i} " + "x" * 200, exclude=["B", "C"]))

    with (
        no_file_longer_than(600_000),
        pytest.raises(StoreUnavailable, match="is full") as error,
    ):
        ask_for_ever()
    assert error.value.exit_code == 5
    assert len(acknowledged) > 5
    assert campaign.verify().decisions == len(acknowledged)
    acknowledged.append(asked(campaign))
    for one in acknowledged:
        assert campaign.tell(one, 1.0).status == "recorded"
    assert campaign.verify().rewards == len(acknowledged)
    campaign.close()


@contextlib.contextmanager
def as_nobody() -> Iterator[None]:
    """Root may write everywhere: be somebody else for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_read_only_folder_is_an_error() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        address = f"sqlite:///{folder / 'store.db'}"
        create(address).close()
        folder.chmod(0o555)
        with as_nobody(), pytest.raises(StoreUnavailable, match="can be written"):
            Campaign.load("c", store=address)
        folder.chmod(0o755)
        with Campaign.load("c", store=address) as campaign:
            assert campaign.ask().number == 1


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "nowhere"
    with pytest.raises(StoreUnavailable) as caught:
        open_store(f"sqlite:///{folder / 'store.db'}")
    assert str(caught.value) == (
        f"the folder {str(folder)!r} does not exist: make it, or choose another place for the store"
    )
    with (  # where there is no lock, SQLite itself says that it cannot open the file
        pytest.raises(StoreUnavailable, match="nowhere' does not exist: make it"),
        translated(address(str(folder / "store.db"))),
    ):
        sqlite3.connect(folder / "store.db")
    folder.mkdir()
    (folder / "store.db").mkdir()
    with (
        pytest.raises(StoreUnavailable, match="check that the folder can be written"),
        translated(address(str(folder / "store.db"))),
    ):
        sqlite3.connect(folder / "store.db")


def test_a_folder_that_cannot_be_looked_for_is_not_said_to_be_missing(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert missing_folder(file / "folder" / "store.db") is None
    assert missing_folder(None) is None


@pytest.mark.parametrize("where", [0, 5_000])
def test_a_damaged_file_is_an_error(tmp_path: Path, where: int) -> None:
    path = tmp_path / "store.db"
    kept = tmp_path / "kept.db"
    store = open_sql(f"sqlite:///{path}")
    create(store).ask(n=50)
    backup(store, kept)
    store.close()
    whole = kept.read_bytes()
    path.write_bytes(whole[:where] + b"garbage!" * 4_000 + whole[where + 32_000 :])

    def use() -> None:
        with Campaign.load("c", store=f"sqlite:///{path}") as broken:
            broken.ask()
            broken.verify()

    with pytest.raises(StoreUnavailable, match="damaged: restore a backup"):
        use()
    path.unlink()
    kept.rename(path)
    with Campaign.load("c", store=f"sqlite:///{path}") as again:
        assert again.ask().number == 51


def test_a_file_that_is_no_database_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "store.db").write_text("arm,reward\nA,1\n" * 1_000)
    with pytest.raises(StoreUnavailable, match="no SQLite database, or is damaged"):
        open_store(f"sqlite:///{tmp_path / 'store.db'}")


def test_a_replaced_file_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = open_sql(f"sqlite:///{path}")
    campaign = create(store)
    campaign.ask(n=3)
    backup(store, tmp_path / "kept.db")
    campaign.ask(n=4)
    for ending in ("-wal", "-shm"):
        Path(f"{path}{ending}").unlink(missing_ok=True)
    (tmp_path / "kept.db").rename(path)
    assert campaign.status().decisions == 3
    assert campaign.ask().number == 4
    with Campaign.load("c", store=f"sqlite:///{path}") as other:
        assert other.verify().decisions == 4
    campaign.close()


def test_a_file_that_is_gone_is_not_made_anew(tmp_path: Path) -> None:
    path, away = tmp_path / "store.db", tmp_path / "away"
    campaign = create(f"sqlite:///{path}")
    campaign.ask()
    campaign.close()
    away.mkdir()
    shutil.move(path, away / "store.db")
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="is gone: put the file back"):
            campaign.ask()
        with pytest.raises(StoreUnavailable, match="is gone"):
            campaign.status()
    assert not path.exists()
    shutil.move(away / "store.db", path)
    assert campaign.ask().number == 2
    campaign.close()


def test_a_program_that_keeps_the_file_locked_is_named_as_the_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("driftanchor.live.stores.sql.sql_engine.BUSY", 0.1)
    path = tmp_path / "store.db"
    campaign = create(f"sqlite:///{path}")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="another program keeps the file locked"):
        campaign.ask()
    other.execute("ROLLBACK")
    other.close()
    assert campaign.ask().number == 1
    campaign.close()


def test_a_server_that_is_away_is_an_error_without_the_password(tmp_path: Path) -> None:
    address = f"postgresql://me:secret@/postgres?host={tmp_path}"
    with pytest.raises(StoreUnavailable, match="cannot be reached") as error:
        open_sql(address, patience=0.2)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    "address",
    ["sqlite://", "sqlite:///:memory:", "mysql://x/y", "postgresql+asyncpg://x", ""],
)
def test_other_addresses_are_refused(address: str) -> None:
    with pytest.raises(InvalidInput, match="store must"):
        open_store(address)
    with pytest.raises(InvalidInput, match="store must be an address"):
        open_store(7)  # type: ignore[arg-type]
