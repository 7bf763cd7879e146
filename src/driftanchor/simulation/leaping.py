"""Leap over rounds: the same distribution of results as playing every round, with fewer draws.

Once an arm leads, it is played in almost every round. Instead of drawing every sample, this loop
draws the next round that may play another arm. `docs/reference/engines.md` explains why each step
is exact. In short, let m be a barrier below the leader's mean, and c a level below m:

1. The other arms do not change while the leader is played. So the probability that arm i's index is
   above c is the same in each round, and the wait for the first index above c is geometric. The
   round with that index is marked.
2. While the leader's mean stays above m, the probability q_t that the leader's index is at most c
   is bounded by a constant q̄. So each round is also marked with probability q̄, and such a mark
   counts with probability q_t/q̄ (thinning).
3. Every round before the first marked one plays the leader. The leader's rewards are drawn up to
   that round. If the leader's mean could fall to m before, they are drawn only up to that point.
4. In the marked round, each index is drawn conditional on being above or below c, as far as that is
   known.

The hazard of an arm is −log P(its index is at most c). Hazards of independent arms add up, so one
exponential draw against the total hazard gives both the first time an index exceeds c and the arm
that exceeds it.

The engine `thinned` draws every reward, from the same streams as playing every round; `events`
draws sums of rewards.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from driftanchor.core.check import Floats, Ints
from driftanchor.core.index_law import (
    IndexLaw,
    chance,
    draw_index,
    draw_side,
    upper,
)
from driftanchor.core.noise import Stream, exponential, normal, uniform
from driftanchor.core.variates import binomial
from driftanchor.policies.base import Best, Policy, challenge, inherits_rule
from driftanchor.simulation.bandit import Bandit
from driftanchor.simulation.engine import Keys, RunState, allocate_with, prepare, pseudo_regret
from driftanchor.simulation.world import BERNOULLI, GAUSSIAN, World, draw_reward

CERTAIN = 40.0  # hazard of an arm that is certainly above c; no exponential draw exceeds 37
BUSY = 0.6  # expected marks per round above which single rounds are cheaper
SHALLOWEST, STEP, DEPTHS = 2.0, 1.0, 5  # levels to try, in sds below the leader's mean
NEAR = 0.15  # distance of the barrier from the leader's mean, as a share of the level's distance
GROWN = 1.5  # find a new level once the leader's weight has grown by this factor
LONG = 1_000_000  # longer waits leave too few digits of a float for the position within a round
FIRST_ROUNDS, MAX_ROUNDS = 16, 256  # rounds played one by one before the next search for a level


class LeapingState(NamedTuple):
    """The arrays and options of a run that leaps over rounds."""

    run: RunState
    laws: Floats  # distribution of each arm's index, as rows of `IndexLaw`
    hazards: Floats  # hazard of each arm at the level; 0 for the leader
    progress: Ints  # number of rounds played, number of checkpoints passed
    pooled: bool  # whether the mean of the distribution includes the logs
    single: bool  # whether to draw the leader's rewards one by one, not as sums


class Lead(NamedTuple):
    """The leader of a stretch of rounds, and the level and the barrier for leaping over them.

    Rounds can be skipped while the leader's mean is above the barrier. A round is marked, and not
    skipped, if another arm's index is above the level or if the leader's index may be below the
    level.
    """

    arm: int  # -1 if every level marks too many rounds
    level: float
    barrier: float
    bound: float  # q̄ ≥ P(the leader's index is at most the level)
    marks: float  # −log(1 − q̄), the hazard of a mark for the leader
    weight: float  # `weight_of` the leader when the level was set


def can_leap(policy: type[Policy], bandit: Bandit) -> bool:
    """Return whether an engine may leap over rounds for this policy class and bandit.

    Leaping requires that the index distributions are known, and that playing one arm does not
    change the index distribution of another arm.
    """
    rule = ("index", "believe", "sample", "choose", "law", "normals", "uniforms")
    known = policy.leaps is not None and inherits_rule(policy, "leaps", rule)
    return known and not bandit.is_late and not (bandit.is_relative and policy.uses_logs)


def allocate_leaping(world: World, policy: Policy, *, single: bool) -> LeapingState:
    """Allocate the arrays for the runs of a policy."""
    arms = world.online.size
    return LeapingState(
        allocate_with(world, 0),
        np.zeros((arms, len(IndexLaw._fields))),
        np.zeros(arms),
        np.zeros(2, np.int64),
        policy.leaps == "hybrid",
        single,
    )


def play_leaping(
    rule: Callable[..., None],
    parameters: Floats,
    world: World,
    keys: Keys,
    first_run: int,
    checkpoints: Ints,
    state: LeapingState,
    regret: Floats,
    pulls: Ints,
) -> bool:
    """Play runs like `engine.play_every_round`, but leap over rounds.

    The arguments are those of `play_every_round`, except that `rule` writes the distribution of one
    arm's index: see `compiled.rules.law_writer`.
    """
    evidence = state.run.evidence
    for row in range(regret.shape[0]):
        prepare(world, keys, first_run + row, state.run)
        state.progress[0] = 0
        state.progress[1] = 0
        for arm in range(evidence.pulls.size):
            rule(parameters, evidence, arm, state.laws)
        rounds = FIRST_ROUNDS // 2
        while rounds_left(state, checkpoints) > 0:
            lead = find_lead(state)
            if lead.arm >= 0:
                follow(rule, parameters, world, state, checkpoints, regret[row], lead)
                rounds = FIRST_ROUNDS // 2
                continue
            rounds = min(2 * rounds, MAX_ROUNDS)  # a search costs as much as several rounds
            leader = leader_of(state)
            for _ in range(min(rounds, rounds_left(state, checkpoints))):
                arm = largest(state, leader)
                if arm < 0:
                    return False
                play(rule, parameters, world, state, checkpoints, regret[row], arm)
        for arm in range(evidence.pulls.size):
            pulls[row, arm] = evidence.pulls[arm]
    return True


def follow(
    rule: Callable[..., None],
    parameters: Floats,
    world: World,
    state: LeapingState,
    checkpoints: Ints,
    regret: Floats,
    lead: Lead,
) -> None:
    """Leap from one marked round to the next, until the leader or the level should change.

    Only a marked round may play an arm other than the leader: see `Lead`.
    """
    leader, stream = lead.arm, state.run.stream
    others = 0.0
    for arm in range(state.hazards.size):
        state.hazards[arm] = hazard(law_in(state, arm), lead.level) if arm != leader else 0.0
        others += state.hazards[arm]
    while rounds_left(state, checkpoints) > 0:
        rate = others + lead.marks
        if rate > BUSY:
            return
        wait = rounds_left(state, checkpoints)
        marked, position = False, 0.0
        if rate > 0.0:
            drawn = exponential(stream) / rate
            marked = drawn < wait
            wait = int(min(drawn, wait))
            position = rate * (drawn - wait)  # position of the mark: see `marked_round`
            if wait > LONG:
                position = -math.log1p(uniform(stream) * math.expm1(-rate))
        if wait > 0:
            taken = leap(world, state, lead, wait)
            advance(rule, parameters, world, state, checkpoints, regret, leader, taken)
            # If the barrier is reached before the mark, start over: the wait is memoryless.
            if taken < wait or state.laws[leader, 2] <= lead.barrier:
                return
        if marked:
            arm = marked_round(state, lead, others, position)
            play(rule, parameters, world, state, checkpoints, regret, arm)
            if arm != leader:
                if state.laws[arm, 2] > state.laws[leader, 2]:
                    return
                state.hazards[arm] = hazard(law_in(state, arm), lead.level)
                others = 0.0  # add up again: a running sum would accumulate rounding errors
                for other in range(state.hazards.size):
                    others += state.hazards[other]
            if state.laws[leader, 2] <= lead.barrier:
                return
            if weight_of(state, leader) > GROWN * lead.weight:
                return


# The leader, and the level for leaping. Any level, and any barrier between it and the leader's
# mean, gives the same distribution; they differ only in cost.


def leader_of(state: LeapingState) -> int:
    """Return the arm whose index distribution has the largest `mean`."""
    leader = 0
    for arm in range(1, state.hazards.size):
        if state.laws[arm, 2] > state.laws[leader, 2]:
            leader = arm
    return leader


def find_lead(state: LeapingState) -> Lead:
    """Return the leader, and the level c at which the fewest rounds are marked.

    The module's docstring explains levels and marks. The result's `arm` is -1 if so many rounds are
    marked at every level that leaping does not pay off.
    """
    leader = leader_of(state)
    mean, sd = state.laws[leader, 2], state.laws[leader, 3]
    fewest, best = BUSY, Lead(-1, 0.0, 0.0, 0.0, 0.0, 0.0)
    for step in range(DEPTHS):
        lead = lead_at(state, leader, mean - (SHALLOWEST + STEP * step) * sd)
        rate = lead.marks
        for arm in range(state.hazards.size):
            if arm != leader and rate < fewest:
                rate += hazard(law_in(state, arm), lead.level)
        if rate >= fewest:
            break
        fewest, best = rate, lead
    return best


def lead_at(state: LeapingState, leader: int, level: float) -> Lead:
    """Return the `Lead` for this level. Its barrier is between the level and the leader's mean."""
    law = law_in(state, leader)
    barrier = law.mean - NEAR * (law.mean - level)
    bound = upper((barrier - level) / law.sd)  # P(θ ≤ level) if the mean is at the barrier
    if law.other_mean == math.inf and law.place == law.mean:
        bound = 0.0  # the index is never below the mean
    return Lead(leader, level, barrier, bound, -math.log1p(-bound), weight_of(state, leader))


