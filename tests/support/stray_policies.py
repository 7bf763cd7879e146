"""Policies that do what none should: compiled once, for all tests of what is made of it."""

import math
from dataclasses import dataclass

from driftanchor import AnchorTS, ArmEvidence, Draws, Evidence, Policy, Round
from driftanchor.core.evidence import arm_at
from driftanchor.core.noise import Stream


@dataclass(frozen=True, kw_only=True)
class Stray(Policy):
    """Plays three arms by turns, or does something else.

    Args:
        what: 0 by turns, 1 to 4 look beyond an array, 5 raise an error, 6 and 7 play no arm.
    """

    name = "stray"
    formula = "by turns"
    source = "tests"
    memory = 2
    what: int = 0

    def choose(self, evidence: Evidence, now: Round, stream: Stream) -> int:
        """The arm whose turn it is, or something else."""
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


class Partial(AnchorTS):
    """A rule of its own over a parent that keeps beliefs, which is NaN for arms without logs."""

    name = "partial"

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        """V."""
        return math.nan if arm.offline_pulls == 0 else arm.bias_bound
