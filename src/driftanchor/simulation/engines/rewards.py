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
    noise: float
    given: bool  # the offline means are what was logged, and are not drawn
    delay: int
    batch: int
    pool: Floats  # observed rewards, arm after arm
    ends: Ints  # where each arm's begin in it, and where the last arm's end


def world_of(bandit: Bandit) -> World:
    """A bandit as the loops see it."""
    pools = bandit.pools or (np.zeros(0),)
    return World(
        bandit.online,
        bandit.offline,
        bandit.offline_pulls,
        bandit.bias_bound,
        bandit.relative_bound,
        bandit.gaps,
        len(LAWS) if bandit.reward == RESAMPLED else LAWS.index(bandit.reward),
        bandit.noise,
        bandit.logs == "given",
        bandit.delay,
        bandit.batch,
        np.concatenate(pools),
        np.cumsum([0, *map(len, pools)]),
    )


def draw_reward(world: World, arm: int, stream: Stream) -> float:
    """The next reward of an arm."""
    mean: float = world.online[arm]
    if world.law == GAUSSIAN:
        return mean + world.noise * normal(stream)
    if world.law == BERNOULLI:
        return (uniform(stream) < mean) * 1.0
    if world.law == STUDENT:
        return mean + world.noise * student(stream)
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
    if world.law == BERNOULLI:
        return binomial(pulls, mean, stream) / pulls
    if world.law == GAUSSIAN:
        return mean + world.noise / math.sqrt(pulls) * normal(stream)
    total = 0.0
    for _ in range(pulls):
        total += student(stream)
    return mean + world.noise * total / pulls
