"""The loop for rewards that come late: after some rounds, or at the end of a batch of rounds.

The reference loop with a queue. A pull whose reward has not come is pending, and the policy sees
how many are pending for each arm. The n-th reward of an arm is the same as without the wait,
since arms are paid in the order of their pulls.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from driftanchor.core.check import Floats, Ints
from driftanchor.core.common_move import Alone
from driftanchor.core.evidence import Evidence, Round
from driftanchor.core.noise import Stream
from driftanchor.policies.base import Policy, choose, remember
from driftanchor.simulation.bandit import Bandit
from driftanchor.simulation.engines import reference
from driftanchor.simulation.engines.desk import Keys, prepare
from driftanchor.simulation.engines.engine import Loop
from driftanchor.simulation.engines.rewards import World, draw_reward


class LateDesk(NamedTuple):
    """A desk with a queue."""

    evidence: Evidence
    stream: Stream
    rewards: Stream
    together: bool | Alone
    waiting: Ints  # the arms of the last rounds


def lay_out(world: World, policy: Policy) -> LateDesk:
    """A desk for the runs of a policy."""
    queue = np.zeros(world.delay + world.batch, np.int64)
    return LateDesk(*reference.lay_out(world, policy), queue)


def play_runs(
    policy: Policy,
    world: World,
    keys: Keys,
    first_run: int,
    checkpoints: Ints,
    desk: LateDesk,
    regret: Floats,
    pulls: Ints,
) -> bool:
    """As `reference.play_runs`, with rewards that come late."""
    for row in range(regret.shape[0]):
        prepare(world, keys, first_run + row, desk)
        if not play_run(policy, world, desk, checkpoints, regret[row]):
            return False
        for arm in range(world.online.size):
            pulls[row, arm] = desk.evidence.pulls[arm] + desk.evidence.pending[arm]
    return True


def play_run(
    policy: Policy, world: World, desk: LateDesk, checkpoints: Ints, regret: Floats
) -> bool:
    """Play one run; a pending pull counts as regret when it is made."""
    evidence, queue = desk.evidence, desk.waiting
    arms = world.online.size
    for arm in range(arms):
        remember(policy, evidence, arm)
    reached = paid = 0
    for t in range(1, checkpoints[-1] + 1):
        while paid < rounds_paid(world, t):
            arm = queue[paid % queue.size]
            evidence.totals[arm] += draw_reward(world, arm, desk.rewards[arm])
            evidence.pulls[arm] += 1
            evidence.pending[arm] -= 1
            remember(policy, evidence, arm)
            paid += 1
        arm = choose(policy, evidence, Round(t, arms), desk.stream, desk.together)
        if arm < 0 or arm >= arms:
            return False
        evidence.pending[arm] += 1
        queue[(t - 1) % queue.size] = arm
        if t == checkpoints[reached]:
            regret[reached] = regret_of_all(world.gaps, evidence)
            reached += 1
    return True


def rounds_paid(world: World, t: int) -> int:
    """How many rounds have their rewards known when an arm is chosen for round t."""
    return (t - 1) // world.batch * world.batch - world.delay


def regret_of_all(gaps: Floats, evidence: Evidence) -> float:
    """The pseudo-regret of all pulls, paid or pending."""
    lost = 0.0
    for arm in range(gaps.size):
        lost += gaps[arm] * (evidence.pulls[arm] + evidence.pending[arm])
    return lost


def serves(policy: type[Policy], bandit: Bandit) -> bool:
    """Every policy, wherever rewards come late."""
    return bandit.is_late


LATE_REWARDS = Loop("late rewards", play_runs, lay_out, serves)
