"""Which policies have a law, and that heirs who change the rule have none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from guarded_cases import arm, at, seen

from driftanchor import POLICIES, TS, UCB, ArmEvidence, GuardedAnchorTS, Policy, Round
from driftanchor.core.index_law import constant
from driftanchor.core.noise import Draws, Stream, one_normal
from driftanchor.core.posterior import Posterior
from driftanchor.core.win_chances import KIND, MEAN, OTHER_MEAN
from driftanchor.policies.round_law import RoundKind, has_law, law_of, write_laws


def test_all_policies_but_one_have_a_law() -> None:
    assert [name for name, cls in POLICIES.items() if not has_law(cls)] == ["artificial-replay"]


@dataclass(frozen=True, kw_only=True)
class Believes(TS):
    """An heir that believes something else, of the same kind."""

    name = "believes"

    def believe(self, arm: ArmEvidence) -> Posterior:
        return Posterior(1.0, 0.5)


@dataclass(frozen=True, kw_only=True)
class Samples(TS):
    """An heir that samples in another way."""

    name = "samples"

    def sample(self, belief: Posterior, now: Round, z: Draws) -> float:
        return belief.mean - belief.sd * abs(z.on)


@dataclass(frozen=True, kw_only=True)
class Guards(GuardedAnchorTS):
    """An heir that chooses in another way."""

    name = "guards"

    def choose(self, evidence: object, now: Round, stream: Stream) -> int:
        return 0


@dataclass(frozen=True, kw_only=True)
class Noisy(UCB):
    """An heir that makes noise of what was none."""

    name = "noisy"
    draw = staticmethod(one_normal)


@pytest.mark.parametrize(
    ("heir", "known"), [(Believes, True), (Samples, False), (Guards, False), (Noisy, False)]
)
def test_an_heir_that_changes_the_rule_has_no_law(heir: type[Policy], known: bool) -> None:
    assert has_law(heir) is known


def test_the_law_is_that_of_what_the_policy_believes() -> None:
    law = law_of(Believes(), arm(3, 0.2), Round(4, 2))
    assert (law.mean, law.sd) == (1.0, 0.5)
    value = UCB().index(arm(3, 0.2), Round(4, 2), Draws(0, 0, 0))
    assert law_of(UCB(), arm(3, 0.2), Round(4, 2)) == constant(value)


def test_laws_are_written_once_for_each_common_move() -> None:
    state = seen(
        [arm(9, 0.5, 20, 0.4, relative=0.1), arm(7, 0.2, 20, 0.4, relative=0.1), arm(1)],
        [True, False, True],
    )
    laws = np.zeros((6, 6))
    kind = write_laws(POLICIES["hybrid-ts"](), state, at(state, 18), [-1.0, 2.0], True, laws)
    assert kind.sd > 0
    assert laws[:, KIND].tolist() == [0.0, -1.0, 0.0] * 2
    assert laws[3, MEAN] - laws[0, MEAN] == pytest.approx(
        3 * kind.sd * 20 / (1 + 20 * 0.05**2) / (10 + 20 / (1 + 20 * 0.05**2))
    )
    assert laws[2, MEAN] == laws[5, MEAN]  # it has no logs that could move


def test_a_guard_pull_that_is_due_can_be_left_out() -> None:
    state = seen([arm(400, 0.9), arm(2, 0.7)])
    rule = GuardedAnchorTS(guard_share=0.25)
    laws = np.zeros((2, 6))
    assert write_laws(rule, state, at(state, 403), [0.0], True, laws) == RoundKind(0.25, 0, 0)
    assert laws[:, MEAN].tolist() == [-float("inf")] * 2
    assert laws[:, OTHER_MEAN].tolist() == [float("inf")] * 2
    write_laws(rule, state, at(state, 403), [0.0], False, laws)
    assert laws[:, MEAN] == pytest.approx([0.9, 0.7])
