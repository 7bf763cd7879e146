"""Leaping over rounds: the same law as playing every round, at the price of what happens.

Once an arm leads, it is played in almost every round. This engine draws when that ends, and the
sum of the rewards until then, instead of every sample and every reward. `docs/engines.md` says
why each step is exact; in short, with a level c below a barrier m below the leader's mean:

1. The other arms are frozen while the leader is played, so in each round "arm i's index is above
   c" has the same chance p_i, and the first round in which one is has a geometric law.
2. The leader's index is at most c with a chance that is at most q̄ while its mean stays above m.
   Rounds are marked with chance q̄, and a mark counts with chance q_t/q̄ (thinning).
3. Up to the first marked round every round plays the leader. Its k rewards sum to a normal; "the
   mean stays above m" is a straight barrier for a Brownian path through the partial sums.
4. In the marked round the indices are drawn given on which side of c they are.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from driftanchor.core.check import Floats, Ints
from driftanchor.core.evidence import Evidence, Round, arm_at
from driftanchor.core.noise import Stream, normal, uniform
from driftanchor.policies.base import Best, Policy, belief_at, challenge, choose, remember
from driftanchor.simulate.reference import Desk, Keys, World, draw_reward, prepare, pseudo_regret
from driftanchor.simulate.tails import above, below, draw_above, draw_below, leader_below, weight

BUSY = 0.25  # expected marks per round above which single rounds are cheaper
CERTAIN = 1e9  # the hazard of an arm that is surely above the level
SHALLOWEST, STEP, DEPTHS = 4.0, 2.0, 4  # levels tried, in deviations below the leader's mean
GROWN = 1.25  # a leader with this much more weight deserves a new level


class Lead(NamedTuple):
    """A leader, and the level and barrier that hold while it leads."""

    arm: int
    level: float
    barrier: float
    bound: float  # q̄
    marks: float  # −log(1 − q̄)
    weight: float  # of the leader when they were set


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
    """As `driftanchor.simulate.reference.run_many`, leaping."""
    for row in range(regret.shape[0]):
        prepare(world, keys, first_run + row, desk)
        if not run_leaping(policy, world, desk, checkpoints, regret[row]):
            return False
        for arm in range(world.online.size):
            pulls[row, arm] = desk.evidence.pulls[arm]
    return True


def run_leaping(
    policy: Policy, world: World, desk: Desk, checkpoints: Ints, regret: Floats
) -> bool:
    """One run; `regret` gets the pseudo-regret after each of the `checkpoints`."""
    for arm in range(world.online.size):
        remember(policy, desk.evidence, arm)
    t = 0
    patience = 4
    while t < checkpoints[-1]:
        lead = find_lead(policy, desk.evidence, desk.hazards)
        if lead.arm >= 0:
            t = follow(policy, world, desk, lead, t, checkpoints, regret)
            patience = 4
            continue
        patience = min(2 * patience, 64)  # looking for a leader costs some rounds' time
        for _ in range(min(patience, checkpoints[-1] - t)):
            arm = choose(policy, desk.evidence, Round(t + 1, world.online.size), desk.stream)
            if arm < 0 or arm >= world.online.size:
                return False
            t = pull(policy, world, desk, arm, t, checkpoints, regret)
    return True


def follow(
    policy: Policy, world: World, desk: Desk, lead: Lead, t: int, checkpoints: Ints, regret: Floats
) -> int:
    """Leap from marked round to marked round while the lead holds; the rounds played so far."""
    horizon = checkpoints[-1]
    evidence = desk.evidence
    while t < horizon:
        rate = total(desk.hazards) + lead.marks
        if rate > BUSY:
            return t
        wait = horizon - t
        marked = False
        if rate > 0.0:
            drawn = -math.log(1.0 - uniform(desk.stream)) / rate
            marked = drawn < wait
            wait = int(min(drawn, wait))
        if wait > 0:
            taken = leap(policy, world, desk, lead, wait, t, checkpoints, regret)
            t += taken
            # A crossing before the mark starts anew: the wait for the mark has no memory.
            if taken < wait or belief_at(policy, evidence, lead.arm).mean <= lead.barrier:
                return t
        if marked:
            arm = marked_round(policy, evidence, lead, desk.hazards, desk.stream)
            t = pull(policy, world, desk, arm, t, checkpoints, regret)
            if belief_at(policy, evidence, lead.arm).mean <= lead.barrier:
                return t
            if arm != lead.arm:
                desk.hazards[arm] = hazard(policy, evidence, arm, lead.level)
            if weight(policy, arm_at(evidence, lead.arm)) > GROWN * lead.weight:
                return t
    return t


def find_lead(policy: Policy, evidence: Evidence, hazards: Floats) -> Lead:
    """The arm with the largest mean, and the level below it at which the least is marked.

    No arm (-1) when every level is too busy. `hazards` is left as it is at the level chosen.
    """
    arm = 0
    for other in range(1, evidence.pulls.size):
        if belief_at(policy, evidence, other).mean > belief_at(policy, evidence, arm).mean:
            arm = other
    belief = belief_at(policy, evidence, arm)
    best = Lead(-1, 0.0, 0.0, 0.0, 0.0, weight(policy, arm_at(evidence, arm)))
    least = BUSY
    for step in range(DEPTHS):
        depth = (SHALLOWEST + STEP * step) * belief.sd
        level, barrier = belief.mean - depth, belief.mean - 0.5 * depth
        bound = leader_below(policy, barrier, belief.sd, level)
        marks = -math.log1p(-bound)
        rate = marks + set_hazards(policy, evidence, arm, level, least - marks, hazards)
        if rate >= least:
            break
        best, least = Lead(arm, level, barrier, bound, marks, best.weight), rate
    if best.arm >= 0:
        set_hazards(policy, evidence, arm, best.level, BUSY, hazards)
    return best


def set_hazards(
    policy: Policy, evidence: Evidence, leader: int, level: float, most: float, hazards: Floats
) -> float:
    """The hazards of all arms but the leader at a level, and their sum, given up above `most`."""
    rate = 0.0
    for arm in range(hazards.size):
        hazards[arm] = 0.0 if arm == leader else hazard(policy, evidence, arm, level)
        rate += hazards[arm]
        if rate > most:
            break
    return rate


def hazard(policy: Policy, evidence: Evidence, arm: int, level: float) -> float:
    """−log of the chance that an arm's index is at most the level."""
    p = above(policy, belief_at(policy, evidence, arm), level)
    return -math.log1p(-p) if p < 1.0 else CERTAIN