def hazard(law: IndexLaw, level: float) -> float:
    """Return the hazard −log P(index ≤ level), capped at `CERTAIN`."""
    p = chance(law, level, True)
    if p < 0.5:
        return -math.log1p(-p)
    rest = chance(law, level, False)  # precise even if it is tiny
    return min(-math.log(rest), CERTAIN) if rest > 0.0 else CERTAIN


def law_in(state: LeapingState, arm: int) -> IndexLaw:
    """Return the distribution of an arm's index, from the arm's row of `state.laws`."""
    laws = state.laws
    return IndexLaw(
        laws[arm, 0], laws[arm, 1], laws[arm, 2], laws[arm, 3], laws[arm, 4], laws[arm, 5]
    )


def weight_of(state: LeapingState, arm: int) -> float:
    """Return the number of rewards that enter the mean of an arm's index, plus 1 for the prior."""
    evidence = state.run.evidence
    logged = evidence.offline_pulls[arm] if state.pooled else 0
    return float(evidence.pulls[arm] + logged + 1)


# The choice of the arm.


def largest(state: LeapingState, leader: int) -> int:
    """Draw the index of every arm, and return the arm with the largest.

    The draw of an index stops early once that index can no longer be the largest.
    """
    stream = state.run.stream
    value = draw_index(law_in(state, leader), -math.inf, stream)
    best = challenge(Best(-math.inf, -1, 0), value, leader, stream)
    for arm in range(state.hazards.size):
        if arm != leader:
            index = draw_index(law_in(state, arm), best.value, stream)
            best = challenge(best, index, arm, stream)
    return best.column


