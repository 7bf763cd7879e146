"""Compiled, each policy runs its own rule: no other class takes its place."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from stray_policies import Partial, Stray

from driftanchor import (
    TS,
    ArmEvidence,
    Bandit,
    Draws,
    Evidence,
    InvalidInput,
    Policy,
    Round,
    simulate,
)
from driftanchor.compiled.kernels import kernel
from driftanchor.core.noise import Stream, nothing
from driftanchor.policies.base import index, largest_index
from driftanchor.simulation import ENGINES

BANDIT = Bandit.paper(biased=True)


def one_index(policy: Any, arm: ArmEvidence, now: Round, z: Draws) -> float:
    """A loop that is soon compiled."""
    return index(policy, arm, now, z)


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
    arm, now, z = ArmEvidence(4, 2.0, 0, 0.0, 0.0), Round(5, 2), nothing(np.zeros(4, np.uint64))
    for bonus in (0.0, 50.0):
        policy = greedy(bonus)
        compiled = kernel(type(policy), one_index)
        assert compiled(policy.numbers(), arm, now, z) == (2.0 + bonus) / 4
        assert one_index(policy, arm, now, z) == (2.0 + bonus) / 4


class OtherEvidence(TS):
    """The parent's rule on other numbers: every arm has the totals of its neighbour."""

    name = "other-evidence"

    def choose(self, evidence: Evidence, now: Round, stream: Stream) -> int:
        return largest_index(self, mirrored(evidence), now, stream)


def mirrored(evidence: Evidence) -> Evidence:
    return Evidence(
        evidence.pulls[::-1],
        evidence.totals[::-1],
        evidence.offline_pulls,
        evidence.offline_means,
        evidence.bias_bounds,
        evidence.playable,
        evidence.memory,
        evidence.pending,
        evidence.relative_bounds,
    )


@pytest.mark.slow
@pytest.mark.parametrize("cls", [Partial, OtherEvidence])
def test_what_a_subclass_changes_is_what_runs_compiled(cls: type[Policy]) -> None:
    bandit = Bandit([0.5, -0.5, 0.2], 0.0, 5, bias_bound=[0.1, 0.9, 0.3])
    effort: dict[str, Any] = {"horizon": 300, "runs": 4}
    slow = simulate({"it": cls()}, bandit, engine="interpreted", **effort)
    for engine in sorted({*ENGINES} - {"interpreted"}):  # none may use a parent's law
        fast = simulate({"it": cls()}, bandit, engine=engine, **effort)
        assert fast.pulls.tolist() == slow.pulls.tolist(), engine
    parent: Any = cls.__base__
    other = simulate({"it": parent()}, bandit, engine="interpreted", **effort)
    assert slow.pulls.tolist() != other.pulls.tolist()


@pytest.mark.parametrize("engine", ["interpreted", "every-round"])
def test_a_rule_that_leaves_its_arrays_is_stopped_and_named_without_any_setting(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("numba.config.BOUNDSCHECK", None)

    def said(what: int) -> str:
        bandit = Bandit([0.5, 0.4, 0.3])
        try:
            result = simulate(Stray(what=what), bandit, horizon=6, runs=2, engine=engine)
        except InvalidInput as error:
            return str(error)
        return str(result.pulls.tolist())

    assert said(0) == "[[[2, 2, 2], [2, 2, 2]]]"
    for what in (1, 2, 3):
        assert said(what).startswith("policy 'stray' raised IndexError: index")
    assert said(4).startswith("policy 'stray' raised IndexError: no arm has this column")
    assert said(5).startswith("policy 'stray' raised ValueError: no more")
    for what in (6, 7):
        assert said(what).startswith("policy 'stray' chose no arm")
