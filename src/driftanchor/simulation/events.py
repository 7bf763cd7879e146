"""Leaping over rounds: the same law as playing every round, at the price of what happens.

Once an arm leads, it is played in almost every round. These engines draw when that ends instead of
every sample. `docs/reference/engines.md` says why each step is exact. In short, with a level c
below a barrier m below the leader's mean:

1. The other arms are frozen while the leader is played, so in each round "arm i's index is above
   c" has the same chance p_i, and the first round in which one is has a geometric law.
2. The leader's index is at most c with a chance that is at most q̄ while its mean stays above m.
   Rounds are marked with chance q̄, and a mark counts with chance q_t/q̄ (thinning).
3. Up to the first marked round every round plays the leader: `driftanchor.simulation.leader` draws
   its rewards, until its mean may have reached m.
4. In the marked round the indices are drawn given on which side of c they are.

`thinned` draws every reward, from the same streams as playing every round; `events` draws sums.
"""

from __future__ import annotations

import math

from driftanchor.core.check import Floats, Ints
from driftanchor.core.evidence import Evidence, arm_at
from driftanchor.core.hints import apart
from driftanchor.core.noise import Stream, exponential, uniform
from driftanchor.policies.base import Best, Policy, belief_at, challenge, remember
from driftanchor.simulation.leader import in_blocks, one_by_one, walk
from driftanchor.simulation.ledger import Ledger, count, opened, play, rounds_left
from driftanchor.simulation.levels import BUSY, Lead, best_level, find_lead, spread_levels
from driftanchor.simulation.reference import Desk, Keys, prepare
from driftanchor.simulation.table import MANY, Table, hazard_from, pick, update
from driftanchor.simulation.tails import below, contend, draw_below, weight
from driftanchor.simulation.world import BERNOULLI, GAUSSIAN, World

GROWN = 1.5  # a leader with this much more weight deserves a new level
LONG = 1_000_000
WORN = 20  # wasted draws for each arm after which new levels pay


def run_many_events(
    policy: Policy,
    world: World,
    keys: Keys,
    first_run: int,
    checkpoints: Ints,
    desk: Desk,
    regret: Floats,
    pulls: Ints,
) -> bool:
    """As `reference.run_many`, leaping; the leader's rewards drawn as sums."""
    return leap_many(policy, world, keys, first_run, checkpoints, desk, regret, pulls, False)


def run_many_thinned(
    policy: Policy,
    world: World,
    keys: Keys,
    first_run: int,
    checkpoints: Ints,
    desk: Desk,
    regret: Floats,
    pulls: Ints,
) -> bool:
    """As `driftanchor.simulation.reference.run_many`, leaping; every reward from its stream."""
    return leap_many(policy, world, keys, first_run, checkpoints, desk, regret, pulls, True)


def leap_many(
    policy: Policy,
    world: World,
    keys: Keys,
    first_run: int,
    checkpoints: Ints,
    desk: Desk,
    regret: Floats,
    pulls: Ints,
    single: bool,
) -> bool:
    """Run after run into the rows of `regret` and `pulls`; `single` draws each reward."""
    for row in range(regret.shape[0]):
        prepare(world, keys, first_run + row, desk)
        ledger = opened(checkpoints, regret[row], desk)
        if not run_leaping(policy, world, desk, ledger, single):
            return False
        for arm in range(world.online.size):
            pulls[row, arm] = desk.evidence.pulls[arm]
    return True


def run_leaping(policy: Policy, world: World, desk: Desk, ledger: Ledger, single: bool) -> bool:
    """One run."""
    evidence, table = desk.evidence, desk.table
    many = evidence.pulls.size >= MANY
    for arm in range(evidence.pulls.size):
        remember(policy, evidence, arm)
    if many:
        spread_levels(policy, evidence, table)
    patience = 8
    while rounds_left(ledger) > 0:
        lead = best_level(policy, evidence, table) if many else find_lead(policy, evidence, table)
        if lead.found:
            follow(policy, world, desk, ledger, lead, single)
            patience = 8
        else:
            patience = min(2 * patience, 256)  # looking for a level costs some rounds' time
            if not play_rounds(policy, world, desk, ledger, min(patience, rounds_left(ledger))):
                return False
        if many and table.worn[0] > WORN * evidence.pulls.size:
            spread_levels(policy, evidence, table)
    return True


