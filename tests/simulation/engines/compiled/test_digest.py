"""Policies compiled in one process do not take each other's place."""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
import pytest

from driftanchor import TS, ArmEvidence, Bandit, Draws, Evidence, InvalidInput, Policy, Round
from driftanchor.core.noise import Stream
from driftanchor.simulation import simulate
from driftanchor.simulation.engines.compiled.digest import _is_plain

BANDIT = Bandit.paper(biased=True)


def same(policy: Policy) -> bool:
    fast = simulate(policy, BANDIT, horizon=100, runs=2, engine="every-round")
    slow = simulate(policy, BANDIT, horizon=100, runs=2, engine="interpreted")
    return bool(np.array_equal(fast.pulls, slow.pulls))


def greedy(bonus: float) -> Policy:
    """A class of the same name and fields each time, with another rule."""

    @dataclass(frozen=True, kw_only=True)
    class Greedy(Policy):
        name = "greedy"
        formula = "S/T + a fixed bonus"
        source = "this test"

        def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
            return arm.total / arm.pulls + bonus / arm.pulls if arm.pulls else math.inf

    return Greedy()


def test_policies_with_the_same_fields_keep_their_own_rule() -> None:
    names = ["optimistic-ts", "anchor-ts"]
    fast = simulate(names, BANDIT, horizon=100, runs=2, engine="every-round")
    slow = simulate(names, BANDIT, horizon=100, runs=2, engine="interpreted")
    assert np.array_equal(fast.pulls, slow.pulls)
    assert not np.array_equal(fast.pulls[0], fast.pulls[1])


def test_a_class_defined_anew_under_the_same_name_runs_its_new_rule() -> None:
    assert same(greedy(0.0))
    assert same(greedy(50.0))


@dataclass(frozen=True, kw_only=True)
class Astray(Policy):
    """Plays an arm that is not there."""

    name = "astray"
    formula = "none"
    source = "this test"

    def choose(self, evidence: Evidence, now: Round, stream: Stream) -> int:
        return evidence.pulls.size + 50


class Swapped(NamedTuple):
    """Not what TS calls its belief."""

    sd: float
    mean: float


@dataclass(frozen=True, kw_only=True)
class Confused(TS):
    """Believes another tuple than it names."""

    def believe(self, arm: ArmEvidence) -> Any:
        return Swapped(1.0, arm.total)


@pytest.mark.parametrize("engine", ["every-round", "interpreted"])
def test_a_column_that_is_not_there_is_refused(engine: str) -> None:
    with pytest.raises(InvalidInput, match="'astray' chose no arm"):
        simulate(Astray(), BANDIT, horizon=5, runs=1, engine=engine)


def test_a_belief_of_another_type_than_named_is_refused() -> None:
    with pytest.raises(InvalidInput, match="names Posterior as its belief and believes Swapped"):
        simulate(Confused(), BANDIT, horizon=5, runs=1)


def reads_a_module(x: float) -> float:
    return sys.maxsize * x


def plain(x: float) -> float:
    return math.sqrt(x) + BANDIT_SIZE


BANDIT_SIZE = 10


def with_closure(k: float) -> Callable[[float], float]:
    return lambda x: k * x


def test_only_what_a_digest_covers_is_kept_on_disk() -> None:
    enclosed = with_closure(2.0)
    assert isinstance(enclosed, FunctionType)
    assert isinstance(reads_a_module, FunctionType)
    assert isinstance(plain, FunctionType)
    assert [_is_plain(f) for f in (plain, reads_a_module, enclosed)] == [True, False, False]
