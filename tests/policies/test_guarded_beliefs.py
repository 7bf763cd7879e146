"""What is kept of an arm: the same numbers as computed anew, and nothing a child may change."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest
from guarded_cases import arm

from driftanchor import ArmEvidence, Evidence, GuardedAnchorTS, Round
from driftanchor.core.noise import Stream
from driftanchor.policies.base import kept_belief
from driftanchor.policies.guarded_beliefs import GuardedBelief, beliefs, hybrid, log_weight


def test_the_numbers_of_an_arm() -> None:
    """T = 4, S = 2, N = 12: N' = 12/(1 + 12·0.25) = 3 for a bound of 1."""
    belief = beliefs(GuardedAnchorTS(), arm(4, 0.5, 12, 1.2, 1.0))
    assert (belief.live, belief.live_sd, belief.reach) == (0.5, 0.5, 1.0)
    assert (belief.weight, belief.moved_weight) == (3.0, 0.0)
    assert belief.mean == belief.guess == pytest.approx((2.0 + 3 * 1.2) / 7)
    assert belief.sd == pytest.approx(1 / math.sqrt(7))
    assert (belief.say, belief.say_total) == (0.0, 0.0)


def test_logs_that_move_along_move_the_mean_of_both() -> None:
    one = arm(4, 0.5, 12, 1.2, relative=1.0)
    belief = beliefs(GuardedAnchorTS(), one)
    law = hybrid(one, belief, 0.7)
    assert law.mean == pytest.approx((2.0 + 3 * 1.9) / 7)
    assert law.sd == pytest.approx(1 / math.sqrt(7))
    assert log_weight(one, belief, 0.7) == 3.0
    both = arm(4, 0.5, 12, 1.2, bound=0.1, relative=1.0)  # V has the lower ceiling
    assert hybrid(both, beliefs(GuardedAnchorTS(), both), 0.7).mean < 1.2


@dataclass(frozen=True, kw_only=True)
class Chooser(GuardedAnchorTS):
    """A child that chooses by itself."""

    name = "chooser"

    def choose(self, evidence: Evidence, now: Round, stream: Stream) -> int:
        return 0


@dataclass(frozen=True, kw_only=True)
class Believer(GuardedAnchorTS):
    """A child that believes other numbers."""

    name = "believer"

    def believe(self, arm: ArmEvidence) -> GuardedBelief:
        return beliefs(self, arm)._replace(guess=0.0)


@dataclass(frozen=True, kw_only=True)
class Renamed(GuardedAnchorTS):
    """A child that changes nothing."""

    name = "renamed"


def test_a_child_that_changes_the_rule_has_nothing_kept() -> None:
    assert kept_belief(GuardedAnchorTS) is kept_belief(Renamed) is GuardedBelief
    assert kept_belief(Chooser) is kept_belief(Believer) is None