def total(hazards: Floats) -> float:
    """Their sum, added up anew: a running sum would keep the rounding of what is gone."""
    rate = 0.0
    for arm in range(hazards.size):
        rate += hazards[arm]
    return rate


def pull(
    policy: Policy, world: World, desk: Desk, arm: int, t: int, checkpoints: Ints, regret: Floats
) -> int:
    """Play an arm once after t rounds; the rounds played then."""
    evidence = desk.evidence
    note(world, evidence, arm, 1, t, checkpoints, regret)
    evidence.totals[arm] += draw_reward(world, world.online[arm], desk.rewards[arm])
    evidence.pulls[arm] += 1
    remember(policy, evidence, arm)
    return t + 1


def leap(
    policy: Policy,
    world: World,
    desk: Desk,
    lead: Lead,
    rounds: int,
    t: int,
    checkpoints: Ints,
    regret: Floats,
) -> int:
    """Play the leader `rounds` times at once, or until its mean touches the barrier; how often."""
    evidence, arm = desk.evidence, lead.arm
    held = weight(policy, arm_at(evidence, arm))
    start = (belief_at(policy, evidence, arm).mean - lead.barrier) * held
    drift = world.online[arm] - lead.barrier
    taken, end = walk(start, drift, world.noise, rounds, desk.rewards[arm])
    note(world, evidence, arm, taken, t, checkpoints, regret)
    evidence.pulls[arm] += taken
    evidence.totals[arm] += end - start + lead.barrier * taken
    remember(policy, evidence, arm)
    return taken


