"""Compiled, each policy runs its own rule: no other class takes its place."""

from __future__ import annotations

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
from driftanchor.compiled.overloads import numbers_of, numbers_type, parameters_of, reachable
from driftanchor.core.noise import Stream
from driftanchor.core.posterior import Posterior
from driftanchor.policies.base import largest_index
from driftanchor.simulation import ENGINES

BANDIT = Bandit([0.5, -0.5, 0.2], 0.0, 5, bias_bound=[0.1, 0.9, 0.3])
TABLE = np.array([1.0, 2.0])


class OtherSample(TS):
    """The parent's belief, used in another way."""

    name = "other-sample"

    def sample(self, belief: Posterior, now: Round, z: Draws) -> float:
        return belief.mean + 3.0 * belief.sd * z.on


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
@pytest.mark.parametrize("cls", [Partial, OtherSample, OtherEvidence])
def test_compiled_code_runs_what_a_subclass_changes(cls: type[Policy]) -> None:
    effort: dict[str, Any] = {"horizon": 300, "runs": 4}
    slow = simulate({"it": cls()}, BANDIT, engine="interpreted", **effort)
    for engine in sorted({*ENGINES} - {"interpreted"}):  # none may use a parent's law
        fast = simulate({"it": cls()}, BANDIT, engine=engine, **effort)
        assert fast.pulls.tolist() == slow.pulls.tolist(), engine
    parent: Any = cls.__base__
    other = simulate({"it": parent()}, BANDIT, engine="interpreted", **effort)
    assert slow.pulls.tolist() != other.pulls.tolist()


def test_policies_with_the_same_fields_keep_their_own_rule() -> None:
    names = ["optimistic-ts", "anchor-ts"]
    effort: dict[str, Any] = {"horizon": 100, "runs": 2}
    fast = simulate(names, Bandit.paper(biased=True), engine="every-round", **effort)
    slow = simulate(names, Bandit.paper(biased=True), engine="interpreted", **effort)
    assert np.array_equal(fast.pulls, slow.pulls)
    assert not np.array_equal(fast.pulls[0], fast.pulls[1])


class Beyond(TS):
    """Reads a table with an entry for two pulls."""

    name = "beyond"

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        return float(TABLE[int(arm.pulls)])


@pytest.mark.parametrize("engine", ["interpreted", "every-round"])
def test_errors_of_a_policy_come_under_its_name(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Indices beyond an array are errors without any setting of Numba."""
    monkeypatch.setattr("numba.config.BOUNDSCHECK", None)

    def said(policy: Policy) -> str:
        try:
            result = simulate(policy, Bandit([0.5, 0.4, 0.3]), horizon=6, runs=2, engine=engine)
        except InvalidInput as error:
            return str(error)
        return str(result.pulls.tolist())

    assert said(Stray(what=0)) == "[[[2, 2, 2], [2, 2, 2]]]"
    for what in (1, 2, 3):
        assert said(Stray(what=what)).startswith("policy 'stray' raised IndexError: index")
    assert said(Stray(what=4)).startswith("policy 'stray' raised IndexError: no arm has this")
    assert said(Stray(what=5)).startswith("policy 'stray' raised ValueError: no more")
    for what in (6, 7):
        assert said(Stray(what=what)).startswith("policy 'stray' chose no arm")
    assert said(Beyond()).startswith("policy 'beyond' raised IndexError: index")


@dataclass(frozen=True, kw_only=True)
class Numbered(TS):
    """Fields of many kinds."""

    count: int = 3
    word: str = "x"
    horizon: int | None = None

    @property
    def twice(self) -> float:
        return 2.0 * self.count


def test_compiled_code_may_read_numeric_fields_and_properties() -> None:
    expected = {"prior_mean": 0.0, "noise": 1.0, "count": 3.0, "twice": 6.0}
    assert numbers_of(Numbered()) == expected
    assert parameters_of(Numbered()).tolist() == [*expected.values(), 0.0]
    assert numbers_type(Numbered()) is numbers_type(Numbered(count=4))
    assert numbers_type(Numbered()) is not numbers_type(TS())


def with_closure(function: Any) -> Any:
    return lambda x: function(x)


def test_functions_are_found_through_modules_and_closures() -> None:
    found = set(reachable([OtherEvidence.choose, with_closure(said_by)]))
    assert {OtherEvidence.choose, mirrored, largest_index, said_by} <= found


def said_by(x: float) -> float:
    return x
