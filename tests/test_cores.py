"""How many cores there are for this process."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from driftanchor import cores
from driftanchor.simulation.run import threads_to_use

if TYPE_CHECKING:
    from conftest import RunPython


def test_a_process_that_may_use_one_core(run_python: RunPython) -> None:
    limited = "import os; os.cpu_count = lambda: 8; os.sched_setaffinity(0, {0}); "
    asked = "from driftanchor.cores import usable_cores; print(usable_cores())"
    assert run_python(limited + asked) == "1\n"


@pytest.mark.parametrize(
    ("limit", "found"),
    [("max 100000", 4), ("150000 100000", 2), ("20000 100000", 1), ("900000 100000", 4), ("x", 4)],
)
def test_a_container_that_may_use_some_cores(
    limit: str, found: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cpu.max").write_text(f"{limit}\n")
    monkeypatch.setattr(cores, "CGROUP", tmp_path / "cpu.max")
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(4))
    assert cores.usable_cores() == threads_to_use(None) == found
    assert threads_to_use(7) == 7


def test_without_a_limit_all_cores_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "CGROUP", Path("nothing"))
    monkeypatch.delattr("os.sched_getaffinity")
    assert cores.usable_cores() == os.cpu_count()
