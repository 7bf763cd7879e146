"""Windows for indices without randomness that only grow while an arm is left alone: UCB and kin.

An arm's index at the end of a window bounds it in every round before, its index at the start is
below all of them. While the arm played last is above the other arms' bounds, it is played again
and no other index is computed; otherwise only those that may be the largest are. Windows of any
length play the same arms; the length only sets the price.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from driftanchor.core.check import Floats, Ints
from driftanchor.core.evidence import Evidence, Round
from driftanchor.core.noise import Stream
from driftanchor.policies.base import Best, Policy, challenge, draw, index_at, remember
from driftanchor.simulation.bandit import Bandit
from driftanchor.simulation.engines import desk as common
from driftanchor.simulation.engines.clock import Clock, play, rounds_left, started
from driftanchor.simulation.engines.desk import Keys, prepare
from driftanchor.simulation.engines.engine import Loop, keeps_promise, plays_arms_alone
from driftanchor.simulation.engines.rewards import World

SHORTEST = 8  # rounds
SHARE = 64  # of all rounds so far, a window is the 64th part: indices hardly move in it


class WindowsDesk(NamedTuple):
    """A desk with a clock and bounds."""

    evidence: Evidence
    stream: Stream
    rewards: Stream
    hands: Ints  # of the clock
    bounds: Floats  # of the arms' indices


def lay_out(world: World, policy: Policy) -> WindowsDesk:
    """A desk for the runs of a policy."""
    desk = common.lay_out(world, policy)
    return WindowsDesk(*desk, np.zeros(2, np.int64), np.zeros(world.online.size))


def play_runs(
    policy: Policy,
    world: World,
    keys: Keys,
    first_run: int,
    checkpoints: Ints,
    desk: WindowsDesk,
    regret: Floats,
    pulls: Ints,
) -> bool:
    """As `reference.play_runs`, window by window."""
    for row in range(regret.shape[0]):
        prepare(world, keys, first_run + row, desk)
        clock = started(checkpoints, regret[row], desk.hands)
        if not play_run(policy, world, desk, clock):
            return False
        for arm in range(world.online.size):
            pulls[row, arm] = desk.evidence.pulls[arm]
    return True


def play_run(policy: Policy, world: World, desk: WindowsDesk, clock: Clock) -> bool:
    """Play one run, window by window."""
    evidence = desk.evidence
    for arm in range(evidence.pulls.size):
        remember(policy, evidence, arm)
    while rounds_left(clock) > 0:
        length = max(SHORTEST, clock.hands[0] // SHARE)
        last = clock.hands[0] + min(length, rounds_left(clock))
        if not play_window(policy, world, desk, clock, last):
            return False
    return True


def play_window(policy: Policy, world: World, desk: WindowsDesk, clock: Clock, last: int) -> bool:
    """Play up to round `last`; False when no arm could be chosen."""
    evidence, bounds, stream = desk.evidence, desk.bounds, desk.stream
    arms = evidence.pulls.size
    first = Round(clock.hands[0] + 1, arms)
    end = Round(last, arms)
    for arm in range(arms):
        bounds[arm] = index_at(policy, evidence, arm, end, draw(policy, stream))
    while clock.hands[0] < last:
        now = Round(clock.hands[0] + 1, arms)
        arm = largest(policy, evidence, bounds, now, stream)
        if arm < 0:
            return False
        highest = highest_other(bounds, arm)
        while True:
            play(policy, world, desk, clock, arm)
            if clock.hands[0] == last:
                return True
            if not index_at(policy, evidence, arm, first, draw(policy, stream)) > highest:
                break
        bounds[arm] = index_at(policy, evidence, arm, end, draw(policy, stream))
    return True


def largest(policy: Policy, evidence: Evidence, bounds: Floats, now: Round, stream: Stream) -> int:
    """The arm with the largest index, ties at random; what is bounded below it is not computed."""
    best = Best(-math.inf, -1, 0)
    for arm in range(bounds.size):
        if not bounds[arm] < best.value:
            value = index_at(policy, evidence, arm, now, draw(policy, stream))
            best = challenge(best, value, arm, stream)
    return best.column


def highest_other(bounds: Floats, arm: int) -> float:
    """The largest bound of all arms but one; NaN bounds nothing."""
    highest = -math.inf
    for other in range(bounds.size):
        if other != arm:
            highest = max(highest, bounds[other])
    return highest


def serves(policy: type[Policy], bandit: Bandit) -> bool:
    """Policies whose index, without randomness, can only grow while the arm is left alone."""
    return plays_arms_alone(policy, bandit) and policy.grows and keeps_promise("grows", policy)


WINDOWS = Loop("windows", play_runs, lay_out, serves)