def marked_round(state: LeapingState, lead: Lead, others: float, position: float) -> int:
    """Return the arm played in a marked round.

    Args:
        state: The state of the run.
        lead: The leader and the level.
        others: The sum of the other arms' hazards.
        position: The position of the mark on an axis that is divided into one segment per arm. The
            other arms come first, each with the length of its hazard, then the leader with length
            `lead.marks`.
    """
    stream, law = state.run.stream, law_in(state, lead.arm)
    if position < others:
        value = draw_index(law, -math.inf, stream)
    else:
        if uniform(stream) * lead.bound >= chance(law, lead.level, False):
            return lead.arm  # the mark does not count: all others are below the level
        value = draw_side(law, lead.level, False, stream)
        position = others + exponential(stream)
    best = challenge(Best(-math.inf, -1, 0), value, lead.arm, stream)
    if position >= others:  # no other arm is above the level
        if value > lead.level:
            return lead.arm
        for arm in range(state.hazards.size):
            if arm != lead.arm:
                index = draw_side(law_in(state, arm), lead.level, False, stream)
                best = challenge(best, index, arm, stream)
        return best.column
    arm, end = find(state.hazards, position)
    position = end + exponential(stream)  # the process restarts after the segment that was hit
    if position >= others and value <= lead.level:
        return arm
    while True:
        best = challenge(best, draw_side(law_in(state, arm), lead.level, True, stream), arm, stream)
        if position >= others:
            return best.column
        arm, end = find(state.hazards, position)
        position = end + exponential(stream)


def find(hazards: Floats, position: float) -> tuple[int, float]:
    """Return the arm whose segment contains `position`, and the end of that segment."""
    end, last = 0.0, 0
    for arm in range(hazards.size):
        if hazards[arm] > 0.0:
            end += hazards[arm]
            last = arm
            if position < end:
                break
    return last, end


# The rewards of the leader. Its position is (mean − barrier) times the weight of the mean, so it is
# above 0 exactly while the mean is above the barrier. A pull adds its reward minus the barrier to
# the position. Each sampler below stops at the first pull after which the position is, or may have
# been, at most 0.


