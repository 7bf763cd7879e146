"""Policies compiled in one process do not take each other's place."""

import math
from dataclasses import dataclass

import numpy as np

from driftanchor import ArmEvidence, Bandit, Draws, Policy, Round, simulate

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
