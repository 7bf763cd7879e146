"""The loops that play every round, interpreted or compiled.

The loops are plain scalar Python over arrays. Interpreted, they are the reference for all other
engines. Compiled by `driftanchor.compiled`, the same code gives bit-identical results.

All noise is keyed (`driftanchor.core.noise`): the rewards and the logs of an arm by (seed, run,
arm), a policy's own draws by (seed, policy, run), and the means of a random bandit by (seed, run,
arm). So every policy faces the same means, the same logs and the same n-th reward of each arm, and
comparisons are paired.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from driftanchor.core.check import Floats, Ints
from driftanchor.core.evidence import Evidence
from driftanchor.core.noise import Key, Stream, key, start
from driftanchor.policies.base import Policy, caches_beliefs
from driftanchor.simulation.world import World, draw_mean, draw_reward, settle

ALL = -1  # all arms changed


class Keys(NamedTuple):
    """The keys that determine the noise of a simulation."""

    rewards: Key
    logs: Key
    policy: Key


class RunState(NamedTuple):
    """The arrays that a run works on, allocated once and cleared before each run."""

    evidence: Evidence
    stream: Stream  # noise of the policy; before the first round, noise of the logs
    rewards: Stream  # noise of the rewards, one row for each arm
    queue: Ints  # ring buffer of the last rounds' arms, for late rewards


def keys_of(seed: int, policy: str) -> Keys:
    """Return the noise keys for a seed and the name of a policy."""
    return Keys(key(seed, "rewards"), key(seed, "logs"), key(seed, f"policy/{policy}"))


def allocate(world: World, policy: Policy) -> RunState:
    """Allocate the arrays for the runs of a policy."""
    beliefs = len(policy.belief._fields) if caches_beliefs(type(policy)) else 0
    return allocate_with(world, policy.memory + beliefs)


def allocate_with(world: World, memory: int) -> RunState:
    """Allocate the arrays for runs, with `memory` numbers per arm."""
    arms = world.online.size
    evidence = Evidence(
        np.zeros(arms, np.int64),
        np.zeros(arms),
        world.offline_pulls,
        np.zeros(arms),
        world.bias_bounds,
        np.ones(arms, np.bool_),
        np.zeros((arms, memory)),
        np.zeros(arms, np.int64),
        world.relative_bounds,
    )
    queue = np.zeros(world.delay + world.batch, np.int64)
    return RunState(evidence, np.empty(4, np.uint64), np.empty((arms, 4), np.uint64), queue)


def play_every_round(
    rule: Callable[..., int],
    parameters: Floats,
    world: World,
    keys: Keys,
    first_run: int,
    checkpoints: Ints,
    state: RunState,
    regret: Floats,
    pulls: Ints,
) -> bool:
    """Play runs `first_run`, `first_run + 1`, … and fill the rows of `regret` and `pulls`.

    Rewards may arrive late: after a delay, or at the end of a batch of rounds. A pull is pending
    until its reward arrives, and the policy sees the number of pending pulls of each arm. Rewards
    arrive in the order of the pulls, so the n-th reward of an arm is the same as without delay.

    Args:
        rule: Chooses the arm of a round: see `compiled.rules.chooser`.
        parameters: The policy's numeric parameters, for the rule.
        world: The bandit.
        keys: The keys of the random streams, from which all noise is drawn.
        first_run: The number of the first run.
        checkpoints: The rounds after which to record regret; the last is the horizon.
        state: The arrays from `allocate`.
        regret: Output array of shape (runs, checkpoints): the pseudo-regret. A pull counts when
            it is made.
        pulls: Output array of shape (runs, arms): the number of pulls at the horizon.

    Returns:
        False if the policy chose no valid arm, for example because every index was NaN.
    """
    evidence, queue = state.evidence, state.queue
    arms, late = world.online.size, world.delay > 0 or world.batch > 1
    for row in range(regret.shape[0]):
        prepare(world, keys, first_run + row, state)
        reached, paid, changed = 0, 0, ALL
        for t in range(1, checkpoints[-1] + 1):
            if late:
                while paid < (t - 1) // world.batch * world.batch - world.delay:
                    arm = queue[paid % queue.size]
                    pay(world, state, arm)
                    evidence.pending[arm] -= 1
                    paid += 1
            arm = rule(parameters, evidence, t, arms, state.stream, world.relative, changed)
            if arm < 0 or arm >= arms:
                return False
            if late:
                evidence.pending[arm] += 1
                queue[(t - 1) % queue.size] = arm
            else:
                pay(world, state, arm)
                changed = arm
            if t == checkpoints[reached]:
                regret[row, reached] = pseudo_regret(world.gaps, evidence)
                reached += 1
        for arm in range(arms):
            pulls[row, arm] = evidence.pulls[arm] + evidence.pending[arm]
    return True


def pay(world: World, state: RunState, arm: int) -> None:
    """Draw the reward of a pull, and add both to the evidence."""
    state.evidence.totals[arm] += draw_reward(world, arm, state.rewards[arm])
    state.evidence.pulls[arm] += 1


def prepare(world: World, keys: Keys, run: int, state: RunState) -> None:
    """Prepare a run: clear the state, set the run's means, draw its logs, and start its streams."""
    evidence = state.evidence
    for arm in range(evidence.pulls.size):
        evidence.pulls[arm] = 0
        evidence.pending[arm] = 0
        evidence.totals[arm] = 0.0
        for column in range(evidence.memory.shape[1]):
            evidence.memory[arm, column] = 0.0
    if world.instances.shape[0] > 0:
        settle(world, run)
    for arm in range(world.online.size):
        if world.offline_pulls[arm] > 0:
            if world.given:
                evidence.offline_means[arm] = world.offline[arm]
            else:
                start(state.stream, keys.logs, run, arm)
                mean = draw_mean(world, arm, world.offline_pulls[arm], state.stream)
                evidence.offline_means[arm] = mean
        start(state.rewards[arm], keys.rewards, run, arm)
    start(state.stream, keys.policy, run, 0)


def pseudo_regret(gaps: Floats, evidence: Evidence) -> float:
    """Return the expected loss of all pulls, including pending ones, compared with the best arm.

    Entry E20 of docs/evidence/errata.md explains why regret is measured in this way.
    """
    lost = 0.0
    for arm in range(gaps.size):
        lost += gaps[arm] * (evidence.pulls[arm] + evidence.pending[arm])
    return lost
