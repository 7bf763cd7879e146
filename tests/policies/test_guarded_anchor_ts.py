"""Guarded Anchor-TS by hand: who leads, what the guard pulls, what people are shown."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from guarded_cases import (
    ARMS,
    INF,
    PROVED,
    ROUNDS,
    RULES,
    SEEDS,
    account,
    arm,
    at,
    beside,
    choose,
    judged,
    seen,
    state_of,
)
from hypothesis import given

from driftanchor import (
    ArmEvidence,
    GuardedAnchorTS,
    InvalidInput,
    Learner,
    OfflineData,
)
from driftanchor.core.evidence import arm_at
from driftanchor.core.noise import keyed_stream, wrapping
from driftanchor.policies.guarded_bounds import WAITING, guess

if TYPE_CHECKING:
    from conftest import Chance


def test_what_arms_have_in_common_comes_from_those_that_can_be_played() -> None:
    arms = [
        arm(4, 0.5),
        arm(1, 2.0, pending=3),
        arm(0, logs=9, logged=7.0, bound=0.1),
        arm(0, logs=9, logged=8.0),  # of which nothing is promised
    ]
    rule = GuardedAnchorTS(prior_mean=-3.0)
    judgement = judged(rule, seen(arms), 9)
    assert (judgement.level, judgement.rivals) == (2.0, 5 + 5 + 1 + 1 - 5)
    judgement = judged(rule, seen(arms, [True, False, True, True]), 9)
    assert (judgement.level, judgement.rivals) == (0.5, 2)
    assert judged(rule, seen(arms, [False, False, True, True]), 9).level == 7.0
    assert judged(rule, seen(arms, [False, False, False, True]), 9).level == -3.0
    assert judged(rule, seen(arms, [False] * 4), 9).leader == -1
    assert choose(rule, seen(arms, [False] * 4), 9) == -1


def test_the_common_move_goes_with_the_logs() -> None:
    """Arm 1 paid 1 less than its logs, so arm 2, with the same W, is taken to pay 1 less too."""
    arms = [
        arm(100, -0.5, 10**6, 0.5, relative=0.0),
        arm(0, logs=10**6, logged=0.2, relative=0.0),
        arm(50, -2.0),
    ]
    judgement = judged(GuardedAnchorTS(), seen(arms), 200)
    assert judgement.common.mean == pytest.approx(-1.0)
    assert judgement.common.sd == pytest.approx(0.1, rel=1e-3)
    assert guess(GuardedAnchorTS(), arms[1], judgement) == pytest.approx(-0.8)
    assert (judgement.leader, judgement.doubt) == (0, 0.0)


@pytest.mark.parametrize("logs", [0, 40])
def test_beside_a_leader_without_promised_logs_the_level_of_the_others_is_in_doubt(
    logs: int,
) -> None:
    """Logs without a promise are as no logs at all."""
    arms = [
        arm(10, -0.5, 50, 0.5, relative=0.0),
        arm(8, -0.7, 50, 0.2, relative=0.0),
        arm(50, 2.0, logs),
    ]
    judgement = judged(GuardedAnchorTS(), seen(arms), 70)
    assert judgement.leader == 2
    assert judgement.doubt == pytest.approx(judgement.common.sd * math.sqrt(2 * math.log(71)))


def test_an_arm_left_alone_for_long_is_pulled_by_the_guard() -> None:
    # The leader had its share, H = min(2·5,000, 5,000 + 6): its bound is its mean for so long.
    # The other is 1.3 below, hope of 1/(2·5) included: H = min(2·5, 5 + 6), r = 1.3 in round `due`.
    arms = [arm(5_000, 0.5), arm(5, -0.9)]
    due = 10 * math.exp((1.3 + 0.5 / 5_000) ** 2 * 2.5)
    rule = GuardedAnchorTS()
    assert not judged(rule, seen(arms), math.floor(due)).guard
    assert judged(rule, seen(arms), math.ceil(due)).guard
    for seed in range(50):  # nothing is drawn: given the state it has probability 1
        assert choose(rule, seen(arms), math.ceil(due), seed) == 1


def test_a_due_guard_pull_is_played_with_its_share(chance: Chance) -> None:
    """2,000 seeds, false alarm 1e-6 each.

    Arm 1 is 1.4 below a leader known exactly, and its samples have a deviation of 0.45: when the
    coin lets Anchor-TS draw, it takes arm 1 with a chance below 1e-5.
    """
    state, t = seen([arm(5_000, 0.5), arm(5, -0.9)]), 10**6
    for share in (0.5, 0.9):
        rule = GuardedAnchorTS(guard_share=share)
        decisions = [account(rule, state, t, seed) for seed in range(2_000)]
        played = [decision.column for decision in decisions]
        chance.fits(np.bincount(played), 2_000 * np.array([1 - share, share]), false_alarm=1e-6)
        for decision in decisions:
            due = {0: (None, 0), 1: (0, None)}[decision.column]
            assert (decision.leader, decision.skipped, decision.guard_share) == (*due, share)
            drawn = "online_sample" in decision.arms[0][1]
            assert drawn == (decision.column == 0)


def test_the_leaders_own_bound_is_in_the_comparison() -> None:
    """A lucky arm that was pulled once leads with a wide bound, and is not starved by the guard."""
    judgement = judged(GuardedAnchorTS(), seen([arm(1, 3.0), arm(40, 0.5)]), 10_000)
    assert (judgement.leader, judgement.guard) == (0, False)


def test_of_equal_bounds_each_is_as_likely(chance: Chance) -> None:
    """2,000 seeds, false alarm 1e-6."""
    state = seen([arm(900, 0.5), arm(3, -0.5), arm(3, -0.5)])
    counts = np.bincount([choose(GuardedAnchorTS(), state, 10**6, seed) for seed in range(2000)])
    assert counts[0] == 0
    chance.fits(counts[1:], np.full(2, 1000), false_alarm=1e-6)


def test_an_arm_may_lose_its_budget_before_its_logs_rule_it_out() -> None:
    """After n pulls the arm may be A σ/n below the leader."""
    silenced: dict[str, Any] = {"logs": 10_000, "logged": -3.0, "bound": 0.0}
    rule = GuardedAnchorTS(noise=2.0, budget=5.0, eps=0.0)
    for lost, guard in ((9.9, True), (10.1, False)):
        arms = [arm(9_000, 0.5), arm(20, 0.5 - lost / 20, **silenced)]
        assert judged(rule, seen(arms), 9_021).guard is guard
    arms = [arm(9_000, 0.5), arm(19, 0.49, **silenced)]
    assert not judged(GuardedAnchorTS(noise=2.0, **PROVED), seen(arms), 9_020).guard


def test_an_arm_that_wrong_logs_ruled_out_comes_back() -> None:
    """It stands d below the leader after n pulls: due when √ε r = d − A σ/n."""
    arms = [arm(20_000, 0.5), arm(20, -0.1, 10_000, -3.0, 0.0)]
    d, eps = 0.6 + 0.5 / 20_000, 0.2  # the leader hopes too
    due = 40 * math.exp((d - 5 / 20) ** 2 * 20 / (2 * eps))  # H = min(2·20, 20 + 21)
    rule = GuardedAnchorTS(eps=eps)
    assert not judged(rule, seen(arms), math.floor(due)).guard
    assert judged(rule, seen(arms), math.ceil(due)).guard
    assert choose(rule, seen(arms), math.ceil(due)) == 1
    assert not judged(GuardedAnchorTS(**PROVED), seen(arms), 10**15).guard  # proved: never


def test_logs_that_live_rewards_contradict_lose_their_say() -> None:
    """The guess comes to the live mean as 1/√T, however many logs there are."""
    rule = GuardedAnchorTS()
    wrong: dict[str, Any] = {"logs": 10**9, "logged": 5.0, "bound": 0.0}
    for pulls in (1, 100, 10_000):
        assert guess(rule, arm(pulls, 0.1, **wrong), beside()) == 0.1 + 2 / math.sqrt(pulls)
    arms = [arm(400, 0.1, **wrong), arm(400, 0.3)]  # 0.1 + 2/20 is below 0.3
    assert judged(rule, seen(arms), 801).leader == 1
    assert judged(GuardedAnchorTS(clip=100.0), seen(arms), 801).leader == 0


def test_few_logs_under_a_wide_bound_are_drawn_around_their_mean() -> None:
    """N' = 1/(1 + 3²/4) of an arm that no reward came of: below one reward, and far from 0."""
    rule = GuardedAnchorTS(**PROVED)
    arms = [arm(0, logs=1, logged=50.0, bound=3.0), arm(0, logs=1, logged=20.0, bound=3.0)]
    drawn = np.array([[x for x, _ in account(rule, seen(arms), 1, s).arms] for s in range(400)])
    # 400 draws of sd √3.25: the mean is within 5 standard errors but for 1e-6
    assert abs(drawn.mean(axis=0) - [50.0, 20.0]).max() < 5 * math.sqrt(3.25 / 400)
    assert drawn.std(axis=0) == pytest.approx([math.sqrt(3.25)] * 2, rel=0.2)


