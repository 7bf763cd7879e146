"""Clock: which round a run is in; as it passes the checkpoints it writes down the regret."""

from __future__ import annotations

from typing import NamedTuple

from driftanchor.core.check import Floats, Ints
from driftanchor.policies.base import Policy, remember
from driftanchor.simulation.engines.desk import AnyDesk
from driftanchor.simulation.engines.reference import pseudo_regret
from driftanchor.simulation.engines.rewards import World, draw_reward


class Clock(NamedTuple):
    """The clock of one run."""

    checkpoints: Ints
    regret: Floats  # after each of the checkpoints
    hands: Ints  # rounds played, checkpoints passed


def started(checkpoints: Ints, regret: Floats, hands: Ints) -> Clock:
    """The clock of a run that begins."""
    hands[0] = 0
    hands[1] = 0
    return Clock(checkpoints, regret, hands)


def rounds_left(clock: Clock) -> int:
    """Rounds until the horizon."""
    return int(clock.checkpoints[-1] - clock.hands[0])


def play(policy: Policy, world: World, desk: AnyDesk, clock: Clock, arm: int) -> None:
    """Play an arm once."""
    desk.evidence.totals[arm] += draw_reward(world, arm, desk.rewards[arm])
    advance(policy, world, desk, clock, arm, 1)


def advance(
    policy: Policy, world: World, desk: AnyDesk, clock: Clock, arm: int, rounds: int
) -> None:
    """Let `rounds` go by in which an arm was played; its total is up to date already."""
    pulls = desk.evidence.pulls
    t = clock.hands[0]
    i = clock.hands[1]
    while i < clock.checkpoints.size and clock.checkpoints[i] <= t + rounds:
        before = pulls[arm]
        pulls[arm] += clock.checkpoints[i] - t
        clock.regret[i] = pseudo_regret(world.gaps, pulls)  # the very sum every round gives
        pulls[arm] = before
        i += 1
    clock.hands[0] = t + rounds
    clock.hands[1] = i
    pulls[arm] += rounds
    remember(policy, desk.evidence, arm)
