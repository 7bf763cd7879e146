"""Compiled decisions are the interpreted ones to the bit; some policies stay interpreted."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from benchmarks.pages.live_decisions import SETTINGS, differing
from driftanchor import (
    POLICIES,
    TS,
    UCB,
    ArmEvidence,
    ArtificialReplay,
    Draws,
    Evidence,
    Policy,
    Round,
)
from driftanchor.core.noise import Stream
from driftanchor.live import compiling
from driftanchor.live.decider import Decider
from driftanchor.live.state import State
from driftanchor.live.terms import Terms


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


def test_a_kernel_serves_all_policies_of_a_class() -> None:
    assert decider(UCB(c=2.0)).prepare()
    evidence, _ = decider(UCB()).situation(1)
    kernel = compiling.ready(compiling.kind_of(UCB(c=0.5), evidence))
    assert kernel is not None
    assert compiling.ready(compiling.kind_of(UCB(noise=3.0), evidence)) is kernel


def test_the_kind_depends_on_the_class_and_on_the_type_of_pulls() -> None:
    evidence, _ = decider(UCB()).situation(1)
    whole, broken = (compiling.kind_of(Weighed(weight=x), evidence) for x in (2, 0.5))
    assert whole == broken
    assert compiling.kind_of(TS(), evidence) != compiling.kind_of(UCB(), evidence)
    fractions = evidence._replace(pulls=evidence.pulls.astype(float))
    assert compiling.kind_of(UCB(), fractions) != compiling.kind_of(UCB(), evidence)


def test_what_cannot_be_compiled_is_interpreted_for_ever() -> None:
    plain = decider(Pythonic())
    assert not plain.prepare()
    assert plain.next_decision().column == 0
    assert not plain.prepare()


def test_asking_again_starts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    one = decider(UCB())
    assert one.prepare()
    monkeypatch.setattr("threading.Thread", None)  # it would be called
    evidence, _ = one.situation(1)
    compiling.request(compiling.kind_of(UCB(), evidence), UCB(), ())


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
