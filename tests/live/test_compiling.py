"""A kernel serves all policies of a class, and what cannot be compiled is interpreted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from driftanchor import TS, UCB, ArmEvidence, Draws, Evidence, Policy, Round
from driftanchor.core.noise import Stream, key
from driftanchor.live import compiling
from driftanchor.live.decider import Decider
from driftanchor.live.ledger import Ledger
from driftanchor.live.terms import Terms


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