@pytest.mark.parametrize("promise", ["bias_bound", "relative_bound"])
@pytest.mark.parametrize("source", ["proved", "estimated"])
def test_without_rewards_the_best_arm_of_the_logs_is_pulled(promise: str, source: str) -> None:
    """5,000 logs of each of ten arms, 0.1 σ or more apart, and 200 pulls whose rewards wait."""
    rows = {f"arm {i}": (5_000, -0.1 * i, 1.0) for i in range(10)}
    bounds: dict[str, Any] = {promise: 0.0, "bias_bound_source": source}
    learner = Learner(offline=OfflineData.from_summary(rows), seed=3, **bounds)
    pulled = [learner.pull() for _ in range(200)]
    assert pulled.count("arm 0") >= 200 - 9 * WAITING
    others = {label: pulled.count(label) for label in rows if label != "arm 0"}
    most = 0 if source == "proved" else WAITING
    assert max(others.values()) <= most


def middle(parts: dict[str, float]) -> float:
    return sorted(x for name, x in parts.items() if name != "guess" or len(parts) == 3)[1]


@given(RULES, ARMS, ROUNDS, SEEDS)
def test_an_account_is_the_decision_and_its_numbers(
    rule: GuardedAnchorTS, arms: list[tuple[ArmEvidence, bool]], t: int, seed: int
) -> None:
    state = state_of(arms)
    streams = [keyed_stream(seed, "choose", 0) for _ in range(2)]
    with wrapping():
        column = rule.choose(state, at(state, t), streams[0])
        decision = rule.account(state, at(state, t), streams[1])
    assert decision.column == column
    assert streams[0].tolist() == streams[1].tolist()  # the same noise was used
    ours = judged(rule, state, t)
    if decision.skipped is not None:  # the coin of `guard_share` fell so
        assert (decision.skipped, ours.guard) == (ours.leader, rule.guard_share < 1.0)
        ours = ours._replace(guard=False)
    assert decision.leader == (ours.leader if ours.guard else None)
    assert len(decision.arms) == len(arms)
    for i, (value, parts) in enumerate(decision.arms):
        assert not any(math.isnan(x) for x in parts.values())
        assert parts["guess"] == guess(rule, arm_at(state, i), ours)
        bare = parts.get("hybrid_bound") == INF
        if ours.guard and bare:
            assert value == parts["online_bound"]
        elif ours.guard and state.pending[i] >= max(WAITING, state.pulls[i]):
            assert value == min(middle(parts), parts["hybrid_bound"])
        elif "online_sample" not in parts and not ours.guard:  # nothing to draw around
            assert list(parts) == ["guess", "online_bound"]
            assert value == parts["online_bound"]
        else:
            names = ["guess", "online_sample", "hybrid_sample"]
            assert ours.guard or list(parts) == names
            assert value == middle(parts)
    if column >= 0:
        assert decision.arms[column][0] == max(
            value for (value, _), on in zip(decision.arms, state.playable, strict=True) if on
        )


