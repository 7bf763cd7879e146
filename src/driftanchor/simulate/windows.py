"""Windows for indices without randomness that only grow while an arm is left alone: UCB and kin.

An arm's index at the end of a window bounds it in every round before. As long as the index of the
arm played last is above all those bounds, it is played again, and no other index is computed. Any
length of window gives the same arms; they only set the price.
"""

from __future__ import annotations

import math

from driftanchor.core.check import Floats, Ints
from driftanchor.core.evidence import Evidence, Round
from driftanchor.core.hints import apart
from driftanchor.core.noise import Stream
from driftanchor.policies.base import Policy, choose, draw, index_at, remember
from driftanchor.simulate.ledger import Ledger, opened, play, rounds_left
from driftanchor.simulate.reference import Desk, Keys, World, prepare

SHORTEST = 4  # rounds; below that all indices are computed at about the same price


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
    """As `driftanchor.simulate.reference.run_many`, window by window."""
    for row in range(regret.shape[0]):
        prepare(world, keys, first_run + row, desk)
        ledger = opened(checkpoints, regret[row], desk)
        if not run_windows(policy, world, desk, ledger):
            return False
        for arm in range(world.online.size):
            pulls[row, arm] = desk.evidence.pulls[arm]
    return True


def run_windows(policy: Policy, world: World, desk: Desk, ledger: Ledger) -> bool:
    """One run; windows double while they hold and halve when they do not."""
    evidence = desk.evidence
    for arm in range(evidence.pulls.size):
        remember(policy, evidence, arm)
    length = SHORTEST
    while rounds_left(ledger) > 0:
        now = Round(ledger.clock[0] + 1, evidence.pulls.size)
        arm = choose(policy, evidence, now, desk.stream)
        if arm < 0 or arm >= evidence.pulls.size:
            return False
        play(policy, world, desk, ledger, arm)
        last = ledger.clock[0] + min(length, rounds_left(ledger))
        bound = highest_other(policy, evidence, arm, last, desk.stream)
        while ledger.clock[0] < last:
            now = Round(ledger.clock[0] + 1, evidence.pulls.size)
            if not index_at(policy, evidence, arm, now, draw(policy, desk.stream)) > bound:
                break
            play(policy, world, desk, ledger, arm)
        held = ledger.clock[0] == last
        length = 2 * length if held else max(length // 2, SHORTEST)
    return True


@apart
def highest_other(policy: Policy, evidence: Evidence, arm: int, t: int, stream: Stream) -> float:
    """The largest index in round t of all arms but one, if they are left alone until then."""
    highest = -math.inf
    now = Round(t, evidence.pulls.size)
    for other in range(evidence.pulls.size):
        if other != arm:
            index = index_at(policy, evidence, other, now, draw(policy, stream))
            highest = max(highest, index)
    return highest
