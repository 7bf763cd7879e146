"""World: a bandit as the loops see it, and how its rewards are drawn.

Plain scalar code over arrays, interpreted or compiled (see
`driftanchor.simulation.engines.reference`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from driftanchor.core.binomial import binomial
from driftanchor.core.check import Floats, Ints
from driftanchor.core.hints import apart
from driftanchor.core.noise import Stream, normal, uniform
from driftanchor.simulation.bandit import LAWS, RESAMPLED, Bandit

GAUSSIAN, BERNOULLI, STUDENT = (LAWS.index(law) for law in ("gaussian", "bernoulli", "student"))


class World(NamedTuple):
    """The numbers of a bandit."""

    online: Floats
    offline: Floats
    offline_pulls: Ints
    bias_bounds: Floats
    relative_bounds: Floats
    gaps: Floats
    law: int  # the place in `LAWS`; one more for rewards that are drawn from `pool`
    noise: Floats
    given: bool  # the offline means are what was logged, and are not drawn
    delay: int
    batch: int
    pool: Floats  # observed rewards, arm after arm
    ends: Ints  # where each arm's begin in it, and where the last arm's end
    instances: Floats  # of a random bandit, by (run, online or logged, arm); otherwise of no run
    first: int  # the run of the first instance
    exact: bool  # whether the bias bounds are the true differences of an instance


def world_of(bandit: Bandit, instances: Floats | None = None, first: int = 0) -> World:
    """A bandit as the loops see it, in arrays of their own: each run may have other means."""
    pools = bandit.pools or (np.zeros(0),)
    return World(
        bandit.online.copy(),
        bandit.offline.copy(),
        bandit.offline_pulls.copy(),
        bandit.bias_bound.copy(),
        bandit.relative_bound.copy(),
        bandit.gaps,
        len(LAWS) if bandit.reward == RESAMPLED else LAWS.index(bandit.reward),
        bandit.arm_noise.copy(),
        bandit.logs == "given",
        bandit.delay,
        bandit.batch,
        np.concatenate(pools),
        np.cumsum([0, *map(len, pools)]),
        np.zeros((0, 2, len(bandit.online))) if instances is None else instances,
        first,
        bandit.exact,
    )


def settle(world: World, run: int) -> None:
    """Set the means of a run of a random bandit, and what follows from them."""
    means = world.instances[run - world.first]
    best = -math.inf
    for arm in range(world.online.size):
        world.online[arm] = means[0, arm]
        world.offline[arm] = means[1, arm]
        best = max(best, means[0, arm])
    for arm in range(world.online.size):
        world.gaps[arm] = best - world.online[arm]
        if world.exact:
            world.bias_bounds[arm] = abs(world.online[arm] - world.offline[arm])


def draw_reward(world: World, arm: int, stream: Stream) -> float:
    """The next reward of an arm."""
    mean: float = world.online[arm]
    noise: float = world.noise[arm]
    if world.law == GAUSSIAN:
        return mean + noise * normal(stream)
    if world.law == BERNOULLI:
        return (uniform(stream) < mean) * 1.0
    if world.law == STUDENT:
        return mean + noise * student(stream)
    size = world.ends[arm + 1] - world.ends[arm]
    drawn: float = world.pool[world.ends[arm] + np.int64(uniform(stream) * size)]
    return drawn


@apart
def student(stream: Stream) -> float:
    """Student's t with 3 degrees of freedom, divided by √3: of variance 1."""
    x = normal(stream)
    y, z, w = normal(stream), normal(stream), normal(stream)
    return x / math.sqrt(y * y + z * z + w * w)


def draw_mean(world: World, arm: int, pulls: int, stream: Stream) -> float:
    """The mean of `pulls` logged rewards of an arm: in one draw, where the law of it is known."""
    mean: float = world.offline[arm]
    noise: float = world.noise[arm]
    if world.law == BERNOULLI:
        return binomial(pulls, mean, stream) / pulls
    if world.law == GAUSSIAN:
        return mean + noise / math.sqrt(pulls) * normal(stream)
    total = 0.0
    for _ in range(pulls):
        total += student(stream)
    return mean + noise * total / pulls
