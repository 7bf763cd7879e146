"""Windows: rounds in which the leader surely leads and no guard pull is due.

While only the leader is played, all other arms are frozen. Three things still change: the round,
the leader's own numbers and, where arms move together, what is believed of the common move. A
window bounds all of them, as long as the leader's live mean stays within a band.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from driftanchor.core.common_move import (
    is_relative,
    move_from,
    moves_along,
    prior_precision,
    say_of,
)
from driftanchor.core.evidence import ArmEvidence, Evidence, Round, arm_at
from driftanchor.core.hints import apart
from driftanchor.core.posterior import Posterior
from driftanchor.policies.base import belief_at
from driftanchor.policies.guarded_anchor_ts import GuardedAnchorTS
from driftanchor.policies.guarded_beliefs import log_weight
from driftanchor.policies.guarded_bounds import (
    Judgement,
    believed_guess,
    bounds,
    guess,
    logs_of,
    upper_bound,
)
from driftanchor.policies.guarded_caps import is_capped
from driftanchor.policies.guarded_judge import Led, lead
from driftanchor.policies.guarded_quiet import arm_logs, is_quiet, round_logs

SHORTEST, SHORTEST_MOVING = 8, 24  # rounds: shorter windows cost more than they save
WIDTH = 2.0  # of the band to either side, in deviations of the mean at the end of the window


class Moves(NamedTuple):
    """Between what the belief of the common move stays."""

    low: float
    high: float
    least_sd: float
    most_sd: float


class Window(NamedTuple):
    """What holds for some rounds while the leader's live mean is within (low, high)."""

    rounds: int  # 0 where there is none
    leader: int
    low: float
    high: float  # infinite where a larger mean changes nothing
    moves: Moves
    second: float  # the guesses of all other arms are at most this
    guess: float  # the leader's guess is at least this
    rival: int  # the arm that last may have been tested or lead


def find_window(
    policy: GuardedAnchorTS, evidence: Evidence, t: int, longest: int, rival: int
) -> Window:
    """The window from round t on: the longest of some that were tried.

    `rival` is the arm that is looked at first: what was in the way of a window mostly still is.
    """
    now = Round(t, evidence.pulls.size)
    if is_relative(evidence):  # asked here, so that each is compiled for what it is called with
        led = lead(policy, evidence, now, True)
    else:
        led = lead(policy, evidence, now, False)
    rounds = longest
    shortest = SHORTEST_MOVING if led.judged.common.sd > 0.0 else SHORTEST
    while rounds >= shortest:
        window = window_of(policy, evidence, t, led, rounds, rival)
        if window.rounds > 0:
            return window
        rounds, rival = rounds // 4, window.rival
    return no_window(rival)


def no_window(rival: int) -> Window:
    """Nothing is known of the next rounds."""
    return Window(0, 0, 0.0, 0.0, Moves(0.0, 0.0, 0.0, 0.0), 0.0, 0.0, rival)


@apart
def window_of(
    policy: GuardedAnchorTS, evidence: Evidence, t: int, led: Led, rounds: int, rival: int
) -> Window:
    """A window of that many rounds, if it is one; `rival` as for `find_window`."""
    leader = led.judged.leader
    arm = arm_at(evidence, leader)
    if arm.pulls == 0:
        return no_window(rival)
    live = arm.total / arm.pulls
    last = arm.pulls + rounds
    reach = WIDTH * policy.noise * math.sqrt(rounds) / last
    low, high = live - reach, math.inf
    moves = Moves(0.0, 0.0, 0.0, 0.0)
    if is_relative(evidence):
        high = live + reach
        moves = moves_between(policy, evidence, leader, low, high, last)
    if not stays_so(arm, moves):
        return no_window(rival)
    # The guess grows with the live mean and the move; with more pulls it comes closer to the mean.
    least = Judgement(
        Posterior(moves.low, 0.0), 0.0, led.judged.rivals + rounds, 0, 0.0, 0.0, False
    )
    guessed = min(
        guess(policy, pulled(arm, arm.pulls, low), least),
        guess(policy, pulled(arm, last, low), least),
    )
    own = bounds(policy, pulled(arm, last, low), Round(t, evidence.pulls.size), least)
    threshold = own.online_bound
    if own.hybrid_bound < math.inf:
        threshold = min(threshold, own.audit_bound)
    threshold = max(threshold, guessed)
    doubt = 0.0
    if moves.most_sd > 0.0 and logs_of(policy, arm, moves.low).pulls == 0.0:
        doubt = moves.most_sd * math.sqrt(2.0 * math.log(t + rounds + 1.0))
    most = Judgement(
        Posterior(moves.high, moves.most_sd), 0.0, led.judged.rivals, leader, doubt, 0.0, False
    )
    end = Round(t + rounds, evidence.pulls.size)
    if rival != leader and upper_bound(policy, arm_at(evidence, rival), end, most) > threshold:
        return no_window(rival)
    second, other = highest_rival(policy, evidence, moves, most, end, guessed, threshold)
    if not second < guessed:
        return no_window(other)
    return Window(rounds, leader, low, high, moves, second, guessed, rival)


