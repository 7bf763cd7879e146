"""An arm that is called quiet is: its upper bound is at most the level."""

from __future__ import annotations

import math

from guarded_cases import ARMS, ROUNDS, RULES, arm, at, judged, seen, state_of
from hypothesis import given
from hypothesis import strategies as st

from driftanchor import ArmEvidence, GuardedAnchorTS
from driftanchor.core.evidence import arm_at
from driftanchor.policies.guarded_beliefs import beliefs
from driftanchor.policies.guarded_bounds import upper_bound
from driftanchor.policies.guarded_quiet import all_are_quiet, arm_logs, is_quiet, round_logs


@given(RULES, ARMS, ROUNDS, st.floats(-4, 4), st.floats(-1e-9, 1e-9))
def test_a_quiet_arm_has_a_bound_at_most_the_level(
    rule: GuardedAnchorTS,
    arms: list[tuple[ArmEvidence, bool]],
    t: int,
    level: float,
    near: float,
) -> None:
    """At any level, and at levels next to the bound itself."""
    state = state_of(arms)
    now, ours = at(state, t), judged(rule, state, t)
    logs = round_logs(now, ours)
    for column in range(len(arms)):
        one = arm_at(state, column)
        bound = upper_bound(rule, one, now, ours)
        belief = beliefs(rule, one)
        own = arm_logs(rule, state, column, one, belief)
        for x in (level, bound + near):
            if x == x and is_quiet(rule, one, belief, own, now, ours, logs, x):
                assert bound <= x


def test_an_arm_far_below_is_quiet_by_rewards_and_by_logs() -> None:
    rule = GuardedAnchorTS()
    states = {
        "rewards": [arm(5_000, 0.5), arm(50, -0.9)],
        "V": [arm(5_000, 0.5), arm(40, -0.1, 10_000, -0.1, 0.0)],
        "W": [arm(5_000, 0.5, 900, 0.5, relative=0.0), arm(40, -0.1, 900, -0.1, relative=0.0)],
    }
    for arms in states.values():
        state = seen(arms)
        ours = judged(rule, state, 5_100)
        assert ours.leader == 0
        assert not ours.guard
        assert all_are_quiet(rule, state, at(state, 5_100), ours, 0.5)
        assert not all_are_quiet(rule, state, at(state, 5_100), ours, -0.95)


def test_the_logarithms_of_an_arm() -> None:
    arms = [arm(0), arm(8, 0.5), arm(4, 0.5, 12, 1.2, 1.0), arm(4, 0.5, 12, relative=1.0)]
    rule, state = GuardedAnchorTS(), seen(arms)
    logs = [arm_logs(rule, state, i, one, beliefs(rule, one)) for i, one in enumerate(arms)]
    numbers = [(1, 1, 1), (8, 8, 8), (4, 16, 4), (4, 16, 7)]  # log 1 where there are no rewards
    assert logs == [tuple(map(math.log, three)) for three in numbers]
