"""Kernels come from a thread: no decision waits, and a process can end or fork at any time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from driftanchor.live import background

if TYPE_CHECKING:
    from conftest import RunPython

FIRST_PULL = """
import os, sys, threading
import driftanchor as da
from driftanchor.live import background, decider
decider.ENOUGH = 1
learner = da.Learner(da.UCB(), arms=["A", "B"], seed=1)
learner.pull()
"""


def test_a_few_pulls_load_no_compiler(run_python: RunPython) -> None:
    said = run_python(
        """
import sys, threading
import driftanchor as da
learner = da.Learner(arms=["A", "B"], reward_range=(0, 1), seed=1)
for _ in range(100):
    learner.update(learner.pull(), 0.5)
print("numba" in sys.modules, threading.active_count())
"""
    )
    assert said.split() == ["False", "1"]


def test_without_numba_decisions_are_interpreted(run_python: RunPython) -> None:
    program = "import sys; sys.modules['numba'] = None" + FIRST_PULL
    program += "background.finish(); print(learner.pull(), threading.active_count())"
    assert run_python(program).split()[1] == "1"


def test_a_process_may_end_while_it_compiles(run_python: RunPython) -> None:
    """It ends well, which `run_python` checks; a daemon thread could crash it."""
    assert run_python(FIRST_PULL + "print('done')") == "done\n"


def test_a_process_may_fork_while_it_compiles(run_python: RunPython) -> None:
    program = """
pid = os.fork()
told = [learner.pull() for _ in range(20)], learner._decider.prepare()
if pid:
    os.waitpid(pid, 0)
print(*told, flush=True)
"""
    once, again = run_python(FIRST_PULL + program).splitlines()
    assert once == again
    assert once.endswith("True")


def test_what_fails_is_tried_once_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    tries: list[int] = []

    def work() -> None:
        tries.append(len(tries))
        raise ValueError("no such rule")

    for _ in range(2):
        background.compile_once("test_background", work)
    background.finish()
    assert tries == [0]
    (said,) = [x.getMessage() for x in caplog.records if x.name == "driftanchor"]
    assert "compilation failed" in said
    assert said.endswith("ValueError: no such rule")
