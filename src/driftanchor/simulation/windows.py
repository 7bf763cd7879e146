"""Windows for indices without randomness that only grow while an arm is left alone: UCB and kin.

An arm's index at the end of a window bounds it in every round before, its index at the start is
below all of them. As long as the arm played last is above the other arms' bounds, it is played
again, and no other index is computed; otherwise only those that may be the largest. Any length of
window gives the same arms; it only sets the price.
"""

from __future__ import annotations

import math

from driftanchor.core.check import Floats, Ints
from driftanchor.core.evidence import Evidence, Round
from driftanchor.core.noise import Stream
from driftanchor.policies.base import Best, Policy, challenge, draw, index_at, remember
from driftanchor.simulation.ledger import Ledger, opened, play, rounds_left
from driftanchor.simulation.reference import Desk, Keys, prepare
from driftanchor.simulation.world import World

SHORTEST = 8  # rounds
SHARE = 64  # of all rounds so far, a window is the 64th part: indices hardly move in it


def run_many_windows(
    policy: Policy,
    world: World,
    keys: Keys,
    first_run: int,
    checkpoints: Ints,
    desk: Desk,
    regret: Floats,
    pulls: Ints,
) -> bool:
    """As `driftanchor.simulation.reference.run_many`, window by window."""
    for row in range(regret.shape[0]):
        prepare(world, keys, first_run + row, desk)
        ledger = opened(checkpoints, regret[row], desk)
        if not run_windows(policy, world, desk, ledger):
            return False
        for arm in range(world.online.size):
            pulls[row, arm] = desk.evidence.pulls[arm]
    return True


def run_windows(policy: Policy, world: World, desk: Desk, ledger: Ledger) -> bool:
    """One run, window by window."""
    evidence = desk.evidence
    for arm in range(evidence.pulls.size):
        remember(policy, evidence, arm)
    while rounds_left(ledger) > 0:
        length = max(SHORTEST, ledger.clock[0] // SHARE)
        last = ledger.clock[0] + min(length, rounds_left(ledger))
        if not play_window(policy, world, desk, ledger, last):
            return False
    return True


def play_window(policy: Policy, world: World, desk: Desk, ledger: Ledger, last: int) -> bool:
    """Play up to round `last`; False when no arm could be chosen."""
    evidence, bounds, stream = desk.evidence, desk.bounds, desk.stream
    arms = evidence.pulls.size
    first = Round(ledger.clock[0] + 1, arms)
    end = Round(last, arms)
    for arm in range(arms):
        bounds[arm] = index_at(policy, evidence, arm, end, draw(policy, stream))
    while ledger.clock[0] < last:
        now = Round(ledger.clock[0] + 1, arms)
        arm = largest(policy, evidence, bounds, now, stream)
        if arm < 0:
            return False
        highest = highest_other(bounds, arm)
        while True:
            play(policy, world, desk, ledger, arm)
            if ledger.clock[0] == last:
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
