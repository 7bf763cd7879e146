"""What is kept is ours alone and whole, or it is compiled again; nobody waits for nothing."""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from forks import Forks

from driftanchor import TS
from driftanchor.compiled import kernel_cache, kernels

DAY = 86_400.0


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache of the test's own, in which no kernel is known and nothing was said."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(kernels, "_kernels", {})
    kernel_cache._warn.cache_clear()
    yield tmp_path / "cache"
    kernel_cache._warn.cache_clear()


def written(name: str = "aa-kernel") -> Path:
    """A folder with files like those of Numba."""
    folder = kernel_cache.kept_in(name)
    assert folder is not None
    (folder / "engines").mkdir()
    (folder / "engines" / "loop.nbi").write_bytes(bytes(range(200)))
    (folder / "engines" / "loop.1.nbc").write_bytes(bytes(range(100)) * 9)
    kernel_cache.seal(folder)
    return folder


def test_folders_are_made_for_this_user_alone_whatever_the_mask(cache: Path) -> None:
    before = os.umask(0)
    try:
        folder = written()
    finally:
        os.umask(before)
    for place in (cache, *cache.rglob("*")):
        if place.name != "engines":  # Numba's own: no other user gets that far
            assert place.stat().st_mode & 0o022 == 0 or place.name == kernel_cache.HASHES, place
    assert folder.stat().st_mode & 0o777 == 0o700
    assert kernel_cache.is_whole(folder)


@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o720])
def test_a_folder_that_others_can_write_to_is_not_used_and_that_is_said_once(
    depth: int, mode: int, cache: Path
) -> None:
    folder = written()
    place = [folder, *folder.parents][depth]
    place.chmod(mode)
    with pytest.warns(UserWarning, match=f"{place.name}' can be written to by other users") as said:
        assert kernel_cache.kept_in(folder.name) is None
    assert "XDG_CACHE_HOME" in str(said[0].message)
    assert kernel_cache.kept_in(folder.name) is None  # warnings are errors in tests
    place.chmod(0o755)
    assert kernel_cache.kept_in(folder.name) == folder


