"""The simulator where rewards come late: after some rounds, or at the end of a batch of rounds.

The loop of `driftanchor.simulation.reference` with a queue. A pull whose reward has not come is
pending, and the policy sees how many there are of each arm. The n-th reward of an arm is the same
as without the wait, since arms are paid in the order of their pulls.
"""

from __future__ import annotations

from driftanchor.core.check import Floats, Ints
from driftanchor.core.evidence import Evidence, Round
from driftanchor.policies.base import Policy, choose, moves_together, remember
from driftanchor.simulation.reference import Desk, Keys, prepare
from driftanchor.simulation.world import World, draw_reward


def run_many_late(
    policy: Policy,
    world: World,
    keys: Keys,
    first_run: int,
    checkpoints: Ints,
    desk: Desk,
    regret: Floats,
    pulls: Ints,
) -> bool:
    """As `driftanchor.simulation.reference.run_many`, with rewards that come late."""
    for row in range(regret.shape[0]):
        prepare(world, keys, first_run + row, desk)
        if not run_late(policy, world, desk, checkpoints, regret[row]):
            return False
        for arm in range(world.online.size):
            pulls[row, arm] = desk.evidence.pulls[arm] + desk.evidence.pending[arm]
    return True


def run_late(policy: Policy, world: World, desk: Desk, checkpoints: Ints, regret: Floats) -> bool:
    """One run; pending pulls have lost what they have lost."""
    evidence, queue = desk.evidence, desk.waiting
    arms = world.online.size
    for arm in range(arms):
        remember(policy, evidence, arm)
    together = moves_together(policy, evidence)
    reached = paid = 0
    for t in range(1, checkpoints[-1] + 1):
        while paid < rounds_paid(world, t):
            arm = queue[paid % queue.size]
            evidence.totals[arm] += draw_reward(world, arm, desk.rewards[arm])
            evidence.pulls[arm] += 1
            evidence.pending[arm] -= 1
            remember(policy, evidence, arm)
            paid += 1
        arm = choose(policy, evidence, Round(t, arms), desk.stream, together)
        if arm < 0 or arm >= arms:
            return False
        evidence.pending[arm] += 1
        queue[(t - 1) % queue.size] = arm
        if t == checkpoints[reached]:
            regret[reached] = regret_of_all(world.gaps, evidence)
            reached += 1
    return True


def rounds_paid(world: World, t: int) -> int:
    """Of how many rounds the rewards are known when an arm is chosen for round t."""
    return (t - 1) // world.batch * world.batch - world.delay


def regret_of_all(gaps: Floats, evidence: Evidence) -> float:
    """The pseudo-regret of pulls that were paid and of those that were not."""
    lost = 0.0
    for arm in range(gaps.size):
        lost += gaps[arm] * (evidence.pulls[arm] + evidence.pending[arm])
    return lost
