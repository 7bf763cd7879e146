"""Compiled, each policy runs its own rule: no other class takes its place."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from driftanchor import TS, AnchorTS, ArmEvidence, Bandit, Draws, Evidence, Policy, Round, simulate
from driftanchor.core.noise import Stream
from driftanchor.policies.base import largest_index
from driftanchor.simulation import ENGINES

if TYPE_CHECKING:
    from conftest import RunPython

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


class OtherIndex(AnchorTS):
    """A rule of its own over a parent that keeps beliefs."""

    name = "other-index"

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        return arm.bias_bound


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
@pytest.mark.parametrize("cls", [OtherIndex, OtherEvidence])
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


STRAY = """
from dataclasses import dataclass
from driftanchor import Evidence, Policy, Round
from driftanchor.core.evidence import arm_at
from driftanchor.core.noise import Stream

@dataclass(frozen=True, kw_only=True)
class Stray(Policy):
    name = "stray"
    formula = "by turns"
    source = "this test"
    memory = 2
    what: int = 0

    def choose(self, evidence: Evidence, now: Round, stream: Stream) -> int:
        evidence.memory[now.t % 3, 1] += 1.0
        if self.what == 1:
            evidence.memory[0, 5] = 1.0
        if self.what == 2:
            evidence.memory[10**9, 0] = 1.0
        if self.what == 3:
            evidence.pulls[-4] += 1
        if self.what == 4 and arm_at(evidence, 3).pulls > 10**6:
            return 1
        if self.what == 5:
            raise ValueError("no more")
        if self.what == 6:
            return -1
        if self.what == 7:
            return 10**9
        return now.t % 3
"""
ASTRAY = """
import os, sys
os.environ.pop("NUMBA_BOUNDSCHECK", None)
sys.path.insert(0, "")
import driftanchor as da
from stray import Stray
for what in range(8):
    for engine in ("interpreted", "every-round"):
        try:
            bandit = da.Bandit([0.5, 0.4, 0.3])
            print(da.simulate(Stray(what=what), bandit, horizon=6, runs=2, engine=engine).pulls[0])
        except da.InvalidInput as error:
            print(str(error).partition(";")[0])
"""


def test_a_rule_that_leaves_its_arrays_is_stopped_and_named_without_any_setting(
    run_python: RunPython, tmp_path: Path
) -> None:
    (tmp_path / "stray.py").write_text(STRAY)
    said = run_python(ASTRAY).replace("\n ", " ").splitlines()
    starts = [
        "[[2 2 2] [2 2 2]]",
        *["policy 'stray' raised IndexError: index"] * 3,
        "policy 'stray' raised IndexError: no arm has this column",
        "policy 'stray' raised ValueError: no more",
        *["policy 'stray' chose no arm"] * 2,
    ]
    for lines in (said[0::2], said[1::2]):  # interpreted and compiled
        assert len(lines) == len(starts)
        assert all(map(str.startswith, lines, starts)), lines
