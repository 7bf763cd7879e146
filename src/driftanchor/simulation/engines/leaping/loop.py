"""Leaping over rounds: the same law as playing every round, at the price of what happens.

Once an arm leads, it is played in almost every round. These engines draw when that ends instead of
every sample. `docs/reference/engines.md` says why each step is exact. In short, with a level c
below a barrier m below the leader's mean:

1. The other arms are frozen while the leader is played, so in each round "arm i's index is above
   c" has the same chance p_i, and the first round in which one is has a geometric law.
2. The leader's index is at most c with a chance that is at most q̄ while its mean stays above m.
   Rounds are marked with chance q̄, and a mark counts with chance q_t/q̄ (thinning).
3. Up to the first marked round every round plays the leader: `leader_rewards` draws its
   rewards, until its mean may have reached m.
4. In the marked round the indices are drawn given on which side of c they are.

`thinned` draws every reward, from the same streams as playing every round; `events` draws sums.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from driftanchor.core.check import Floats, Ints
from driftanchor.core.evidence import Evidence, arm_at
from driftanchor.core.hints import apart
from driftanchor.core.noise import Stream, exponential, uniform
from driftanchor.policies.base import Policy, belief_at, remember
from driftanchor.policies.policy_tails import contend, weight
from driftanchor.simulation.bandit import Bandit
from driftanchor.simulation.engines import desk as common
from driftanchor.simulation.engines.clock import Clock, advance, play, rounds_left, started
from driftanchor.simulation.engines.desk import Keys, prepare
from driftanchor.simulation.engines.engine import Loop, keeps_promise, plays_arms_alone
from driftanchor.simulation.engines.leaping.choice import marked_round, outdo
from driftanchor.simulation.engines.leaping.hazards import (
    MANY,
    Hazards,
    hazard_from,
    make_hazards,
    update,
)
from driftanchor.simulation.engines.leaping.lead import (
    BUSY,
    Lead,
    best_level,
    find_lead,
    spread_levels,
)
from driftanchor.simulation.engines.leaping.leader_rewards import in_blocks, one_by_one, walk
from driftanchor.simulation.engines.leaping.pick import pick
from driftanchor.simulation.engines.rewards import BERNOULLI, GAUSSIAN, World

GROWN = 1.5  # a leader with this much more weight deserves a new level
LONG = 1_000_000
WORN = 20  # wasted draws for each arm after which new levels pay


class LeapingDesk(NamedTuple):
    """A desk with a clock and a hazard table."""

    evidence: Evidence
    stream: Stream
    rewards: Stream
    hands: Ints  # of the clock
    hazards: Hazards
    single: bool  # draw each reward of the leader, and no sums


def play_runs(
    policy: Policy,
    world: World,
    keys: Keys,
    first_run: int,
    checkpoints: Ints,
    desk: LeapingDesk,
    regret: Floats,
    pulls: Ints,
) -> bool:
    """As `reference.play_runs`, leaping."""
    for row in range(regret.shape[0]):
        prepare(world, keys, first_run + row, desk)
        clock = started(checkpoints, regret[row], desk.hands)
        if not play_run(policy, world, desk, clock):
            return False
        for arm in range(world.online.size):
            pulls[row, arm] = desk.evidence.pulls[arm]
    return True


def play_run(policy: Policy, world: World, desk: LeapingDesk, clock: Clock) -> bool:
    """Play one run."""
    evidence, hazards = desk.evidence, desk.hazards
    many = evidence.pulls.size >= MANY
    for arm in range(evidence.pulls.size):
        remember(policy, evidence, arm)
    if many:
        spread_levels(policy, evidence, hazards)
    patience = 8
    while rounds_left(clock) > 0:
        lead = (
            best_level(policy, evidence, hazards) if many else find_lead(policy, evidence, hazards)
        )
        if lead.found:
            follow(policy, world, desk, clock, lead)
            patience = 8
        else:
            patience = min(2 * patience, 256)  # looking for a level costs some rounds' time
            if not play_rounds(policy, world, desk, clock, min(patience, rounds_left(clock))):
                return False
        if many and hazards.worn[0] > WORN * evidence.pulls.size:
            spread_levels(policy, evidence, hazards)
    return True


@apart
def play_rounds(policy: Policy, world: World, desk: LeapingDesk, clock: Clock, rounds: int) -> bool:
    """Play some rounds one by one; False when no arm could be chosen."""
    evidence, hazards = desk.evidence, desk.hazards
    for _ in range(rounds):
        leader = hazards.leader[0]
        value = contend(policy, belief_at(policy, evidence, leader), -math.inf, desk.stream)
        if evidence.pulls.size >= MANY:
            arm = pick(policy, evidence, hazards, value, exponential(desk.stream), desk.stream)
        else:
            arm = outdo(policy, evidence, leader, value, desk.stream)
        if arm < 0:
            return False
        play(policy, world, desk, clock, arm)
        if evidence.pulls.size >= MANY:
            played(policy, evidence, hazards, arm)
    return True


def played(policy: Policy, evidence: Evidence, hazards: Hazards, arm: int) -> None:
    """Keep the table up to date; an arm with a larger mean than the leader's takes the lead."""
    leader = hazards.leader[0]
    if arm == leader:
        return
    if belief_at(policy, evidence, arm).mean > belief_at(policy, evidence, leader).mean:
        hazards.leader[0] = arm
        update(policy, evidence, hazards, leader)
    update(policy, evidence, hazards, arm)


