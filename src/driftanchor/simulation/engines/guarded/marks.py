"""Marks: the rounds of a window in which an arm but the leader may be played.

With a level between the guesses of the others and that of the leader, the index of another arm is
above the level only if both its samples are, and the leader's is at or below it only if both its
samples are. A round is marked where that may happen to some arm. Where arms move together, the draw
of the common move is sorted into bins: within a bin arms are independent.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.evidence import ArmEvidence, Evidence, arm_at
from driftanchor.core.hints import apart
from driftanchor.policies.base import belief_at
from driftanchor.policies.guarded_anchor_ts import GuardedAnchorTS
from driftanchor.policies.guarded_beliefs import GuardedBelief
from driftanchor.policies.tails import upper
from driftanchor.simulation.engines.guarded.window import Window
from driftanchor.simulation.engines.leaping.hazards import CERTAIN

EDGES = (-2.5, 0.0, 1.25, 2.5)  # of the bins of the common draw, in standard deviations
BINS = len(EDGES) + 1
DEPTHS = (2.5, 4.0, 5.5)  # levels tried, in deviations of the leader's live mean below it
FEW = 0.3  # marks in the whole window that are few enough
BUSY = 0.15  # marks a round above which single rounds are cheaper
MARGIN = 0.5  # how far below the level a kept hazard is taken, in deviations as for `DEPTHS`
ROUNDING = 1.0 + 1e-9  # more than rounding makes of a chance


class Marks(NamedTuple):
    """What marks the rounds of a window, by bin."""

    online: Floats  # of an arm: its online noise is above this
    hybrid: Floats  # (bin, arm): and its hybrid noise above this
    hazards: Floats  # (bin, arm): −log of the chance that not both are
    totals: Floats  # (bin): of all arms
    own: (
        Floats  # (bin): a bound on the chance that both samples of the leader are at most the level
    )
    rates: Floats  # (bin): the chance that a round is in this bin, and marked
    kept: Floats  # of an arm: its hazard at a level, where there is one bin
    kept_level: Floats  # that level
    kept_pulls: Floats  # the pulls of the arm then; −1 where nothing is kept


def make_marks(arms: int) -> Marks:
    """An empty table."""
    return Marks(
        np.zeros(arms),
        np.zeros((BINS, arms)),
        np.zeros((BINS, arms)),
        np.zeros(BINS),
        np.zeros(BINS),
        np.zeros(BINS),
        np.zeros(arms),
        np.zeros(arms),
        np.zeros(arms),
    )


def forget(marks: Marks) -> None:
    """Keep nothing: a new run begins."""
    for column in range(marks.kept_pulls.size):
        marks.kept_pulls[column] = -1.0


def bins_of(window: Window) -> int:
    """How many bins there are: one where no common move is drawn."""
    return BINS if window.moves.most_sd > 0.0 else 1


def lower_edge(b: int) -> float:
    """Where a bin begins."""
    return EDGES[b - 1] if b > 0 else -math.inf


def upper_edge(b: int) -> float:
    """Where a bin ends."""
    return EDGES[b] if b < BINS - 1 else math.inf


@apart
def find_level(
    policy: GuardedAnchorTS, evidence: Evidence, window: Window, marks: Marks
) -> tuple[float, float]:
    """The level with the fewest marks of some, and how many a round; the table is filled for it."""
    best, least = math.inf, BUSY
    filled = math.inf
    for depth in DEPTHS:
        level = level_at(policy, evidence, window, depth)
        if level == math.inf or level == filled:
            break
        rate = fill(policy, evidence, window, marks, level)
        filled = level
        if rate >= least:
            break
        best, least = level, rate
        if rate * window.rounds < FEW:
            break
    if best < math.inf and filled != best:
        fill(policy, evidence, window, marks, best)
    return best, least


def level_at(policy: GuardedAnchorTS, evidence: Evidence, window: Window, depth: float) -> float:
    """The level at a depth, at most half way to the next guess; infinite where there is none."""
    sd = policy.noise / math.sqrt(evidence.pulls[window.leader])
    top = min(window.low, window.guess)
    level = max(top - depth * sd, 0.5 * (top + window.second))
    return level if window.second <= level < top else math.inf


@apart
def few_marks(
    policy: GuardedAnchorTS, evidence: Evidence, window: Window, marks: Marks
) -> tuple[float, float]:
    """What `find_level` finds where marks are surely few, with a bound on their hazard a round.

    An arm's hazard falls as the level rises, so its hazard at a lower level is a bound while the
    arm waits. The level is infinite where the bounds do not show that marks are few.
    """
    level = level_at(policy, evidence, window, DEPTHS[0])
    if level == math.inf or window.moves.most_sd > 0.0:
        return math.inf, math.inf
    arm = arm_at(evidence, window.leader)
    belief = belief_at(policy, evidence, window.leader)
    own = leader_chance(arm, belief, window, 0, level)
    if own == 0.0:  # a hazard may be 0, for which nothing is drawn
        return math.inf, math.inf
    total = -math.log1p(-own)
    margin = MARGIN * policy.noise / math.sqrt(arm.pulls)
    for column in range(evidence.pulls.size):
        if column != window.leader:
            waited = marks.kept_pulls[column] == evidence.pulls[column]
            if not (waited and 0.0 <= level - marks.kept_level[column] <= 2.0 * margin):
                keep_hazard(policy, evidence, window, marks, column, level - margin)
            total += marks.kept[column]
    total *= ROUNDING
    few = total < BUSY and total * window.rounds < FEW  # a chance is at most its hazard
    return (level if few else math.inf), total


def keep_hazard(
    policy: GuardedAnchorTS,
    evidence: Evidence,
    window: Window,
    marks: Marks,
    column: int,
    level: float,
) -> None:
    """Keep the hazard of an arm at a level."""
    arm, belief = arm_at(evidence, column), belief_at(policy, evidence, column)
    online, first = online_noise(arm, belief, level)
    needed = least_noise(arm, belief, window.moves.high, level)
    marks.kept[column] = hazard_of(first, online, needed)
    marks.kept_level[column] = level
    marks.kept_pulls[column] = evidence.pulls[column]


def online_noise(arm: ArmEvidence, belief: GuardedBelief, level: float) -> tuple[float, float]:
    """The online sample is above the level if its noise is above this, and the chance of it."""
    if arm.pulls == 0:  # before the first reward both samples are the hybrid one
        return -math.inf, 1.0
    online = (level - belief.live) / belief.live_sd
    return online, upper(online)


def hazard_of(first: float, online: float, needed: float) -> float:
    """−log of the chance that not both noises are above what is needed, `online` with `first`."""
    p = first * (first if needed == online else upper(needed))  # the same without logs
    return -math.log1p(-p) if p < 1.0 else CERTAIN


@apart
def fill(
    policy: GuardedAnchorTS, evidence: Evidence, window: Window, marks: Marks, level: float
) -> float:
    """Fill the table for a level; the chance that a round is marked."""
    bins = bins_of(window)
    for b in range(bins):
        marks.totals[b] = 0.0
    for column in range(evidence.pulls.size):
        if column == window.leader:
            for b in range(bins):
                marks.hazards[b, column] = 0.0
            continue
        arm, belief = arm_at(evidence, column), belief_at(policy, evidence, column)
        online, first = online_noise(arm, belief, level)
        marks.online[column] = online
        for b in range(bins):
            needed = least_noise(arm, belief, largest_move(window, b), level)
            marks.hybrid[b, column] = needed
            marks.hazards[b, column] = hazard_of(first, online, needed)
            marks.totals[b] += marks.hazards[b, column]
    return rate_all(policy, evidence, window, marks, level, bins)


def rate_all(
    policy: GuardedAnchorTS,
    evidence: Evidence,
    window: Window,
    marks: Marks,
    level: float,
    bins: int,
) -> float:
    """The chances of the bins, with what the leader adds."""
    arm = arm_at(evidence, window.leader)
    belief = belief_at(policy, evidence, window.leader)
    rate = 0.0
    for b in range(bins):
        within = 1.0 if bins == 1 else upper(lower_edge(b)) - upper(upper_edge(b))
        marks.own[b] = leader_chance(arm, belief, window, b, level)
        marks.rates[b] = within * -math.expm1(-marks.totals[b] + math.log1p(-marks.own[b]))
        rate += marks.rates[b]
    return rate


def leader_chance(
    arm: ArmEvidence, belief: GuardedBelief, window: Window, b: int, level: float
) -> float:
    """A bound on the chance that both samples of the leader are at most the level."""
    online = upper((window.low - level) / belief.live_sd)
    return online * leader_hybrid(arm, belief, window, b, level)


def leader_hybrid(
    arm: ArmEvidence, belief: GuardedBelief, window: Window, b: int, level: float
) -> float:
    """A bound on the chance that the leader's hybrid sample is at most the level."""
    move = smallest_move(window, b)
    if move == -math.inf:
        return 1.0
    least = math.inf
    sd = 0.0
    for along in (False, True):
        weight = belief.moved_weight if along else belief.weight
        if not may_move(arm, along):
            continue
        mean = arm.offline_mean + move if along else arm.offline_mean
        for pulls in (arm.pulls, arm.pulls + window.rounds):
            least = min(least, (pulls * window.low + weight * mean) / (pulls + weight))
        sd = max(sd, belief.moved_sd if along else belief.sd)
    return upper((least - level) / sd) if least > level else 1.0


