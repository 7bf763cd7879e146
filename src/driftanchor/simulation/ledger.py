"""The ledger of a run that an engine plays: what round it is, and the regret at the checkpoints."""

from __future__ import annotations

from typing import NamedTuple

from driftanchor.core.check import Floats, Ints
from driftanchor.policies.base import Policy, remember
from driftanchor.simulation.reference import Desk, pseudo_regret
from driftanchor.simulation.world import World, draw_reward


class Ledger(NamedTuple):
    """Where the regret of one run is written down."""

    checkpoints: Ints
    regret: Floats
    clock: Ints  # rounds played, checkpoints passed


def opened(checkpoints: Ints, regret: Floats, desk: Desk) -> Ledger:
    """The ledger of a run that begins."""
    desk.clock[0] = 0
    desk.clock[1] = 0
    return Ledger(checkpoints, regret, desk.clock)


def rounds_left(ledger: Ledger) -> int:
    """Rounds until the horizon."""
    return int(ledger.checkpoints[-1] - ledger.clock[0])


def play(policy: Policy, world: World, desk: Desk, ledger: Ledger, arm: int) -> None:
    """Play an arm once."""
    desk.evidence.totals[arm] += draw_reward(world, arm, desk.rewards[arm])
    count(policy, world, desk, ledger, arm, 1)


def count(policy: Policy, world: World, desk: Desk, ledger: Ledger, arm: int, rounds: int) -> None:
    """Write down that an arm was played in so many rounds; its total is up to date already."""
    pulls = desk.evidence.pulls
    t = ledger.clock[0]
    i = ledger.clock[1]
    while i < ledger.checkpoints.size and ledger.checkpoints[i] <= t + rounds:
        before = pulls[arm]
        pulls[arm] += ledger.checkpoints[i] - t
        ledger.regret[i] = pseudo_regret(world.gaps, pulls)  # the very sum every round gives
        pulls[arm] = before
        i += 1
    ledger.clock[0] = t + rounds
    ledger.clock[1] = i
    pulls[arm] += rounds
    remember(policy, desk.evidence, arm)