def note(
    world: World,
    evidence: Evidence,
    arm: int,
    rounds: int,
    t: int,
    checkpoints: Ints,
    regret: Floats,
) -> None:
    """Write down the regret at the checkpoints that the next `rounds` pulls of an arm pass."""
    i = next_checkpoint(checkpoints, t)
    while i < checkpoints.size and checkpoints[i] <= t + rounds:
        ahead = checkpoints[i] - t
        evidence.pulls[arm] += ahead  # for a moment: the very sum that playing every round gives
        regret[i] = pseudo_regret(world.gaps, evidence.pulls)
        evidence.pulls[arm] -= ahead
        i += 1


def next_checkpoint(checkpoints: Ints, t: int) -> int:
    """The position of the first checkpoint after t, which is before the last."""
    low, high = 0, checkpoints.size - 1
    while low < high:
        middle = (low + high) // 2
        if checkpoints[middle] > t:
            high = middle
        else:
            low = middle + 1
    return low


def walk(start: float, drift: float, noise: float, steps: int, stream: Stream) -> tuple[int, float]:
    """A Gaussian walk from `start` > 0, stopped after it touched 0; at most so many steps.

    A Brownian path goes through it. Given its end above 0, the path touched 0 with the chance of
    reflection; a path that did is reflected after the first touch, so that it ends below 0, and
    the touch is found by halving. The walk stops at the first whole step after it.

    Returns the steps taken and where it stands.
    """
    end = start + drift * steps + noise * math.sqrt(steps) * normal(stream)
    turned = end > 0.0
    if turned:
        if uniform(stream) >= math.exp(-2.0 * start * end / (noise * noise * steps)):
            return steps, end
        end = -end
    low, high = 0, steps
    while high - low > 1:
        middle = (low + high) // 2
        left, right, both = middle - low, high - middle, high - low
        x = start + (end - start) * left / both
        x += noise * math.sqrt(left / both * right) * normal(stream)
        if x <= 0.0:
            high, end = middle, x
        elif uniform(stream) < math.exp(-2.0 * start * x / (noise * noise * left)):
            high, end, turned = middle, -x, not turned
        else:
            low, start = middle, x
    return high, -end if turned else end


def marked_round(
    policy: Policy, evidence: Evidence, lead: Lead, hazards: Floats, stream: Stream
) -> int:
    """The arm played in a round that is known to be marked, by another arm or for the leader."""
    rate = total(hazards) + lead.marks
    first = -math.log1p(uniform(stream) * math.expm1(-rate))  # Exp(1) given that it is below rate
    best = Best(-math.inf, -1, 0)
    passed = 0.0
    found = False
    for arm in range(hazards.size):
        if hazards[arm] == 0.0:
            continue
        passed += hazards[arm]
        over = uniform(stream) < -math.expm1(-hazards[arm]) if found else passed > first
        if over:
            found = True
            index = draw_above(policy, belief_at(policy, evidence, arm), lead.level, stream)
            best = challenge(best, index, arm, stream)
    leader = belief_at(policy, evidence, lead.arm)
    marked = not found or uniform(stream) < lead.bound
    if not marked or uniform(stream) * lead.bound >= below(policy, leader, lead.level):
        if not found:  # only a mark that does not count: all others are below the leader
            return lead.arm
        index = draw_above(policy, leader, lead.level, stream)
        return challenge(best, index, lead.arm, stream).column
    if found:
        return best.column
    for arm in range(hazards.size):
        index = draw_below(policy, belief_at(policy, evidence, arm), lead.level, stream)
        best = challenge(best, index, arm, stream)
    return best.column
