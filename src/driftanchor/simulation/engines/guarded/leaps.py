"""Guarded Anchor-TS, leaping: the same law as playing every round, at the price of what happens.

1. A window is found: for some rounds the leader surely leads and no guard pull is due, as long as
   its live mean stays within a band (`window`).
2. In a window the leader is played in every round that is not marked, and marks have the same
   chance in each of them (`marks`).
3. Up to the next mark, or to the end of the window, the leader's rewards are drawn at once, until
   its mean may have left the band (`band`).
4. In a marked round the rule chooses, with noise drawn given what is marked (`marked_round`).

Where there is no window, rounds are played one by one. `docs/reference/engines.md` says why each
step is exact.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from driftanchor.core.check import Floats, Ints
from driftanchor.core.evidence import Evidence, Round, arm_at
from driftanchor.core.hints import apart
from driftanchor.core.noise import Stream, exponential
from driftanchor.policies.base import Policy, choose, kept_belief, remember
from driftanchor.policies.guarded_anchor_ts import GuardedAnchorTS
from driftanchor.simulation.bandit import Bandit
from driftanchor.simulation.engines import desk as common
from driftanchor.simulation.engines.clock import Clock, advance, play, rounds_left, started
from driftanchor.simulation.engines.desk import Keys, prepare
from driftanchor.simulation.engines.engine import Loop
from driftanchor.simulation.engines.guarded.band import blocks_within, steps_within, walk_within
from driftanchor.simulation.engines.guarded.marked_round import marked_round
from driftanchor.simulation.engines.guarded.marks import (
    Marks,
    few_marks,
    fill,
    find_level,
    forget,
    make_marks,
)
from driftanchor.simulation.engines.guarded.window import Window, find_window
from driftanchor.simulation.engines.rewards import BERNOULLI, GAUSSIAN, World

LONGER = 4  # a window may be so many times as long as the last one
LEAST = 32  # rounds of a window that are tried in any case
PATIENCE = 16  # rounds that are played one by one before a window is looked for again


class GuardedDesk(NamedTuple):
    """A desk with a clock and a table of marks."""

    evidence: Evidence
    stream: Stream
    rewards: Stream
    hands: Ints  # of the clock
    marks: Marks
    single: bool  # draw each reward of the leader, and no sums


def play_runs(
    policy: GuardedAnchorTS,
    world: World,
    keys: Keys,
    first_run: int,
    checkpoints: Ints,
    desk: GuardedDesk,
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


def play_run(policy: GuardedAnchorTS, world: World, desk: GuardedDesk, clock: Clock) -> bool:
    """Play one run."""
    evidence = desk.evidence
    for arm in range(evidence.pulls.size):
        remember(policy, evidence, arm)
    forget(desk.marks)
    longest, patience, rival = LEAST, 1, 0
    while rounds_left(clock) > 0:
        longest = max(LEAST, min(longest, rounds_left(clock)))
        window = find_window(policy, evidence, clock.hands[0] + 1, longest, rival)
        rival = window.rival
        if window.rounds > 0 and follow(policy, world, desk, clock, window):
            longest, patience = LONGER * window.rounds, 1
            continue
        if not play_rounds(policy, world, desk, clock, min(patience, rounds_left(clock))):
            return False
        longest, patience = max(window.rounds, longest // 2), min(2 * patience, PATIENCE)
    return True


@apart
def play_rounds(
    policy: GuardedAnchorTS, world: World, desk: GuardedDesk, clock: Clock, rounds: int
) -> bool:
    """Play some rounds one by one; False when no arm could be chosen."""
    arms = desk.evidence.pulls.size
    for _ in range(rounds):
        now = Round(clock.hands[0] + 1, arms)
        arm = choose(policy, desk.evidence, now, desk.stream, False)
        if arm < 0:
            return False
        play(policy, world, desk, clock, arm)
    return True


@apart
def follow(
    policy: GuardedAnchorTS, world: World, desk: GuardedDesk, clock: Clock, window: Window
) -> bool:
    """Leap from mark to mark while the window holds; False where rounds are too busy for it."""
    evidence, leader = desk.evidence, window.leader
    level, hazard = few_marks(policy, evidence, window, desk.marks)
    counted = level == math.inf
    if counted:
        level, rate = find_level(policy, evidence, window, desk.marks)
        hazard = -math.log1p(-rate)
    if level == math.inf:
        return False
    end = min(clock.hands[0] + window.rounds, clock.checkpoints[-1])
    while clock.hands[0] < end:
        left = end - clock.hands[0]
        wait, marked = left, False
        if hazard > 0.0:
            drawn = exponential(desk.stream)
            if not counted and drawn < left * hazard:  # before the first leap
                hazard = -math.log1p(-fill(policy, evidence, window, desk.marks, level))
                counted = True
            if counted and drawn / hazard < left:
                wait, marked = int(drawn / hazard), True
        if wait > 0:
            taken = leap(policy, world, desk, clock, window, wait)
            # Leaving the band before the mark starts anew: the wait for a mark has no memory.
            if taken < wait or not is_within(evidence, window):
                return True
        if marked:
            t = clock.hands[0] + 1
            arm = marked_round(policy, evidence, window, desk.marks, level, t, desk.stream)
            play(policy, world, desk, clock, arm)
            if arm != leader or not is_within(evidence, window):
                return True
    return True


def is_within(evidence: Evidence, window: Window) -> bool:
    """Whether the leader's live mean is within the band."""
    arm = arm_at(evidence, window.leader)
    return arm.pulls * window.low < arm.total < arm.pulls * window.high


def leap(
    policy: GuardedAnchorTS,
    world: World,
    desk: GuardedDesk,
    clock: Clock,
    window: Window,
    rounds: int,
) -> int:
    """Play the leader `rounds` times, or until its mean may be outside the band; how often."""
    evidence, arm, low = desk.evidence, window.leader, window.low
    mean, stream, pulls = world.online[arm], desk.rewards[arm], evidence.pulls[arm]
    start = evidence.totals[arm] - pulls * low
    top = pulls * (window.high - low)  # the band only grows wider
    if not desk.single and world.law == GAUSSIAN:
        taken, end = walk_within(start, top, mean - low, world.noise[arm], rounds, stream)
    elif not desk.single and world.law == BERNOULLI:
        taken, end = blocks_within(start, top, mean, low, rounds, stream)
    else:
        taken, end = steps_within(world, arm, start, top, low, rounds, stream)
    evidence.totals[arm] += end - start + low * taken
    advance(policy, world, desk, clock, arm, taken)
    return taken


def serves(policy: type[Policy], bandit: Bandit) -> bool:
    """Guarded Anchor-TS as it is, where rewards come at once."""
    rule = GuardedAnchorTS
    same = policy.choose is rule.choose and policy.draw is rule.draw
    return same and kept_belief(policy) is not None and not bandit.is_late


def lay_out(world: World, policy: Policy) -> GuardedDesk:
    """A desk for the runs of a policy, with rewards drawn as sums."""
    desk = common.lay_out(world, policy)
    return GuardedDesk(*desk, np.zeros(2, np.int64), make_marks(world.online.size), False)


def lay_out_thinned(world: World, policy: Policy) -> GuardedDesk:
    """The same with every reward drawn from its stream."""
    return lay_out(world, policy)._replace(single=True)


# One function for both: it is compiled once.
GUARDED_EVENTS = Loop("guarded events", play_runs, lay_out, serves)
GUARDED_THINNED = Loop("guarded thinned", play_runs, lay_out_thinned, serves)
