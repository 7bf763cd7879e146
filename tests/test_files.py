from __future__ import annotations

import contextlib
import os
import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from driftanchor.errors import DriftanchorError, InvalidInput
from driftanchor.files import are_same, read_text, writable, write_whole


def write(path: Path, text: str, ending: BaseException | None = None) -> None:
    with write_whole(path) as scratch:
        scratch.write_text(text, encoding="utf-8")
        if ending is not None:
            raise ending


@contextlib.contextmanager
def folder_of_somebody() -> Iterator[Path]:
    """A folder for a user who is not root, whom nothing is forbidden."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o777)
        root = os.geteuid() == 0
        if root:
            os.seteuid(65534)
        try:
            yield Path(name)
        finally:
            if root:
                os.seteuid(0)


def test_a_file_that_is_replaced_keeps_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    for mode in (0o600, 0o640, 0o666):
        file.write_text("old", encoding="utf-8")
        file.chmod(mode)
        write(file, "new")
        assert (file.read_text(encoding="utf-8"), file.stat().st_mode & 0o777) == ("new", mode)


def test_a_file_that_is_replaced_keeps_its_owner(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text("old", encoding="utf-8")
    owner = 65534 if os.geteuid() == 0 else os.geteuid()  # only root gives files away
    os.chown(file, owner, -1)
    write(file, "new")
    assert (file.read_text(encoding="utf-8"), file.stat().st_uid) == ("new", owner)


def test_a_new_file_obeys_the_umask(tmp_path: Path) -> None:
    for mask in (0o022, 0o077):
        before = os.umask(mask)
        try:
            write(tmp_path / f"{mask}", "new")
        finally:
            os.umask(before)
        assert (tmp_path / f"{mask}").stat().st_mode & 0o777 == 0o666 & ~mask


def test_what_a_link_points_to_is_written_and_the_link_stays(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text(encoding="utf-8") == "new"


def test_a_name_as_long_as_the_system_allows_can_be_written(tmp_path: Path) -> None:
    file = tmp_path / ("x" * 255)
    assert writable(file) == file.resolve()
    write(file, "new")
    assert file.read_text(encoding="utf-8") == "new"


@pytest.mark.parametrize("ending", [KeyboardInterrupt(), SystemExit(143), ValueError("no")])
def test_however_it_ends_the_old_file_stays_and_no_scratch_file(
    tmp_path: Path, ending: BaseException
) -> None:
    file = tmp_path / "a.json"
    file.write_text("old", encoding="utf-8")
    with pytest.raises(type(ending)):
        write(file, "half", ending)
    assert [each.name for each in tmp_path.iterdir()] == ["a.json"]
    assert file.read_text(encoding="utf-8") == "old"


def test_a_full_disk_is_an_error_of_ours_and_the_old_file_stays(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text("old", encoding="utf-8")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))  # as a full disk, and for root too
    try:
        with pytest.raises(DriftanchorError, match=r"cannot write '.*a.json': File too large$"):
            write(file, "x" * 2000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert [each.name for each in tmp_path.iterdir()] == ["a.json"]
    assert file.read_text(encoding="utf-8") == "old"


def test_a_read_only_folder_or_file_is_refused_before_anything_is_done() -> None:
    with folder_of_somebody() as folder:
        file = folder / "a.json"
        file.write_text("old", encoding="utf-8")
        file.chmod(0o444)
        refuse(file, "it is read-only")
        file.chmod(0o644)
        sealed = folder / "sealed"
        sealed.mkdir()
        sealed.chmod(0o555)
        refuse(sealed / "b.json", "Permission denied")
        assert file.read_text(encoding="utf-8") == "old"
        assert {each.name for each in folder.iterdir()} == {"a.json", "sealed"}


def refuse(file: Path, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        writable(file)
    with pytest.raises(InvalidInput, match=reason), write_whole(file):
        raise AssertionError("nothing is written here")


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for path in (tmp_path, Path("/dev/null"), tmp_path / "loop", tmp_path / "\0", Path("/no/x")):
        refuse(path, "cannot write '")
    assert [each.name for each in tmp_path.iterdir()] == ["loop"]


def test_links_and_hard_links_lead_to_the_same_file(tmp_path: Path) -> None:
    file, other = tmp_path / "a", tmp_path / "b"
    file.write_text("a", encoding="utf-8")
    other.write_text("a", encoding="utf-8")
    (tmp_path / "link").symlink_to(file)
    os.link(file, tmp_path / "hard")
    assert all(are_same(file, tmp_path / name) for name in ("a", "link", "hard"))
    assert not are_same(file, other)
    assert are_same(tmp_path / "new", tmp_path / "." / "new")
    assert not are_same(tmp_path / "new", tmp_path / "newer")


def test_only_regular_files_of_bearable_size_are_read(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("é", encoding="utf-8")
    assert read_text(file) == "é"
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/zero")
    for path in (tmp_path / "pipe", tmp_path / "device", tmp_path):
        with pytest.raises(InvalidInput, match=r"cannot read '.*': it is not a regular file"):
            read_text(path)
    with pytest.raises(InvalidInput, match="it has 2 bytes, and 1 are allowed"):
        read_text(file, most=1)
    file.write_bytes(b"\xff")
    for path in (file, tmp_path / "none", tmp_path / "\0"):
        with pytest.raises(InvalidInput, match="cannot read '"):
            read_text(path)