def may_move(arm: ArmEvidence, along: bool) -> bool:
    """Whether the logs of an arm can be seen as moved along, or as they are."""
    relative = arm.offline_pulls > 0 and arm.relative_bound < math.inf
    return relative if along else not relative or arm.bias_bound < math.inf


def least_noise(arm: ArmEvidence, belief: GuardedBelief, move: float, level: float) -> float:
    """The hybrid sample is above the level only if its noise is above this, up to a common move."""
    needed = math.inf
    if may_move(arm, False):
        if belief.sd == math.inf:  # unknown, seen so
            return -math.inf
        needed = (level - belief.mean) / belief.sd
    if may_move(arm, True):
        if move == math.inf or belief.moved_sd == math.inf:
            return -math.inf
        weight = belief.moved_weight
        total = arm.total + weight * (arm.offline_mean + move)
        needed = min(needed, (level - total / (arm.pulls + weight)) / belief.moved_sd)
    return needed


def largest_move(window: Window, b: int) -> float:
    """The largest common move that is drawn in a bin."""
    if window.moves.most_sd == 0.0:
        return window.moves.high
    edge = upper_edge(b)
    if edge == math.inf:
        return math.inf
    sd = window.moves.most_sd if edge > 0.0 else window.moves.least_sd
    return window.moves.high + sd * edge


def smallest_move(window: Window, b: int) -> float:
    """The smallest common move that is drawn in a bin."""
    if window.moves.most_sd == 0.0:
        return window.moves.low
    edge = lower_edge(b)
    if edge == -math.inf:
        return -math.inf
    sd = window.moves.least_sd if edge > 0.0 else window.moves.most_sd
    return window.moves.low + sd * edge