def highest_rival(
    policy: GuardedAnchorTS,
    evidence: Evidence,
    moves: Moves,
    most: Judgement,
    end: Round,
    guessed: float,
    threshold: float,
) -> tuple[float, int]:
    """The largest guess of all arms but the leader; infinite where one may be tested or lead.

    With it that arm.
    """
    logs = round_logs(end, most)
    second = -math.inf
    for column in range(evidence.pulls.size):
        if column == most.leader:
            continue
        arm, belief = arm_at(evidence, column), belief_at(policy, evidence, column)
        unknown = arm.pulls == 0 and log_weight(arm, belief, moves.high) == 0.0
        if unknown or not stays_so(arm, moves):
            return math.inf, column
        second = max(second, believed_guess(policy, arm, belief, moves.high))
        if not second < guessed:
            return math.inf, column
        if is_capped(policy, evidence, column, end, most, threshold):
            continue
        own = arm_logs(policy, evidence, column, arm, belief)
        if is_quiet(policy, arm, belief, own, end, most, logs, threshold):
            continue
        if upper_bound(policy, arm, end, most) > threshold:
            return math.inf, column
    return second, 0


def pulled(arm: ArmEvidence, pulls: float, mean: float) -> ArmEvidence:
    """An arm with other pulls and another live mean."""
    return ArmEvidence(
        pulls,
        pulls * mean,
        arm.offline_pulls,
        arm.offline_mean,
        arm.bias_bound,
        0,
        arm.relative_bound,
    )


def stays_so(arm: ArmEvidence, moves: Moves) -> bool:
    """Whether the same of both promises counts, whatever is believed of the common move."""
    return moves_along(arm, moves.low) == moves_along(arm, moves.high)


def moves_between(
    policy: GuardedAnchorTS, evidence: Evidence, leader: int, low: float, high: float, last: float
) -> Moves:
    """What is believed of the common move while the leader has up to `last` pulls.

    It is a mean of what the leader says and of what the others say. It grows with the leader's live
    mean; the leader's weight grows with its pulls. So it is between its values at the four ends.
    """
    precision, total = prior_precision(evidence), 0.0
    for column in range(evidence.pulls.size):
        if column != leader:
            belief = belief_at(policy, evidence, column)
            precision += belief.say
            total += belief.say_total
    arm = arm_at(evidence, leader)
    first = move_with(policy, pulled(arm, arm.pulls, low), precision, total)
    second = move_with(policy, pulled(arm, last, low), precision, total)
    third = move_with(policy, pulled(arm, arm.pulls, high), precision, total)
    fourth = move_with(policy, pulled(arm, last, high), precision, total)
    return Moves(min(first.mean, second.mean), max(third.mean, fourth.mean), second.sd, first.sd)


def move_with(
    policy: GuardedAnchorTS, arm: ArmEvidence, precision: float, total: float
) -> Posterior:
    """What is believed of the common move, from one arm and all others together."""
    say = say_of(arm, policy.noise)
    return move_from(precision + say.weight, total + say.total, policy.noise)
