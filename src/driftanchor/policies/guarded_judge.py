"""What guarded Anchor-TS judges before it draws: who leads, and whether a guard pull is due."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from driftanchor.core.common_move import is_relative, move_from, prior_precision
from driftanchor.core.evidence import Evidence, Round, arm_at
from driftanchor.core.hints import apart
from driftanchor.core.posterior import Posterior
from driftanchor.policies.base import belief_at, keeps_beliefs
from driftanchor.policies.guarded_beliefs import arm_seen, log_weight
from driftanchor.policies.guarded_bounds import (
    Judgement,
    believed_guess,
    least_bound,
    logs_of,
    upper_bound,
)
from driftanchor.policies.guarded_caps import all_are_capped, is_capped, is_capped_anew
from driftanchor.policies.guarded_quiet import all_are_quiet, arm_logs, is_quiet, round_logs

if TYPE_CHECKING:
    from driftanchor.policies.guarded_anchor_ts import GuardedAnchorTS


class Led(NamedTuple):
    """A round before its bounds are compared: who leads, with which guess."""

    judged: Judgement
    best: float


def judge(policy: GuardedAnchorTS, evidence: Evidence, now: Round) -> Judgement:
    """Who leads, and whether some arm may be better."""
    led = lead(policy, evidence, now, is_relative(evidence))
    if led.judged.leader < 0:
        return led.judged
    leader = arm_at(evidence, led.judged.leader)
    threshold = max(led.best, upper_bound(policy, leader, now, led.judged))
    for column in range(evidence.pulls.size):
        if evidence.playable[column]:
            bound = upper_bound(policy, arm_at(evidence, column), now, led.judged)
            if bound > threshold:
                return judgement(led.judged, threshold, True)
    return judgement(led.judged, threshold, False)


def judge_quickly(
    policy: GuardedAnchorTS, evidence: Evidence, now: Round, relative: bool
) -> Judgement:
    """As `judge`, without the bounds of arms that are surely below the threshold.

    It is at least the leader's guess and the least that U of the leader can be, and in most rounds
    all arms are below that. `relative` is as for `arm_seen`.
    """
    led = lead(policy, evidence, now, relative)
    leader = led.judged.leader
    if leader < 0:
        return led.judged
    x = max(led.best, least_bound(policy, arm_at(evidence, leader)))
    if keeps_beliefs(policy) and not relative:
        if all_are_capped(policy, evidence, now, led.judged, x):
            return judgement(led.judged, x, False)
        return judge_with_caps(policy, evidence, now, led, x)
    if all_are_quiet(policy, evidence, now, led.judged, x):
        return judgement(led.judged, x, False)
    return judge_closely(policy, evidence, now, led)


@apart
def judge_with_caps(
    policy: GuardedAnchorTS, evidence: Evidence, now: Round, led: Led, x: float
) -> Judgement:
    """As `judge_quickly`, where some arm has no cap of at most x, which the threshold is at least.

    The threshold itself is computed for the first arm that needs it.
    """
    threshold, known = x, False
    for column in range(evidence.pulls.size):
        if column != led.judged.leader and evidence.playable[column]:
            if is_capped_anew(policy, evidence, column, now, led.judged, threshold):
                continue
            if not known:
                leader = arm_at(evidence, led.judged.leader)
                threshold = max(led.best, upper_bound(policy, leader, now, led.judged))
                known = True
                if is_capped(policy, evidence, column, now, led.judged, threshold):
                    continue
            if upper_bound(policy, arm_at(evidence, column), now, led.judged) > threshold:
                return judgement(led.judged, threshold, True)
    return judgement(led.judged, threshold, False)


@apart
def judge_closely(policy: GuardedAnchorTS, evidence: Evidence, now: Round, led: Led) -> Judgement:
    """As `judge_quickly`, where the threshold itself matters."""
    logs = round_logs(now, led.judged)
    leader = arm_at(evidence, led.judged.leader)
    threshold = max(led.best, upper_bound(policy, leader, now, led.judged))
    for column in range(evidence.pulls.size):
        if column != led.judged.leader and evidence.playable[column]:
            arm, belief = arm_at(evidence, column), belief_at(policy, evidence, column)
            own = arm_logs(policy, evidence, column, arm, belief)
            if is_quiet(policy, arm, belief, own, now, led.judged, logs, threshold):
                continue
            if upper_bound(policy, arm, now, led.judged) > threshold:
                return judgement(led.judged, threshold, True)
    return judgement(led.judged, threshold, False)


def lead(policy: GuardedAnchorTS, evidence: Evidence, now: Round, relative: bool) -> Led:
    """Return the arm that leads; `relative` is passed to `arm_seen`."""
    common = Posterior(0.0, 0.0)
    if relative:
        common = believed_move(policy, evidence)
    none = 0 * evidence.pulls[0]  # of the type that pulls have: compiled code needs to know
    level, pulls, most, unknown = -math.inf, none, none, False
    leader, best = -1, -math.inf
    for column in range(evidence.pulls.size):
        if evidence.playable[column]:
            arm = arm_seen(evidence, column, relative)
            belief = belief_at(policy, evidence, column)
            n = arm.pulls + arm.pending + 1
            pulls += n
            most = max(most, n)
            if arm.pulls > 0:
                level = max(level, belief.live)
            elif log_weight(arm, belief, common.mean) == 0.0:
                unknown = True
                continue
            value = believed_guess(policy, arm, belief, common.mean)
            if value > best:
                leader, best = column, value
    if level == -math.inf:
        level = best_logged(policy, evidence, common.mean)
    if unknown:  # they are taken to pay the level, which is known only now
        leader = first_best(policy, evidence, common.mean, level)
        best = max(best, level)
    doubt = 0.0
    # Beside a leader without logs the level of all logs matters, and nobody knows it exactly.
    in_doubt = leader >= 0 and common.sd > 0.0
    if in_doubt and logs_of(policy, arm_at(evidence, leader), common.mean).pulls == 0.0:
        doubt = common.sd * math.sqrt(2.0 * math.log(now.t + 1.0))
    return Led(Judgement(common, level, pulls - most, leader, doubt, -math.inf, False), best)


@apart
def first_best(policy: GuardedAnchorTS, evidence: Evidence, common: float, level: float) -> int:
    """The first arm with the largest guess, where arms that nothing is known of pay `level`."""
    leader, best = -1, -math.inf
    for column in range(evidence.pulls.size):
        if evidence.playable[column]:
            arm, belief = arm_at(evidence, column), belief_at(policy, evidence, column)
            value = level
            if arm.pulls > 0 or log_weight(arm, belief, common) > 0.0:
                value = believed_guess(policy, arm, belief, common)
            if value > best:
                leader, best = column, value
    return leader


def judgement(judged: Judgement, threshold: float, guard: bool) -> Judgement:
    """A judgement once the bounds were compared."""
    common, level, rivals, leader, doubt, _, _ = judged
    return Judgement(common, level, rivals, leader, doubt, threshold, guard)


def believed_move(policy: GuardedAnchorTS, evidence: Evidence) -> Posterior:
    """`common_move`, from what is believed of the arms."""
    precision, total = prior_precision(evidence), 0.0
    for column in range(evidence.pulls.size):
        belief = belief_at(policy, evidence, column)
        precision += belief.say
        total += belief.say_total
    return move_from(precision, total, policy.noise)


@apart
def best_logged(policy: GuardedAnchorTS, evidence: Evidence, common: float) -> float:
    """The level before the first reward: the best mean of the logs, or the prior mean."""
    logged = -math.inf
    for column in range(evidence.pulls.size):
        if evidence.playable[column]:
            logs = logs_of(policy, arm_at(evidence, column), common)
            if logs.pulls > 0.0:
                logged = max(logged, logs.mean)
    return policy.prior_mean if logged == -math.inf else logged
