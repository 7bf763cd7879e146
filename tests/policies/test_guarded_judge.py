"""The quick judgement of a round is the judgement."""

from __future__ import annotations

from guarded_cases import ARMS, ROUNDS, RULES, at, judged, state_of
from hypothesis import given

from driftanchor import ArmEvidence, GuardedAnchorTS
from driftanchor.core.common_move import common_move, is_relative
from driftanchor.core.noise import wrapping
from driftanchor.policies.guarded_judge import believed_move, judge_quickly


@given(RULES, ARMS, ROUNDS)
def test_to_judge_quickly_is_to_judge(
    rule: GuardedAnchorTS, arms: list[tuple[ArmEvidence, bool]], t: int
) -> None:
    """The threshold of a quiet round is never read, and may be the leader's guess alone."""
    state = state_of(arms)
    ours = judged(rule, state, t)
    with wrapping():
        quick = judge_quickly(rule, state, at(state, t), is_relative(state))
    assert quick._replace(threshold=0.0) == ours._replace(threshold=0.0)
    assert quick.threshold <= ours.threshold
    if ours.guard:
        assert quick.threshold == ours.threshold


@given(RULES, ARMS)
def test_what_is_believed_of_the_common_move_is_the_common_move(
    rule: GuardedAnchorTS, arms: list[tuple[ArmEvidence, bool]]
) -> None:
    state = state_of(arms)
    if is_relative(state):
        assert believed_move(rule, state) == common_move(state, rule.noise)