@apart
def play_rounds(policy: Policy, world: World, desk: Desk, ledger: Ledger, rounds: int) -> bool:
    """Play some rounds one by one; False when no arm could be chosen."""
    evidence, table = desk.evidence, desk.table
    for _ in range(rounds):
        leader = table.leader[0]
        value = contend(policy, belief_at(policy, evidence, leader), -math.inf, desk.stream)
        if evidence.pulls.size >= MANY:
            arm = pick(policy, evidence, table, value, exponential(desk.stream), desk.stream)
        else:
            arm = outdo(policy, evidence, leader, value, desk.stream)
        if arm < 0:
            return False
        play(policy, world, desk, ledger, arm)
        if evidence.pulls.size >= MANY:
            played(policy, evidence, table, arm)
    return True


def outdo(policy: Policy, evidence: Evidence, leader: int, value: float, stream: Stream) -> int:
    """The arm with the largest index; what cannot reach the largest so far is not drawn."""
    best = challenge(Best(-math.inf, -1, 0), value, leader, stream)
    for arm in range(evidence.pulls.size):
        if arm != leader:
            index = contend(policy, belief_at(policy, evidence, arm), best.value, stream)
            best = challenge(best, index, arm, stream)
    return best.column


def played(policy: Policy, evidence: Evidence, table: Table, arm: int) -> None:
    """Keep the table up to date; an arm with a larger mean than the leader's takes the lead."""
    leader = table.leader[0]
    if arm == leader:
        return
    if belief_at(policy, evidence, arm).mean > belief_at(policy, evidence, leader).mean:
        table.leader[0] = arm
        update(policy, evidence, table, leader)
    update(policy, evidence, table, arm)


@apart
def follow(
    policy: Policy, world: World, desk: Desk, ledger: Ledger, lead: Lead, single: bool
) -> None:
    """Leap from marked round to marked round while the lead holds."""
    evidence, table = desk.evidence, desk.table
    leader = table.leader[0]
    while rounds_left(ledger) > 0:
        others = hazard_from(table, lead.level)
        rate = others + lead.marks
        if rate > BUSY:
            return
        wait = rounds_left(ledger)
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
            taken = leap(policy, world, desk, ledger, lead, wait, single)
            # A crossing before the mark starts anew: the wait for the mark has no memory.
            if taken < wait or belief_at(policy, evidence, leader).mean <= lead.barrier:
                return
        if marked:
            arm = marked_round(policy, evidence, table, lead, others, first, desk.stream)
            play(policy, world, desk, ledger, arm)
            if arm == leader:
                table.worn[0] += 4  # a better level would have spared the mark
            else:
                played(policy, evidence, table, arm)
            if table.leader[0] != leader:
                return
            if belief_at(policy, evidence, leader).mean <= lead.barrier:
                return
            if weight(policy, arm_at(evidence, leader)) > GROWN * lead.weight:
                return


def leap(
    policy: Policy,
    world: World,
    desk: Desk,
    ledger: Ledger,
    lead: Lead,
    rounds: int,
    single: bool,
) -> int:
    """Play the leader `rounds` times, or until its mean may be at the barrier; how often."""
    evidence, arm = desk.evidence, desk.table.leader[0]
    mean, barrier, stream = world.online[arm], lead.barrier, desk.rewards[arm]
    above = belief_at(policy, evidence, arm).mean - barrier
    start = above * weight(policy, arm_at(evidence, arm))
    if not single and world.law == GAUSSIAN:
        taken, end = walk(start, mean - barrier, world.noise, rounds, stream)
    elif not single and world.law == BERNOULLI:
        taken, end = in_blocks(start, mean, barrier, rounds, stream)
    else:
        taken, end = one_by_one(world, arm, start, barrier, rounds, stream)
    evidence.totals[arm] += end - start + barrier * taken
    count(policy, world, desk, ledger, arm, taken)
    return taken


def marked_round(
    policy: Policy,
    evidence: Evidence,
    table: Table,
    lead: Lead,
    others: float,
    first: float,
    stream: Stream,
) -> int:
    """The arm played in a marked round.

    `first` is where the first mark is on the axis of the other arms' hazards and the leader's:
    exponential, given that it is on the axis.
    """
    leader: int = table.leader[0]
    belief = belief_at(policy, evidence, leader)
    if first < others:
        value = contend(policy, belief, -math.inf, stream)
    else:
        level = table.levels[lead.level]
        if uniform(stream) * lead.bound >= below(policy, belief, level):
            return leader  # a mark that does not count: all others are below the level
        value = draw_below(policy, belief, level, stream)
        first = others + exponential(stream)
    return pick(policy, evidence, table, value, first, stream)
