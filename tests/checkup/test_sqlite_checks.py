"""What is said about the file of a store: its rights, locks, file system and disk."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest
from campaign_parts import create

from driftanchor.checkup import sqlite_checks
from driftanchor.checkup.diagnosis import Diagnosis
from driftanchor.live.stores.sql.write_turn import Turns, lock_file


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A store that is closed; its lock stands beside it."""
    path = tmp_path / "store.db"
    create(f"sqlite:///{path}").close()
    assert lock_file(path).exists()
    return path


def only(found: Iterable[Diagnosis]) -> Diagnosis:
    (each,) = list(found)
    return each


def test_a_store_on_a_disk(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_checks, "LITTLE", 1)
    mounted(file, monkeypatch, f"{file.parent} rw - ext4 /dev/sda rw")
    before = sorted(file.parent.iterdir())
    found = [each for check in sqlite_checks.CHECKS for each in check(file)]
    assert [each.status for each in found] == ["fine"] * 4, found
    assert sorted(file.parent.iterdir()) == before


def test_a_file_beside_it_that_its_user_cannot_write(file: Path) -> None:
    """As root leaves one: here it is the mode that keeps the user out."""
    lock_file(file).chmod(0o444)
    found = only(sqlite_checks.rights(file))
    assert found.status == "problem"
    assert "store.db-lock': the user that the store belongs to cannot write to it" in found.found
    assert f"chown --reference {file} {lock_file(file)}" in found.advice


@pytest.mark.parametrize(
    ("uid", "gid", "mode", "status"),
    [
        (0, 0, 0o644, "problem"),
        (0, 77, 0o644, "problem"),  # its group may only read
        (0, 77, 0o664, "fine"),
        (0, 0, 0o664, "problem"),
        (0, 0, 0o666, "fine"),
        (77, 77, 0o600, "fine"),
    ],
)
def test_a_lock_of_root_beside_a_store_of_user_77(
    uid: int, gid: int, mode: int, status: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owners = {file: (77, 77), lock_file(file): (uid, gid)}
    lock_file(file).chmod(mode)
    real = Path.stat

    def stat(path: Path, **how: bool) -> os.stat_result:
        found = [*real(path, **how)]
        found[4:6] = owners.get(path, (0, 0))
        return os.stat_result(found)

    monkeypatch.setattr(Path, "stat", stat)  # to give files away one must be root
    assert only(sqlite_checks.rights(file)).status == status


def test_a_store_that_this_user_cannot_write(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda place, how: place != file)  # root may do anything
    found = only(sqlite_checks.rights(file))
    assert (found.status, found.found) == ("problem", f"you cannot write to {str(file)!r}")
    assert f"run them as the user with the id {file.stat().st_uid}" in found.advice


def test_a_lock_that_somebody_holds_works(file: Path) -> None:
    turn = Turns(lock_file(file)).next()
    turn.take()
    assert only(sqlite_checks.locks(file)).status == "fine"
    turn.leave()
    assert only(sqlite_checks.locks(file)).status == "fine"
    turn.take()  # it was left unlocked
    turn.leave()


def test_without_a_lock_beside_it_none_is_made(file: Path) -> None:
    lock_file(file).unlink()
    assert only(sqlite_checks.locks(file)).status == "fine"
    assert not lock_file(file).exists()


def test_a_file_system_without_locks(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    found = only(sqlite_checks.locks(file))
    assert (found.status, "No locks available" in found.found) == ("problem", True)
    monkeypatch.setattr("fcntl.flock", lambda *_: None)  # it says yes to everybody
    found = only(sqlite_checks.locks(file))
    assert (found.status, "can be locked twice" in found.found) == ("problem", True)
    assert "use PostgreSQL" in found.advice


def mounted(file: Path, patch: pytest.MonkeyPatch, *lines: str) -> None:
    """Let file systems be mounted as these lines say."""
    table = file.parent / "mounts"
    table.write_text("".join(f"20 1 0:1 / {line}\n" for line in ("/ rw - ext4 /dev/a rw", *lines)))
    patch.setattr(sqlite_checks, "MOUNTS", table)


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        *((kind, "problem") for kind in ("nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs")),
        *((kind, "problem") for kind in ("tmpfs", "ramfs")),
        *((kind, "fine") for kind in ("ext4", "xfs", "btrfs", "zfs", "overlay")),
    ],
)
def test_the_file_system(
    kind: str, status: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = file.resolve().parent
    mounted(
        file, monkeypatch, f"{place.parent} rw - xfs x rw", f"{place} rw shared:1 - {kind} x rw"
    )
    found = only(sqlite_checks.file_system(file))
    assert (found.status, kind in found.found) == (status, True)
    mounted(file, monkeypatch, f"{place}er rw - {kind} x rw", "broken")
    assert only(sqlite_checks.file_system(file)).found.endswith("(ext4)")


def test_a_mount_point_with_a_blank_and_a_link_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "on nfs"
    folder.mkdir()
    link = tmp_path / "store.db"
    link.symlink_to(folder / "store.db")
    (folder / "store.db").touch()
    mounted(link, monkeypatch, str(folder.resolve()).replace(" ", "\\040") + " rw - nfs4 x rw")
    assert only(sqlite_checks.file_system(link)).status == "problem"


def test_a_system_that_does_not_say(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_checks, "MOUNTS", file.with_name("nothing"))
    assert only(sqlite_checks.file_system(file)).status == "fine"


def test_a_disk_that_is_almost_full(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "shutil.disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 10**9, 3_000)
    )
    found = only(sqlite_checks.room(file))
    assert found.status == "problem"
    assert "3 kB are free, for about 10 more decisions" in found.found
    assert "make room" in found.advice


def test_a_file_that_goes_away(file: Path) -> None:
    file.unlink()
    assert only(sqlite_checks.room(file)).status == "problem"
    lock_file(file).chmod(0o600)
    assert only(sqlite_checks.rights(file)).status == "problem"