def test_an_arm_that_nothing_is_known_of_says_what_its_index_is() -> None:
    """Its guess is no number of its own, and nothing was drawn for it."""
    decision = account(GuardedAnchorTS(prior_mean=0.25), seen([arm(0), arm(0)]), 1)
    assert decision.leader is None
    assert decision.arms == [(INF, {"guess": 0.25, "online_bound": INF})] * 2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"budget": -1}, "budget of policy 'guarded-anchor-ts' must be at least 0, got -1"),
        ({"budget": INF}, "budget of policy 'guarded-anchor-ts' must be finite, got inf"),
        ({"eps": -0.1}, "eps of policy 'guarded-anchor-ts' must be between 0 and 1, got -0.1"),
        ({"eps": 1.5}, "eps of policy 'guarded-anchor-ts' must be between 0 and 1, got 1.5"),
        ({"eps": math.nan}, "eps of policy 'guarded-anchor-ts' must be a number, got nan"),
        ({"clip": -2}, "clip of policy 'guarded-anchor-ts' must be at least 0, got -2"),
        ({"clip": "2"}, "clip of policy 'guarded-anchor-ts' must be a number, got '2'"),
        ({"guard_share": 0}, "guard_share of policy 'guarded-anchor-ts' must be greater than 0"),
        ({"guard_share": 1.1}, "guard_share of policy 'guarded-anchor-ts' must be"),
        ({"noise": 0}, "noise of policy 'guarded-anchor-ts' must be greater than 0, got 0"),
    ],
)
def test_unusable_parameters_are_refused(parameters: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        GuardedAnchorTS(**parameters)


@pytest.mark.parametrize("gone", ["b", "beta", "form", "prior", "posterior_scale"])
def test_parameters_of_the_rule_before_are_refused(gone: str) -> None:
    old: dict[str, Any] = {gone: 1}
    with pytest.raises(TypeError, match=gone):
        GuardedAnchorTS(**old)
