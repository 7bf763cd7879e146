"""Desk: where a run works, cleared and filled before each run.

The noise is keyed (see `driftanchor.core.noise`): the rewards of an arm by (seed, run, arm), its
logs by (seed, run, arm), a policy's own draws by (seed, policy, run), and where a bandit is random
its means and the bias of its logs by (seed, run, arm). Every policy meets the same means, the same
logs and the same n-th reward of each arm, so comparisons are paired.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from driftanchor.core.evidence import Evidence
from driftanchor.core.hints import apart
from driftanchor.core.noise import Key, Stream, key, start
from driftanchor.policies.base import Policy, kept_belief
from driftanchor.simulation.engines.rewards import World, draw_mean, settle


class Desk(NamedTuple):
    """The arrays of a run, made outside, so that the loop itself allocates nothing."""

    evidence: Evidence
    stream: Stream  # of the policy; before that of the logs
    rewards: Stream  # one row for each arm


class AnyDesk(Protocol):
    """A desk, or what a loop of its own uses in its place: the same arrays and more."""

    @property
    def evidence(self) -> Evidence:
        """The numbers of all arms."""

    @property
    def stream(self) -> Stream:
        """The stream of the policy."""

    @property
    def rewards(self) -> Stream:
        """The streams of the arms' rewards."""


class Keys(NamedTuple):
    """The keys of the noise of a simulation."""

    rewards: Key
    logs: Key
    policy: Key


def keys_of(seed: int, policy: str) -> Keys:
    """The keys of a policy, given by its name, under a seed."""
    return Keys(key(seed, "rewards"), key(seed, "logs"), key(seed, f"policy/{policy}"))


def lay_out(world: World, policy: Policy) -> Desk:
    """A desk for the runs of a policy."""
    belief = kept_belief(type(policy))
    beliefs = 0 if belief is None else len(belief._fields)
    return desk_with(world, policy.memory + beliefs)


def desk_with(world: World, memory: int) -> Desk:
    """A desk with `memory` numbers for each arm."""
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
    return Desk(evidence, np.empty(4, np.uint64), np.empty((arms, 4), np.uint64))


@apart
def prepare(world: World, keys: Keys, run: int, desk: AnyDesk) -> None:
    """Clear the desk, draw the logs, and put every stream at its start."""
    clear(desk.evidence)
    if world.instances.shape[0] > 0:
        settle(world, run)
    draw_logs(world, keys, run, desk)
    for arm in range(world.online.size):
        start(desk.rewards[arm], keys.rewards, run, arm)
    start(desk.stream, keys.policy, run, 0)


def clear(evidence: Evidence) -> None:
    """Go back to before the first round."""
    for arm in range(evidence.pulls.size):
        evidence.pulls[arm] = 0
        evidence.pending[arm] = 0
        evidence.totals[arm] = 0.0
        for column in range(evidence.memory.shape[1]):
            evidence.memory[arm, column] = 0.0


def draw_logs(world: World, keys: Keys, run: int, desk: AnyDesk) -> None:
    """Set the offline mean of each arm that has logs: drawn anew, unless it is given."""
    for arm in range(world.online.size):
        if world.offline_pulls[arm] > 0:
            if world.given:
                desk.evidence.offline_means[arm] = world.offline[arm]
            else:
                start(desk.stream, keys.logs, run, arm)
                mean = draw_mean(world, arm, world.offline_pulls[arm], desk.stream)
                desk.evidence.offline_means[arm] = mean
