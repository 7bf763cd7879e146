"""The simulator: one obvious loop, interpreted as it stands, or compiled line by line.

Plain scalar Python over arrays. `driftanchor.simulation.compiled` hands these functions to Numba;
called directly they are the reference. Both give the same bits.

The noise is keyed (see `driftanchor.core.noise`): the rewards of an arm by (seed, run, arm), its
logs by (seed, run, arm), a policy's own draws by (seed, policy, run). Every policy meets the same
logs and the same n-th reward of each arm, so comparisons are paired.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from driftanchor.core.check import Floats, Ints
from driftanchor.core.evidence import Evidence, Round
from driftanchor.core.hints import apart
from driftanchor.core.noise import Key, Stream, start
from driftanchor.policies.base import Policy, choose, kept_belief, moves_together, remember
from driftanchor.simulation.table import Table, make_table
from driftanchor.simulation.world import World, draw_mean, draw_reward


class Desk(NamedTuple):
    """Where a run works: arrays made outside, so that the loop itself allocates nothing."""

    evidence: Evidence
    stream: Stream  # of the policy; before that of the logs
    rewards: Stream  # one row for each arm
    clock: Ints  # of an engine that leaps: rounds played, checkpoints passed
    table: Table  # of such an engine
    waiting: Ints  # the arms of the last rounds, where rewards come late
    bounds: Floats  # of the arms' indices, for an engine that goes by windows


def lay_out(world: World, policy: Policy) -> Desk:
    """A desk for the runs of a policy."""
    arms = world.online.size
    belief = kept_belief(type(policy))
    beliefs = 0 if belief is None else len(belief._fields)
    evidence = Evidence(
        np.zeros(arms, np.int64),
        np.zeros(arms),
        world.offline_pulls,
        np.zeros(arms),
        world.bias_bounds,
        np.ones(arms, np.bool_),
        np.zeros((arms, policy.memory + beliefs)),
        np.zeros(arms, np.int64),
        world.relative_bounds,
    )
    return Desk(
        evidence,
        np.empty(4, np.uint64),
        np.empty((arms, 4), np.uint64),
        np.zeros(2, np.int64),
        make_table(arms),
        np.zeros(world.delay + world.batch, np.int64),
        np.zeros(arms),
    )


class Keys(NamedTuple):
    """The keys of the noise of a simulation."""

    rewards: Key
    logs: Key
    policy: Key


def run_many(
    policy: Policy,
    world: World,
    keys: Keys,
    first_run: int,
    checkpoints: Ints,
    desk: Desk,
    regret: Floats,
    pulls: Ints,
) -> bool:
    """Runs `first_run`, `first_run + 1`, … into the rows of `regret` and `pulls`.

    False when the policy could not choose, because every index was NaN.
    """
    for row in range(regret.shape[0]):
        prepare(world, keys, first_run + row, desk)
        if not run_once(policy, world, desk, checkpoints, regret[row]):
            return False
        for arm in range(world.online.size):
            pulls[row, arm] = desk.evidence.pulls[arm]
    return True


@apart
def prepare(world: World, keys: Keys, run: int, desk: Desk) -> None:
    """Clear the desk, draw the logs, and put every stream at its start."""
    clear(desk.evidence)
    draw_logs(world, keys, run, desk)
    for arm in range(world.online.size):
        start(desk.rewards[arm], keys.rewards, run, arm)
    start(desk.stream, keys.policy, run, 0)


def run_once(policy: Policy, world: World, desk: Desk, checkpoints: Ints, regret: Floats) -> bool:
    """One run; `regret` gets the pseudo-regret after each of the `checkpoints`."""
    evidence = desk.evidence
    arms = world.online.size
    for arm in range(arms):
        remember(policy, evidence, arm)
    together = moves_together(policy, evidence)
    reached = 0
    for t in range(1, checkpoints[-1] + 1):
        arm = choose(policy, evidence, Round(t, arms), desk.stream, together)
        if arm < 0 or arm >= arms:
            return False
        evidence.totals[arm] += draw_reward(world, arm, desk.rewards[arm])
        evidence.pulls[arm] += 1
        remember(policy, evidence, arm)
        if t == checkpoints[reached]:
            regret[reached] = pseudo_regret(world.gaps, evidence.pulls)
            reached += 1
    return True


def clear(evidence: Evidence) -> None:
    """Back to before the first round."""
    for arm in range(evidence.pulls.size):
        evidence.pulls[arm] = 0
        evidence.pending[arm] = 0
        evidence.totals[arm] = 0.0
        for column in range(evidence.memory.shape[1]):
            evidence.memory[arm, column] = 0.0


def draw_logs(world: World, keys: Keys, run: int, desk: Desk) -> None:
    """The offline mean of each arm that has logs: drawn anew, unless it is given."""
    for arm in range(world.online.size):
        if world.offline_pulls[arm] > 0:
            if world.given:
                desk.evidence.offline_means[arm] = world.offline[arm]
            else:
                start(desk.stream, keys.logs, run, arm)
                mean = draw_mean(world, arm, world.offline_pulls[arm], desk.stream)
                desk.evidence.offline_means[arm] = mean


def pseudo_regret(gaps: Floats, pulls: Ints) -> float:
    """What the pulls lost against always playing the best arm, in expectation (E20)."""
    lost = 0.0
    for arm in range(gaps.size):
        lost += gaps[arm] * pulls[arm]
    return lost