def test_a_folder_of_another_user_is_not_used(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = written()
    assert kernel_cache.is_whole(folder)
    monkeypatch.setattr("os.geteuid", lambda: os.getuid() + 1)
    with pytest.warns(UserWarning, match="driftanchor' belongs to another user, so compiled"):
        assert kernel_cache.kept_in(folder.name) is None
    assert not kernel_cache.is_whole(folder)


def test_a_place_where_all_may_rename_is_not_used_unless_it_is_sticky(cache: Path) -> None:
    written()
    cache.chmod(0o1777)
    assert kernel_cache.kept_in("aa-kernel") is not None
    cache.chmod(0o777)
    with pytest.warns(UserWarning, match="cache' can be written to by all users"):
        assert kernel_cache.kept_in("aa-kernel") is None


def test_whatever_happens_to_a_file_is_seen(cache: Path) -> None:
    folder = written()
    index, data, hashes = (
        folder / "engines" / "loop.nbi",
        folder / "engines" / "loop.1.nbc",
        folder / kernel_cache.HASHES,
    )
    for file in (index, data, hashes):
        content = file.read_bytes()
        cut = [content[:-1], content[: len(content) // 2], b"", content + b"\0"]
        for damaged in [*cut, b"x" + content[1:]]:
            file.write_bytes(damaged)
            assert not kernel_cache.is_whole(folder)
        file.unlink()
        assert not kernel_cache.is_whole(folder)
        file.write_bytes(content)
        assert kernel_cache.is_whole(folder)
    other = folder / "engines" / "loop.2.nbc"
    other.write_bytes(b"of somebody else")
    assert not kernel_cache.is_whole(folder)
    other.rename(folder / "engines" / "loop.nbc.tmp.1234")  # Numba never loads that
    assert kernel_cache.is_whole(folder)
    data.chmod(0o666)
    assert not kernel_cache.is_whole(folder)
    kernel_cache.clear(folder)
    assert list(folder.iterdir()) == []
    assert not kernel_cache.is_whole(folder)


def used(folder: Path, days: float) -> None:
    """Let a folder have been used so long ago."""
    then = time.time() - days * DAY
    os.utime(folder / kernel_cache.HASHES, (then, then))


def test_kernels_that_nobody_used_for_long_go_when_another_is_compiled(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["aa", "bb", "cc", "dd", "ee"]
    folders = dict(zip(names, map(written, names), strict=True))
    for days, name in zip([95, 89, 2, 100, 1], names, strict=True):
        used(folders[name], days)
    assert kernel_cache.is_whole(folders["dd"])  # it is used now
    kernel_cache.seal(folders["ee"])
    assert [name for name in names if folders[name].exists()] == ["bb", "cc", "dd", "ee"]
    monkeypatch.setattr(kernel_cache, "MOST", 3)
    kernel_cache.seal(folders["ee"])
    assert [name for name in names if folders[name].exists()] == ["cc", "dd", "ee"]


def above(policy: Any, x: float) -> bool:
    """A loop that is small enough to be compiled often."""
    return bool(x > policy.noise)


def answers() -> list[bool]:
    """What the kernel says in a process that has just begun."""
    kernels._kernels.clear()
    small: Any = kernels.kernel(TS, above)
    rule = TS(noise=2.0).numbers()
    return [small(rule, 1.0), small(rule, 3.0)]


def test_byte_flips_in_real_kernels_mean_compiling_again_and_nothing_else(cache: Path) -> None:
    assert answers() == [False, True]
    files = sorted(cache.rglob("*.nb[ic]"))
    assert [file.suffix for file in files] == [".nbc", ".nbi"]
    rng = Random(0)
    for flip in range(10):
        written = [file.stat().st_mtime_ns for file in files]
        assert answers() == [False, True]  # loaded
        assert [file.stat().st_mtime_ns for file in files] == written
        file = files[flip % 2]
        content = bytearray(file.read_bytes())
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        file.write_bytes(content)
        assert answers() == [False, True]  # compiled again
        assert kernel_cache.is_whole(files[0].parents[1])
        assert [file.stat().st_mtime_ns for file in files] != written


def test_what_is_whole_and_cannot_be_loaded_is_compiled_again(cache: Path) -> None:
    assert answers() == [False, True]
    file = next(cache.rglob("*.nbc"))
    file.write_bytes(b"no pickle")
    kernel_cache.seal(file.parents[1])
    assert answers() == [False, True]
    assert file.read_bytes() != b"no pickle"
    assert kernel_cache.is_whole(file.parents[1])


def test_what_cannot_be_written_is_compiled_all_the_same(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the disk is full: Numba cannot put its files in place, and nor can we."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    monkeypatch.setattr(Path, "replace", full)
    assert answers() == [False, True]
    assert list(cache.rglob("*.nbc")) == []


def test_a_setting_of_numba_that_leads_elsewhere_keeps_nothing_there(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config: Any = importlib.import_module("numba").config
    monkeypatch.setattr(config, "CACHE_LOCATOR_CLASSES", "InTreeCacheLocator")
    assert answers() == [False, True]
    assert list(cache.rglob("*.nbc")) == list(Path(__file__).parent.rglob("*.nbc")) == []


SMALL = """
from driftanchor import TS
from driftanchor.compiled import kernels
from small import above

small = kernels.kernel(TS, above)
assert small(TS().numbers(), 30.0)
print("loaded" if small.stats.cache_hits else "compiled")
"""


def test_of_two_processes_one_compiles_and_the_other_waits_and_loads(tmp_path: Path) -> None:
    lines = ["def above(policy, x):", "    total = 0.0", "    for i in range(9):"]
    lines += [f"        total += (x - i) ** {power}" for power in range(1, 25)]  # to take some time
    (tmp_path / "small.py").write_text("\n".join([*lines, "    return total > policy.noise"]))
    (tmp_path / "ask.py").write_text(SMALL)
    logs = [tmp_path / "first.txt", tmp_path / "second.txt"]
    imports = ("driftanchor.policies.ts", "driftanchor.compiled.parts")
    forks = Forks(*imports, env={"XDG_CACHE_HOME": str(tmp_path / "cache")})  # both begin at once
    both = [forks.start("ask", folder=tmp_path, log=log) for log in logs]
    assert [process.wait(120) for process in both] == [0, 0]
    assert sorted(log.read_text() for log in logs) == ["compiled\n", "loaded\n"]
    forks.close()
