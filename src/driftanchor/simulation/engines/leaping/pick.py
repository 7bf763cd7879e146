"""The arm with the largest index, found in the hazard table."""

from __future__ import annotations

import math
from typing import Any

from driftanchor.core.evidence import Evidence
from driftanchor.core.hints import apart
from driftanchor.core.noise import Stream, exponential
from driftanchor.policies.base import Best, Policy, belief_at, challenge
from driftanchor.policies.policy_tails import above, below, draw_above, draw_below
from driftanchor.simulation.engines.leaping.hazards import Hazards, find


def pick(
    policy: Policy,
    evidence: Evidence,
    hazards: Hazards,
    value: float,
    position: float,
    stream: Stream,
) -> int:
    """The arm with the largest index.

    The leader's index is `value`; `position` is that of the highest other arm on the axis of all
    segments, an exponential number unless more is known.
    """
    leader: int = hazards.leader[0]
    top = math.inf
    for j in range(hazards.levels.size - 1, -1, -1):
        if value > top:
            return leader
        if position < hazards.tree[1, j]:
            return pick_in_bin(policy, evidence, hazards, j, value, position, stream)
        position -= hazards.tree[1, j]
        top = hazards.levels[j]
    if value > top:
        return leader
    best = challenge(Best(-math.inf, -1, 0), value, leader, stream)
    for arm in range(evidence.pulls.size):  # all are below the lowest level
        if arm != leader:
            index = draw_below(policy, belief_at(policy, evidence, arm), top, stream)
            best = challenge(best, index, arm, stream)
    hazards.worn[0] += evidence.pulls.size
    return best.column


def pick_in_bin(
    policy: Policy,
    evidence: Evidence,
    hazards: Hazards,
    j: int,
    value: float,
    position: float,
    stream: Stream,
) -> int:
    """The arm with the largest index, when the highest other arm lies between levels j and j + 1.

    Past a segment that was hit the process goes on afresh: it hits all arms of the bin.
    """
    low = hazards.levels[j]
    high = hazards.levels[j + 1] if j + 1 < hazards.levels.size else math.inf
    end = hazards.tree[1, j]
    arm, passed = find(hazards, j, position)
    position = passed + exponential(stream)
    if position >= end and value <= low:  # alone in its bin, and the leader is below
        return arm
    best = challenge(Best(-math.inf, -1, 0), value, hazards.leader[0], stream)
    while True:
        index = draw_between(policy, belief_at(policy, evidence, arm), low, high, stream)
        best = challenge(best, index, arm, stream)
        if position >= end:
            return best.column
        hazards.worn[0] += 1
        arm, passed = find(hazards, j, position)
        position = passed + exponential(stream)


@apart
def draw_between(policy: Policy, belief: Any, low: float, high: float, stream: Stream) -> float:
    """An index given that it is above `low` and at most `high`."""
    if high == math.inf or above(policy, belief, low) < below(policy, belief, high):
        while True:
            index = draw_above(policy, belief, low, stream)
            if index <= high:
                return index
    while True:
        index = draw_below(policy, belief, high, stream)
        if index > low:
            return index
