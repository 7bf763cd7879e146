"""Disks that are full or read-only, files that are damaged, replaced, locked or gone.

Each is a clear error, nothing is half-written, and all works again when the cause is gone.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import resource
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from campaign_parts import asked, create

from driftanchor import Campaign, StoreUnavailable
from driftanchor.live.stores.address import parse_address
from driftanchor.live.stores.copy import backup
from driftanchor.live.stores.sqlite import lock_file, problems_in
from driftanchor.live.stores.store import open_store, upgrade_store


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
        with (
            as_nobody(),
            pytest.raises(StoreUnavailable, match="cannot be written: check"),
        ):
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
    folder.mkdir()
    (folder / "store.db").mkdir()
    with pytest.raises(StoreUnavailable, match="check that the folder can be written"):
        open_store(f"sqlite:///{folder / 'store.db'}")


@pytest.mark.parametrize("where", [0, 5_000])
def test_a_damaged_file_is_an_error(tmp_path: Path, where: int) -> None:
    path = tmp_path / "store.db"
    kept = tmp_path / "kept.db"
    store = open_store(f"sqlite:///{path}")
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


def test_an_old_sqlite_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlite3.sqlite_version_info", (3, 36, 0))
    with pytest.raises(StoreUnavailable, match=r"is too old: .* SQLite 3\.37 or newer"):
        open_store(f"sqlite:///{tmp_path / 'store.db'}")
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_no_database_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "store.db").write_text("arm,reward\nA,1\n" * 1_000)
    with pytest.raises(StoreUnavailable, match="no SQLite database, or is damaged"):
        open_store(f"sqlite:///{tmp_path / 'store.db'}")


def test_a_replaced_file_is_an_error_until_the_old_one_is_back(tmp_path: Path) -> None:
    path, kept = tmp_path / "store.db", tmp_path / "kept.db"
    store = open_store(f"sqlite:///{path}")
    campaign = create(store)
    campaign.ask(n=3)
    backup(store, kept)
    campaign.ask(n=4)
    store.close()
    path.rename(tmp_path / "old.db")
    kept.rename(path)
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="was replaced: open the store again"):
            campaign.ask()
        with pytest.raises(StoreUnavailable, match="was replaced"):
            campaign.status()
    with Campaign.load("c", store=f"sqlite:///{path}") as other:
        assert other.ask().number == 4
        other.verify()
    path.unlink()
    (tmp_path / "old.db").rename(path)
    assert campaign.ask().number == 8
    store.close()


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
    monkeypatch.setattr("driftanchor.live.stores.sqlite.BUSY", 0.1)
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


def is_free(database: Path) -> bool:
    with lock_file(database).open("ab") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def test_a_process_forked_meanwhile_does_not_keep_the_lock(tmp_path: Path) -> None:
    file, (reads, writes) = tmp_path / "a.db", os.pipe()
    store = open_store(f"sqlite:///{file}")

    def fork(_: object) -> int:
        assert not is_free(file)
        child = os.fork()
        if child == 0:  # it does nothing until the other end is closed
            os.close(writes)
            os.read(reads, 1)
            os._exit(0)
        return child

    child = store.write(fork)
    assert is_free(file)
    assert create(store).ask().number == 1
    os.close(writes)
    os.close(reads)
    assert os.waitpid(child, 0)[1] == 0
    store.close()


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_an_error_ends_the_transaction_and_frees_the_lock(
    tmp_path: Path, error: type[BaseException]
) -> None:
    file = tmp_path / "a.db"
    store = open_store(f"sqlite:///{file}")

    def fail(_: object) -> None:
        raise error

    kept = None
    try:
        store.write(fail)
    except error as caught:
        kept = caught  # with all its frames, as a shell keeps it
    assert kept is not None
    assert is_free(file)
    with contextlib.closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
    assert create(store).ask().number == 1
    store.close()


@pytest.mark.parametrize("opens", [open_store, upgrade_store])
def test_what_is_no_store_gets_no_lock_beside_it(
    tmp_path: Path, opens: Callable[[str], object]
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "x.csv").write_text("arm,reward\nA,1\n" * 100, encoding="utf-8")
    for name in ("folder", "x.csv"):
        with pytest.raises(StoreUnavailable):
            opens(f"sqlite:///{tmp_path / name}")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "x.csv"]


def test_damage_in_the_file_is_found(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    campaign = create(f"sqlite:///{file}")
    campaign.ask(n=300)
    campaign.close()
    assert problems_in(parse_address(str(file))) == []
    with contextlib.closing(sqlite3.connect(file)) as store:
        (page,) = store.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'events'"
        ).fetchone()
    content = bytearray(file.read_bytes())
    size = int.from_bytes(content[16:18], "big")
    start = (page - 1) * size
    content[start : start + size] = b"\xff" * size
    file.write_bytes(content)
    problems = problems_in(parse_address(str(file)))
    assert problems
    assert all(line.startswith("the file is damaged: ") for line in problems)
