"""Compiled decisions are the interpreted ones to the bit; some policies stay interpreted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks.pages.live_decisions import SETTINGS, differing
from driftanchor import (
    POLICIES,
    UCB,
    ArmEvidence,
    ArtificialReplay,
    Draws,
    Evidence,
    Policy,
    Round,
)
from driftanchor.compiled.rules import live_chooser
from driftanchor.core.noise import Stream, key
from driftanchor.live import compiling
from driftanchor.live.decide import Decider
from driftanchor.live.state import State
from driftanchor.live.terms import Terms

if TYPE_CHECKING:
    from conftest import RunPython


@dataclass(frozen=True, kw_only=True)
class Weighed(Policy):
    """Its parameter may be whole or not."""

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
    return Decider(terms, State.start(terms.arms, policy.memory))


def ready(policy: Policy, evidence: Evidence) -> object:
    """Return the compiled rule if it is there; nothing is compiled for it."""
    noise = key(1, "decision"), np.empty(4, np.uint64)
    rule = compiling.BackgroundRule(policy, live_chooser, 10**6)
    bound = rule.ready(evidence, (*noise, 1, 1, 1), 0)
    return None if bound is None else bound.func  # type: ignore[attr-defined]


def test_a_rule_serves_all_policies_of_a_class() -> None:
    assert decider(UCB(c=2.0)).prepare()
    evidence, _ = decider(UCB()).situation()
    assert ready(UCB(c=0.5), evidence) is not None
    assert ready(UCB(noise=3.0), evidence) is ready(UCB(c=0.5), evidence)


def test_whole_parameters_make_no_other_rule() -> None:
    assert decider(Weighed(weight=2)).prepare()
    evidence, _ = decider(UCB()).situation()
    assert ready(Weighed(weight=0.5), evidence) is ready(Weighed(weight=2), evidence) is not None


def test_fractions_of_pulls_need_another_rule() -> None:
    assert decider(UCB()).prepare()
    evidence, _ = decider(UCB()).situation()
    fractions = evidence._replace(pulls=evidence.pulls.astype(float))
    assert ready(UCB(), fractions) is not ready(UCB(), evidence)


def test_what_cannot_be_compiled_is_interpreted_for_ever() -> None:
    plain = decider(Pythonic())
    assert not plain.prepare()
    assert plain.next_decision().column == 0
    assert not plain.prepare()


def test_asking_again_starts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    one = decider(UCB())
    assert one.prepare()
    monkeypatch.setattr("threading.Thread", None)  # it would be called
    one.start_compiling()


# One of each way to draw: two normals, a coin, nothing, a rule of its own, and other laws. What
# chooses is the same code in simulated rounds, where every policy is compared.
KINDS = ("anchor-ts", "epsilon-ts", "ucb", "guarded-anchor-ts", "beta-ts")


@pytest.mark.parametrize("name", KINDS)
def test_a_policy_decides_alike_compiled_and_interpreted(name: str) -> None:
    """`make claims` does the same for every policy over 10,000 decisions."""
    policy = POLICIES[name]()
    assert [differing(policy, setting, 120, seed=5) for setting in SETTINGS] == [0] * 4


@pytest.mark.parametrize("policy", [ArtificialReplay(base="ts"), ArtificialReplay(base="ucb")])
def test_a_policy_that_remembers_does_so_alike(policy: Policy) -> None:
    assert differing(policy, "bias bounds", 250, seed=6) == 0


FIRST_PULL = """
import os, sys, threading
import driftanchor as da
from driftanchor.live import compiling, decide
decide.ENOUGH = 1
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
    program += "compiling.finish(); print(learner.pull(), threading.active_count())"
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


def test_a_failure_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(2):
        compiling.compile_once("test_compiling", Pythonic(), live_chooser, ())
    compiling.finish()
    (message,) = [x.getMessage() for x in caplog.records if x.levelname == "WARNING"]
    assert message.startswith("compilation failed, so decisions stay interpreted and slower: ")