@apart
def follow(policy: Policy, world: World, desk: LeapingDesk, clock: Clock, lead: Lead) -> None:
    """Leap from marked round to marked round while the lead holds."""
    evidence, hazards = desk.evidence, desk.hazards
    leader = hazards.leader[0]
    while rounds_left(clock) > 0:
        others = hazard_from(hazards, lead.level)
        rate = others + lead.marks
        if rate > BUSY:
            return
        wait = rounds_left(clock)
        marked = False
        first = 0.0
        if rate > 0.0:
            drawn = exponential(desk.stream) / rate
            marked = drawn < wait
            wait = int(min(drawn, wait))
            first = rate * (drawn - wait)
            if wait > LONG:  # so many rounds use up the digits
                first = -math.log1p(uniform(desk.stream) * math.expm1(-rate))
        if wait > 0:
            taken = leap(policy, world, desk, clock, lead, wait)
            # A crossing before the mark starts anew: the wait for the mark has no memory.
            if taken < wait or belief_at(policy, evidence, leader).mean <= lead.barrier:
                return
        if marked:
            arm = marked_round(policy, evidence, hazards, lead, others, first, desk.stream)
            play(policy, world, desk, clock, arm)
            if arm == leader:
                hazards.worn[0] += 4  # a better level would have spared the mark
            else:
                played(policy, evidence, hazards, arm)
            if hazards.leader[0] != leader:
                return
            if belief_at(policy, evidence, leader).mean <= lead.barrier:
                return
            if weight(policy, arm_at(evidence, leader)) > GROWN * lead.weight:
                return


def leap(
    policy: Policy,
    world: World,
    desk: LeapingDesk,
    clock: Clock,
    lead: Lead,
    rounds: int,
) -> int:
    """Play the leader `rounds` times, or until its mean may be at the barrier; how often."""
    evidence, arm = desk.evidence, desk.hazards.leader[0]
    mean, barrier, stream = world.online[arm], lead.barrier, desk.rewards[arm]
    above = belief_at(policy, evidence, arm).mean - barrier
    start = above * weight(policy, arm_at(evidence, arm))
    if not desk.single and world.law == GAUSSIAN:
        taken, end = walk(start, mean - barrier, world.noise[arm], rounds, stream)
    elif not desk.single and world.law == BERNOULLI:
        taken, end = in_blocks(start, mean, barrier, rounds, stream)
    else:
        taken, end = one_by_one(world, arm, start, barrier, rounds, stream)
    evidence.totals[arm] += end - start + barrier * taken
    advance(policy, world, desk, clock, arm, taken)
    return taken


def serves(policy: type[Policy], bandit: Bandit) -> bool:
    """Policies whose index law is known, where their beliefs decide alone."""
    known = policy.tails is not None and keeps_promise("tails", policy)
    return known and plays_arms_alone(policy, bandit)


def lay_out(world: World, policy: Policy) -> LeapingDesk:
    """A desk for the runs of a policy, with rewards drawn as sums."""
    desk = common.lay_out(world, policy)
    return LeapingDesk(*desk, np.zeros(2, np.int64), make_hazards(world.online.size), False)


def lay_out_thinned(world: World, policy: Policy) -> LeapingDesk:
    """The same with every reward drawn from its stream."""
    return lay_out(world, policy)._replace(single=True)


# One function for both: it is compiled once.
EVENTS = Loop("events", play_runs, lay_out, serves)
THINNED = Loop("thinned", play_runs, lay_out_thinned, serves)
