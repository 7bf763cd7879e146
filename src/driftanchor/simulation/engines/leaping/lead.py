"""Which arm leads, where the levels of the hazard table are set, and which level serves to leap.

Any levels, and any barrier between one and the leader's mean, give the same law, at another price.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from driftanchor.core.evidence import Evidence, arm_at
from driftanchor.core.hints import apart
from driftanchor.policies.base import Policy, belief_at
from driftanchor.policies.policy_tails import leader_below, weight
from driftanchor.simulation.engines.leaping.hazards import Hazards, fill, hazard

BUSY = 0.6  # expected marks per round above which single rounds are cheaper
SHALLOWEST, STEP, DEPTHS = 2.0, 1.0, 5  # levels tried, in deviations below the leader's mean
NEAR = 0.15  # where the barrier is on the way from the leader's mean down to the level
RARE, COMMON = 0.02, 40.0  # hazards of the highest and of the lowest level worth having
DEEP = 8.0  # deviations below its mean where a leader never is
HALVINGS = 12


class Lead(NamedTuple):
    """The level, one of the table's, and the barrier that hold while the leader leads."""

    found: bool
    level: int
    barrier: float
    bound: float  # q̄
    marks: float  # −log(1 − q̄)
    weight: float  # of the leader when they were set


def largest_mean(policy: Policy, evidence: Evidence) -> int:
    """The arm with the largest mean."""
    leader = 0
    for arm in range(1, evidence.pulls.size):
        if belief_at(policy, evidence, arm).mean > belief_at(policy, evidence, leader).mean:
            leader = arm
    return leader


@apart
def busy_at(policy: Policy, evidence: Evidence, leader: int, level: float, most: float) -> float:
    """The hazard that some arm but the leader is above a level, given up above `most`."""
    rate = 0.0
    for arm in range(evidence.pulls.size):
        if arm != leader:
            rate += hazard(policy, belief_at(policy, evidence, arm), level)
            if rate > most:
                break
    return rate


@apart
def set_levels(
    policy: Policy, evidence: Evidence, hazards: Hazards, low: float, high: float
) -> None:
    """Levels at equal distances, and the table filled anew."""
    for j in range(hazards.levels.size):
        hazards.levels[j] = low + (high - low) * j / max(hazards.levels.size - 1, 1)
    hazards.worn[0] = 0
    fill(policy, evidence, hazards)


@apart
def spread_levels(policy: Policy, evidence: Evidence, hazards: Hazards) -> None:
    """Levels where the largest index is to be expected, under the arm with the largest mean.

    They reach up to where another arm is rarely seen, or to the leader's mean, and down to where
    another arm or the leader is surely above.
    """
    leader = largest_mean(policy, evidence)
    hazards.leader[0] = leader
    belief = belief_at(policy, evidence, leader)
    floor, ceiling = belief.mean - DEEP * belief.sd, belief.mean
    for arm in range(evidence.pulls.size):
        other = belief_at(policy, evidence, arm)
        ceiling = max(ceiling, other.mean + DEEP * other.sd)
    low = level_of(policy, evidence, leader, COMMON, floor, ceiling)
    high = level_of(policy, evidence, leader, RARE, floor, ceiling)
    set_levels(policy, evidence, hazards, low, max(high, belief.mean))


@apart
def level_of(
    policy: Policy, evidence: Evidence, leader: int, most: float, low: float, high: float
) -> float:
    """About the level between two at which the others' hazard is `most`."""
    if busy_at(policy, evidence, leader, low, most) <= most:
        return low
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if busy_at(policy, evidence, leader, middle, most) > most:
            low = middle
        else:
            high = middle
    return low


@apart
def find_lead(policy: Policy, evidence: Evidence, hazards: Hazards) -> Lead:
    """The arm with the largest mean takes the lead, with the level at which the least is marked.

    Not found when every level is too busy.
    """
    leader = largest_mean(policy, evidence)
    hazards.leader[0] = leader
    belief = belief_at(policy, evidence, leader)
    least, level = BUSY, math.inf
    for step in range(DEPTHS):
        tried = belief.mean - (SHALLOWEST + STEP * step) * belief.sd
        marks = lead_at(policy, evidence, leader, tried, 0).marks
        rate = marks + busy_at(policy, evidence, leader, tried, least - marks)
        if rate >= least:
            break
        least, level = rate, tried
    if level == math.inf:
        return Lead(False, 0, 0.0, 0.0, 0.0, 0.0)
    set_levels(policy, evidence, hazards, level, level)
    return lead_at(policy, evidence, leader, level, 0)


@apart
def best_level(policy: Policy, evidence: Evidence, hazards: Hazards) -> Lead:
    """The level of a table with many at which the least is marked."""
    leader = hazards.leader[0]
    mean = belief_at(policy, evidence, leader).mean
    best = Lead(False, 0, 0.0, 0.0, 0.0, 0.0)
    least, others = BUSY, 0.0
    for j in range(hazards.levels.size - 1, -1, -1):
        others += hazards.tree[1, j]
        if others >= least:
            break
        if hazards.levels[j] < mean:
            lead = lead_at(policy, evidence, leader, hazards.levels[j], j)
            if others + lead.marks < least:
                best, least = lead, others + lead.marks
    return best


def lead_at(policy: Policy, evidence: Evidence, leader: int, level: float, j: int) -> Lead:
    """The lead with a level, and a barrier between it and the leader's mean."""
    belief = belief_at(policy, evidence, leader)
    barrier = belief.mean - NEAR * (belief.mean - level)
    bound = leader_below(policy, barrier, belief.sd, level)
    held = float(weight(policy, arm_at(evidence, leader)))
    return Lead(True, j, barrier, bound, -math.log1p(-bound), held)
