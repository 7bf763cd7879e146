"""Kernels come from a thread: no decision waits, and a process can end or fork at any time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest

from driftanchor import TS, UCB, ArmEvidence, Draws, Evidence, Policy, Round
from driftanchor.core.noise import Stream, key
from driftanchor.live import compiling
from driftanchor.live.decider import Decider
from driftanchor.live.ledger import Ledger
from driftanchor.live.terms import Terms

if TYPE_CHECKING:
    from conftest import RunPython

FIRST_PULL = """
import os, sys, threading
import driftanchor as da
from driftanchor.live import compiling, decider
decider.ENOUGH = 1
learner = da.Learner(da.UCB(), arms=["A", "B"], seed=1)
learner.pull()
"""


@dataclass(frozen=True, kw_only=True)
class Weighed(Policy):
    """A parameter may be whole or not: Numba takes these for different types."""

    name = "weighed"
    formula = "weight × pulls"
    source = "this test"
    weight: float = 1.0

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        return self.weight * arm.pulls


@dataclass(frozen=True, kw_only=True)
class Pythonic(Policy):
    """It does what compiled code cannot do."""

    name = "pythonic"
    formula = "by name"
    source = "this test"

    def choose(self, evidence: Evidence, now: Round, stream: Stream) -> int:
        return int({"first": "0"}[self.name.replace("pythonic", "first")])


def decider(policy: Policy) -> Decider:
    terms = Terms.declare(policy, arms=["A", "B"], seed=1)
    return Decider(terms, Ledger.start(terms.arms, policy.memory))


def test_a_kernel_serves_all_policies_of_a_class() -> None:
    assert decider(UCB(c=2.0)).prepare()
    kernel = compiling.ready(compiling.kind_of(UCB(c=0.5).numbers()))
    assert kernel is not None
    assert compiling.ready(compiling.kind_of(UCB(noise=3.0).numbers())) is kernel


def test_numbers_of_other_types_are_another_kind() -> None:
    whole, broken = (compiling.kind_of(Weighed(weight=x).numbers()) for x in (2, 0.5))
    assert whole != broken
    assert compiling.kind_of(TS().numbers()) != compiling.kind_of(UCB().numbers())


def test_what_cannot_be_compiled_is_interpreted_for_ever() -> None:
    plain = decider(Pythonic())
    assert not plain.prepare()
    assert plain.next_decision().column == 0
    assert not plain.prepare()


def test_asking_again_starts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = compiling.kind_of(UCB().numbers())
    assert decider(UCB()).prepare()
    monkeypatch.setattr("threading.Thread", None)  # it would be called
    compiling.ask(kind, (UCB().numbers(), key(1, "x"), np.empty(4, np.uint64)))


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
    program += "compiling.finish(); print(learner.pull(), threading.active_count())"
    assert run_python(program).split()[1] == "1"


def test_a_process_may_end_while_it_compiles(run_python: RunPython) -> None:
    """It ends well, which `run_python` checks; a daemon thread could crash it."""
    assert run_python(FIRST_PULL + "print('done')") == "done\n"


def test_a_process_may_fork_while_it_compiles(run_python: RunPython) -> None:
    program = """
pid = os.fork()
told = [learner.pull() for _ in range(20)], learner._decider.prepare()
print(*told, flush=True)
if pid:
    os.waitpid(pid, 0)
"""
    once, again = run_python(FIRST_PULL + program).splitlines()
    assert once == again
    assert once.endswith("True")
