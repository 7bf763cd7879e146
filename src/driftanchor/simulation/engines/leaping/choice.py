"""Which arm is played in a marked round, and in rounds that are played one by one."""

from __future__ import annotations

import math

from driftanchor.core.evidence import Evidence
from driftanchor.core.noise import Stream, exponential, uniform
from driftanchor.policies.base import Best, Policy, belief_at, challenge
from driftanchor.policies.policy_tails import below, contend, draw_below
from driftanchor.simulation.engines.leaping.hazards import Hazards
from driftanchor.simulation.engines.leaping.lead import Lead
from driftanchor.simulation.engines.leaping.pick import pick


def outdo(policy: Policy, evidence: Evidence, leader: int, value: float, stream: Stream) -> int:
    """The arm with the largest index; what cannot reach the largest so far is not drawn."""
    best = challenge(Best(-math.inf, -1, 0), value, leader, stream)
    for arm in range(evidence.pulls.size):
        if arm != leader:
            index = contend(policy, belief_at(policy, evidence, arm), best.value, stream)
            best = challenge(best, index, arm, stream)
    return best.column


def marked_round(
    policy: Policy,
    evidence: Evidence,
    hazards: Hazards,
    lead: Lead,
    others: float,
    first: float,
    stream: Stream,
) -> int:
    """The arm played in a marked round.

    `first` is where the first mark is on the axis of the other arms' hazards and the leader's:
    exponential, given that it is on the axis.
    """
    leader: int = hazards.leader[0]
    belief = belief_at(policy, evidence, leader)
    if first < others:
        value = contend(policy, belief, -math.inf, stream)
    else:
        level = hazards.levels[lead.level]
        if uniform(stream) * lead.bound >= below(policy, belief, level):
            return leader  # a mark that does not count: all others are below the level
        value = draw_below(policy, belief, level, stream)
        first = others + exponential(stream)
    return pick(policy, evidence, hazards, value, first, stream)