def leap(world: World, state: LeapingState, lead: Lead, rounds: int) -> int:
    """Draw the leader's rewards for `rounds` rounds, or until its mean may reach the barrier.

    Returns the number of rewards drawn.
    """
    arm, barrier = lead.arm, lead.barrier
    mean, stream = world.online[arm], state.run.rewards[arm]
    start = (state.laws[arm, 2] - barrier) * weight_of(state, arm)
    if not state.single and world.law == GAUSSIAN:
        taken, end = walk(start, mean - barrier, world.noise[arm], rounds, stream)
    elif not state.single and world.law == BERNOULLI:
        taken, end = in_blocks(start, mean, barrier, rounds, stream)
    else:
        taken, end = one_by_one(world, arm, start, barrier, rounds, stream)
    state.run.evidence.totals[arm] += end - start + barrier * taken
    return taken


def one_by_one(
    world: World, arm: int, start: float, barrier: float, steps: int, stream: Stream
) -> tuple[int, float]:
    """Draw rewards one by one until a walk reaches 0, or `steps` rewards are drawn.

    The walk begins at `start`, and each reward moves it by the reward minus `barrier`. Returns the
    number of rewards drawn and the last position.
    """
    position = start
    for step in range(1, steps + 1):
        position += draw_reward(world, arm, stream) - barrier
        if position <= 0.0:
            return step, position
    return steps, position


def in_blocks(
    start: float, mean: float, barrier: float, steps: int, stream: Stream
) -> tuple[int, float]:
    """Do what `one_by_one` does, for Bernoulli rewards with this mean.

    The sum of a block of rewards is drawn at once. Blocks are so short that the walk can reach 0
    only at the end of one.
    """
    position, taken = start, 0
    while taken < steps and position > 0.0:
        block = steps - taken
        if barrier * block > position:  # end the block where zeros alone would reach the barrier
            block = min(block, int(position / barrier) + 1)
        position += binomial(block, mean, stream) - barrier * block
        taken += block
    return taken, position


def walk(start: float, drift: float, noise: float, steps: int, stream: Stream) -> tuple[int, float]:
    """Draw a Gaussian random walk of at most `steps` steps, until it may have reached 0.

    The walk is a Brownian path from `start` > 0, observed at whole steps, with mean `drift` and
    standard deviation `noise` per step. The walk stops at the first whole step after the path
    touches 0. If the path ends above 0, the reflection principle gives the probability that it
    touched 0 on the way. A path that did is reflected after the first touch, so that it ends below
    0. Bisection then finds the step at which the walk stops. Returns this step and the position.
    """
    end = start + drift * steps + noise * math.sqrt(steps) * normal(stream)
    reflected = end > 0.0
    if reflected:
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
            high, end, reflected = middle, -x, not reflected
        else:
            low, start = middle, x
    return high, -end if reflected else end


def rounds_left(state: LeapingState, checkpoints: Ints) -> int:
    """Return the number of rounds until the horizon."""
    return int(checkpoints[-1] - state.progress[0])


def play(
    rule: Callable[..., None],
    parameters: Floats,
    world: World,
    state: LeapingState,
    checkpoints: Ints,
    regret: Floats,
    arm: int,
) -> None:
    """Play one round with this arm: draw its reward and `advance`."""
    state.run.evidence.totals[arm] += draw_reward(world, arm, state.run.rewards[arm])
    advance(rule, parameters, world, state, checkpoints, regret, arm, 1)


def advance(
    rule: Callable[..., None],
    parameters: Floats,
    world: World,
    state: LeapingState,
    checkpoints: Ints,
    regret: Floats,
    arm: int,
    rounds: int,
) -> None:
    """Add `rounds` pulls of an arm, and record regret at every checkpoint within these rounds.

    The arm's reward total must already include these pulls. The arm's index distribution is
    updated.
    """
    evidence, progress = state.run.evidence, state.progress
    t, reached = progress[0], progress[1]
    before = evidence.pulls[arm]
    while reached < checkpoints.size and checkpoints[reached] <= t + rounds:
        evidence.pulls[arm] = before + checkpoints[reached] - t
        regret[reached] = pseudo_regret(world.gaps, evidence)
        reached += 1
    evidence.pulls[arm] = before + rounds
    progress[0] = t + rounds
    progress[1] = reached
    rule(parameters, evidence, arm, state.laws)
