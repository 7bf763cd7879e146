"""What is said about compiling, kernels and settings."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from driftanchor.checkup import surroundings
from driftanchor.checkup.diagnosis import Diagnosis
from driftanchor.compiled import kernels

if TYPE_CHECKING:
    from conftest import RunPython


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own, in which no kernel is known."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(kernels, "_kernels", {})
    return tmp_path / "cache"


def only(found: Iterable[Diagnosis]) -> Diagnosis:
    (each,) = list(found)
    return each


def test_a_kernel_is_compiled_once_and_then_loaded(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = only(surroundings.compiling())
    assert first.status == "fine"
    assert first.found.startswith("compiled a function in ")
    monkeypatch.setattr(kernels, "_kernels", {})
    assert only(surroundings.compiling()).found.startswith("loaded a compiled function from disk")
    kept = only(surroundings.kernels_kept())
    assert kept.status == "fine"
    assert kept.found.startswith("1 kernel, ")
    assert str(cache / "driftanchor" / "kernels") in kept.found


def test_numba_that_is_switched_off(run_python: RunPython) -> None:
    """In a process of its own, as Numba looks at the variable when it is imported."""
    program = "from driftanchor.checkup.surroundings import compiling; print(*compiling())"
    said = run_python(program, env={"NUMBA_DISABLE_JIT": "1"})
    assert "status='problem', found='NUMBA_DISABLE_JIT is set'" in said
    assert "unset NUMBA_DISABLE_JIT" in said


def test_without_numba_there_is_nothing_to_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    assert [*surroundings.compiling(), *surroundings.kernels_kept()] == []


def test_compiling_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("LLVM is broken")

    monkeypatch.setattr(kernels, "loop", fail)
    found = only(surroundings.compiling())
    assert (found.status, found.found) == ("problem", "it fails: LLVM is broken")
    assert 'pip install --force-reinstall "numba==' in found.advice


def test_compiled_code_that_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "loop", lambda function, *example: lambda n: 11)
    found = only(surroundings.compiling())
    assert (found.status, found.found) == ("problem", "1 + 2 + 3 + 4 gives 11")


def test_a_folder_that_others_can_write_to(cache: Path) -> None:
    folder = cache / "driftanchor"
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    assert only(surroundings.compiling()).status == "fine"  # it is compiled, and not kept
    found = only(surroundings.kernels_kept())
    assert found.status == "problem"
    assert found.found == f"other users can write to {str(folder)!r}"
    assert f"run chmod go-w {folder} {folder / 'kernels'}, or set XDG_CACHE_HOME" in found.advice


def test_a_folder_of_another_user(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (cache / "driftanchor" / "kernels").mkdir(0o700, parents=True)
    monkeypatch.setattr("os.geteuid", lambda: os.getuid() + 1)
    found = only(surroundings.kernels_kept())
    assert (found.status, "other users can write to" in found.found) == ("problem", True)


def test_a_new_folder_is_for_its_owner_alone_whatever_the_umask(cache: Path) -> None:
    before = os.umask(0)
    try:
        found = only(surroundings.kernels_kept())
    finally:
        os.umask(before)
    assert (found.status, found.found[:9]) == ("fine", "0 kernels")
    assert (cache / "driftanchor").stat().st_mode & 0o777 == 0o700


def test_a_folder_that_cannot_be_made_or_written(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.write_text("a file")
    found = only(surroundings.kernels_kept())
    assert found.status == "problem"
    assert "XDG_CACHE_HOME" in found.advice
    cache.unlink()
    monkeypatch.setattr("os.access", lambda *_: False)  # as for a user that is not root
    assert "Permission denied" in only(surroundings.kernels_kept()).found


def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", homeless)
    found = only(surroundings.kernels_kept())
    assert (found.status, "home" in found.found) == ("problem", True)


def test_no_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in surroundings.SETTINGS:
        monkeypatch.delenv(name, raising=False)
    assert only(surroundings.settings()).name == "settings"


@pytest.mark.parametrize(
    ("name", "value", "status"),
    [
        ("NUMBA_BOUNDSCHECK", "1", "problem"),
        ("NUMBA_BOUNDSCHECK", "0", "fine"),
        ("NUMBA_OPT", "0", "problem"),
        ("NUMBA_OPT", "3", "fine"),
        ("NUMBA_CACHE_DIR", "/x", "fine"),
        ("PROMETHEUS_MULTIPROC_DIR", "/x", "problem"),
        ("NO_COLOR", "1", "fine"),
        ("COLUMNS", "80", "fine"),
    ],
)
def test_a_setting(name: str, value: str, status: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_BOUNDSCHECK", raising=False)  # `make torture` sets it
    monkeypatch.setenv(name, value)
    found = only(surroundings.settings())
    assert (found.name, found.status) == (f"setting {name}", status)
    assert found.found.startswith(f"{name}={value}: ")
    assert (f"unset {name}" in found.advice) == (status == "problem")
