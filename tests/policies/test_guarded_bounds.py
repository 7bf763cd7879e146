"""The best guess and the three upper bounds of guarded Anchor-TS, by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest
from guarded_cases import ARMS, INF, PROVED, ROUNDS, RULES, arm, at, beside, judged, state_of
from hypothesis import given

from driftanchor import ArmEvidence, GuardedAnchorTS, Round
from driftanchor.core.evidence import arm_at
from driftanchor.core.noise import wrapping
from driftanchor.policies.guarded_bounds import (
    WAITING,
    GuardBounds,
    bounds,
    guess,
    least_bound,
    upper_bound,
)

SOME = ArmEvidence(pulls=4, total=1.2, offline_pulls=4, offline_mean=0.5, bias_bound=0.2)


def test_the_guess_by_hand() -> None:
    # N' = 1/(1/4 + 0.1²) = 4/1.04; (1.2 + 0.5 N')/(4 + N')
    worth = 4 / 1.04
    rule = GuardedAnchorTS()
    assert guess(rule, SOME, beside()) == pytest.approx((1.2 + worth / 2) / (4 + worth))
    # V = 4 σ: N' = 1/(1/4 + 4/σ²), in units of σ = 0.5
    wide = SOME._replace(bias_bound=2.0)
    worth = 1 / (1 / 4 + 4)
    assert guess(GuardedAnchorTS(noise=0.5), wide, beside()) == pytest.approx(
        (1.2 + worth / 2) / (4 + worth)
    )


def test_the_guess_stays_within_two_standard_errors_of_the_live_mean() -> None:
    far = SOME._replace(offline_pulls=10_000, offline_mean=9.0)
    assert guess(GuardedAnchorTS(), far, beside()) == 0.3 + 2 / 2
    assert guess(GuardedAnchorTS(clip=0.5), far, beside()) == 0.3 + 0.5 / 2
    assert guess(GuardedAnchorTS(clip=0.0), far, beside()) == 0.3
    low = far._replace(offline_mean=-9.0)
    assert guess(GuardedAnchorTS(noise=3.0), low, beside()) == 0.3 - 2 * 3 / 2


def test_proved_bounds_leave_the_guess_to_logs_and_rewards() -> None:
    far = SOME._replace(offline_pulls=10_000, offline_mean=9.0, bias_bound=0.0)
    assert guess(GuardedAnchorTS(**PROVED), far, beside()) == pytest.approx(90_001.2 / 10_004)


def test_a_proved_relative_bound_may_be_used_up_by_all_other_arms() -> None:
    """The ceiling is m + 2W, and no bound of what is likely is below it."""
    fresh = arm(0, logs=10**6, logged=0.5, relative=0.3)
    now = Round(100, 2)
    assert bounds(GuardedAnchorTS(**PROVED), fresh, now, beside()).hybrid_bound == 0.5 + 2 * 0.3
    assert bounds(GuardedAnchorTS(), fresh, now, beside()).hybrid_bound < 0.5 + 0.5


def test_the_guess_of_an_arm_without_rewards_or_promise() -> None:
    rule = GuardedAnchorTS(prior_mean=7.0)
    assert guess(rule, arm(0, logs=50, logged=0.4, bound=0.0), beside(2.5)) == 0.4
    assert guess(rule, arm(0), beside(2.5)) == 2.5
    assert guess(rule, arm(0, logs=50, logged=0.4), beside(2.5)) == 2.5  # nothing is promised
    assert guess(rule, arm(4, 0.3, logs=50, logged=9.0), beside(2.5)) == pytest.approx(0.3)


def test_the_three_bounds_by_hand() -> None:
    # n = 4, K = 2: H = 8 and t/H = 12.5; K (n + N) = 16; ceiling 0.7
    # 8 x² − 8 x + 4·0.3² + 4·0.7² = 2 log(100/16), whose larger solution is 0.5 + √(…)
    r = math.sqrt(2 * math.log(12.5) / 4)
    joint = 0.5 + math.sqrt(math.log(6.25) / 4 - 0.04)
    pooled = (1.2 + 4 * 0.7) / 8 + math.sqrt(2 * math.log(6.25) / 8)
    assert joint < pooled
    three = bounds(GuardedAnchorTS(), SOME, Round(100, 2), beside())
    assert three == pytest.approx(
        GuardBounds(0.3 + 5 / 4 + math.sqrt(0.2) * r, 0.3 + 0.5 / 4 + r, joint)
    )
    assert upper_bound(GuardedAnchorTS(), SOME, Round(100, 2), beside()) == three.online_bound
    rule = GuardedAnchorTS(budget=3.0, eps=0.5)
    three = bounds(rule, SOME, Round(100, 2), beside())
    assert three.audit_bound == pytest.approx(0.3 + 3 / 4 + math.sqrt(0.5) * r)


def test_the_hybrid_bound_at_its_ends() -> None:
    rule = GuardedAnchorTS()
    # t/16 = 1.1: the quadratic has no solution, and below the ceiling 0.7 the logs do not object
    hybrid = bounds(rule, SOME, Round(18, 2), beside()).hybrid_bound
    assert hybrid == pytest.approx(min(0.7, 0.5 + math.sqrt(math.log(18 / 16) / 4)))
    # A live mean above the ceiling: the mean of both as if all were off by V, and a radius
    high = SOME._replace(total=4.0)
    hybrid = bounds(rule, high, Round(100, 2), beside()).hybrid_bound
    assert hybrid == pytest.approx((4 + 4 * 0.7) / 8 + math.sqrt(2 * math.log(6.25) / 8))
    # No rewards: the ceiling and a radius
    fresh = SOME._replace(pulls=0, total=0.0)
    hybrid = bounds(rule, fresh, Round(100, 2), beside()).hybrid_bound
    assert hybrid == pytest.approx(0.7 + math.sqrt(2 * math.log(100 / 8) / 4))
    # Beside a leader without logs the doubt of their level is added
    hybrid = bounds(rule, fresh, Round(100, 2), beside(doubt=0.25)).hybrid_bound
    assert hybrid == pytest.approx(0.95 + math.sqrt(2 * math.log(100 / 8) / 4))


def test_a_wide_relative_bound_allows_what_is_likely() -> None:
    """W = 3 σ of 100 logs: N' = 1/(1/100 + 1.5²), and n' = 4 + N' with all of it moved by 0."""
    worth = 1 / (0.01 + 1.5**2)
    some = arm(4, 0.3, 100, 0.5, relative=3.0)
    mean, n = (1.2 + worth * 0.5) / (4 + worth), 4 + worth
    rule = GuardedAnchorTS()
    hybrid = bounds(rule, some, Round(100, 2), beside()).hybrid_bound
    assert hybrid == pytest.approx(mean + math.sqrt(2 * math.log(50 / n) / n))
    hybrid = bounds(rule, some, Round(9, 2), beside()).hybrid_bound  # 2 log(4.5/n) is below 1
    assert hybrid == pytest.approx(mean + 1 / math.sqrt(n))
    level = some._replace(bias_bound=3.0, relative_bound=INF)  # V is a promise of each arm
    assert bounds(rule, level, Round(100, 2), beside()).hybrid_bound > 3.0
    # Logs under a W so wide that they are worth nothing
    nothing = some._replace(pulls=0, total=0.0, relative_bound=1e200)
    with wrapping():
        assert bounds(rule, nothing, Round(100, 2), beside()).hybrid_bound >= 1e200


@pytest.mark.parametrize("some", [arm(4, 0.3), arm(4, 0.3, 50, 9.0), arm(4, 0.3, bound=0.1)])
def test_without_logs_or_promise_the_bound_is_the_online_one(some: ArmEvidence) -> None:
    expected = 0.3 + 0.5 / 4 + math.sqrt(2 * math.log(12.5) / 4)
    assert upper_bound(GuardedAnchorTS(), some, Round(100, 2), beside()) == pytest.approx(expected)


def test_few_close_rivals_are_looked_at_longer_than_many_distant_ones() -> None:
    rival, now, rule = arm(100, 0.5), Round(10_000, 10), GuardedAnchorTS()
    few, many = (upper_bound(rule, rival, now, beside(rivals=r)) for r in (150, 5_000))
    assert few == pytest.approx(0.505 + math.sqrt(2 * math.log(40) / 100))
    assert many == pytest.approx(0.505 + math.sqrt(2 * math.log(10) / 100))


def test_a_pull_on_its_way_widens_no_bound_and_moves_no_guess() -> None:
    now, rule = Round(1000, 2), GuardedAnchorTS()
    for some in (arm(4, 0.3), arm(4, 0.3, 20, 0.3, 0.1), arm(4, 0.3, 20, 0.9, 0.1)):
        late = [some._replace(pending=p) for p in range(4)]
        assert len({guess(rule, x, beside()) for x in late}) == 1
        for column in zip(*(bounds(rule, x, now, beside()) for x in late), strict=True):
            assert list(column) == sorted(column, reverse=True)
            assert len(set(column)) == 4 or set(column) == {INF}
    waiting = bounds(rule, arm(4, 0.3, pending=2), now, beside())
    assert waiting.online_bound == pytest.approx(
        0.3 + 0.5 / 6 + math.sqrt(2 * math.log(1000 / 12) / 6)
    )


def test_a_test_waits_for_its_rewards() -> None:
    """With `WAITING` pulls on their way, and no more rewards yet, the logs decide."""
    now, rule = Round(1000, 2), GuardedAnchorTS()
    out: dict[str, Any] = {"logs": 1000, "logged": -3.0, "bound": 0.0}
    for pulls, pending, waits in (
        (0, WAITING - 1, False),
        (0, WAITING, True),
        (WAITING + 1, WAITING, False),
        (WAITING + 1, WAITING + 1, True),
    ):
        some = arm(pulls, 0.3, **out, pending=pending)
        three = bounds(rule, some, now, beside(0.5))
        assert three.hybrid_bound < min(three[:2])
        expected = three.hybrid_bound if waits else min(three[:2])
        assert upper_bound(rule, some, now, beside(0.5)) == expected
    bare = arm(0, pending=50)  # without logs there is nothing else to go by
    assert upper_bound(rule, bare, now, beside(0.5)) > 0.5


@given(RULES, ARMS, ROUNDS)
def test_no_upper_bound_is_below_the_least(
    rule: GuardedAnchorTS, arms: list[tuple[ArmEvidence, bool]], t: int
) -> None:
    """Nothing is allowed for rounding."""
    state = state_of(arms)
    ours = judged(rule, state, t)
    for column in range(len(arms)):
        one = arm_at(state, column)
        least = least_bound(rule, one)
        assert least <= upper_bound(rule, one, at(state, t), ours)
        assert (least == -INF) == (one.pulls == 0 or one.pending > 0)
