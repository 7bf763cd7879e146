"""World: a bandit stored as arrays for the loops, and functions that draw its means and rewards.

This is plain scalar code. Interpreted and compiled, it gives bit-identical results.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from driftanchor.compiled import kernels
from driftanchor.core.check import Floats, Ints
from driftanchor.core.noise import Key, Stream, key, normal, start, uniform, wrapping
from driftanchor.core.variates import beta, binomial
from driftanchor.simulation.bandit import LAWS, RESAMPLED, Bandit
from driftanchor.simulation.instances import KINDS, Law

GAUSSIAN, BERNOULLI, STUDENT = (LAWS.index(law) for law in ("gaussian", "bernoulli", "student"))
NORMAL, UNIFORM, BETA = (KINDS.index(kind) for kind in ("normal", "uniform", "beta"))


class World(NamedTuple):
    """A bandit stored as numbers and arrays, which compiled loops can read."""

    online: Floats
    offline: Floats
    offline_pulls: Ints
    bias_bounds: Floats
    relative_bounds: Floats
    relative: bool  # whether a relative bound is promised for any arm
    gaps: Floats
    law: int  # position in `LAWS`, or len(LAWS) if rewards are drawn from `pool`
    noise: Floats
    given: bool  # whether the logged means are given, not drawn around `offline`
    delay: int
    batch: int
    pool: Floats  # observed rewards, arm after arm
    ends: Ints  # start of each arm's rewards in `pool`, then the end of the last arm's rewards
    instances: Floats  # a random bandit's means: (runs, 2, arms), online then logged; else empty
    first: int  # number of the run that the first instance belongs to
    exact: bool  # whether the bias bounds are the true differences of an instance


def world_of(bandit: Bandit, instances: Floats | None = None, first: int = 0) -> World:
    """Copy a bandit into new arrays, which a loop may overwrite with the means of each run.

    `instances` has the means of each run from `first` on, of shape (runs, 2, arms), if each run has
    its own.
    """
    pools = bandit.pools or (np.zeros(0),)
    return World(
        bandit.online.copy(),
        bandit.offline.copy(),
        bandit.offline_pulls.copy(),
        bandit.bias_bound.copy(),
        bandit.relative_bound.copy(),
        bandit.is_relative,
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
    """Write the means and gaps of one run into `world`, if each run has its own means."""
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
    """Draw the next reward of an arm."""
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


def draw_total(world: World, arm: int, pulls: int, stream: Stream) -> float:
    """Draw the sum of an arm's next `pulls` rewards, at once for Gaussian and Bernoulli rewards."""
    mean: float = world.online[arm]
    noise: float = world.noise[arm]
    if pulls > 0 and world.law == GAUSSIAN:
        return pulls * mean + noise * math.sqrt(pulls) * normal(stream)
    if world.law == BERNOULLI:
        return float(binomial(pulls, mean, stream))
    total = 0.0
    for _ in range(pulls):
        total += draw_reward(world, arm, stream)
    return total


def student(stream: Stream) -> float:
    """Draw from Student's t with 3 degrees of freedom, scaled to variance 1."""
    x = normal(stream)
    y, z, w = normal(stream), normal(stream), normal(stream)
    return x / math.sqrt(y * y + z * z + w * w)


def draw_mean(world: World, arm: int, pulls: int, stream: Stream) -> float:
    """Draw the mean of `pulls` logged rewards, at once for Gaussian and Bernoulli rewards."""
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


class InstanceLaws(NamedTuple):
    """The distributions of a random bandit's means, as arrays that compiled loops can read."""

    means: Floats  # see `numbers_of`
    bias: Floats
    means_key: Key
    bias_key: Key
    common_shift: float
    chances: bool  # whether means are probabilities: logged means are clipped to [0, 1]


def laws_of(bandit: Bandit, seed: int) -> InstanceLaws:
    """Return the distributions of a random bandit's means, and the keys of their noise."""
    return InstanceLaws(
        numbers_of(bandit.means),
        numbers_of(bandit.bias),
        key(seed, "means"),
        key(seed, "bias"),
        bandit.common_shift,
        bandit.reward == "bernoulli",
    )


def numbers_of(law: Law | None) -> Floats:
    """Encode a distribution as its position in `KINDS`, −1 for `None`, and its two parameters."""
    if law is None:
        return np.array([-1.0, 0.0, 0.0])
    return np.array([KINDS.index(law.kind), law.first, law.second])


def drawn_means(bandit: Bandit, seed: int, first: int, runs: int, *, compiled: bool) -> Floats:
    """Draw the means of a random bandit for some runs, of shape (runs, 2, arms).

    Online means come first, then logged means. Compiled or not, the numbers are the same.
    """
    drawn = np.empty((runs, 2, len(bandit.online)))
    arguments = laws_of(bandit, seed), first, drawn, np.empty(4, np.uint64)
    draw = kernels.loop(draw_instances, *arguments) if compiled else draw_instances
    with wrapping():
        draw(*arguments)
    return drawn


def draw_instances(laws: InstanceLaws, first_run: int, drawn: Floats, stream: Stream) -> bool:
    """Draw the means of the runs from `first_run` on into `drawn`: see `drawn_means`."""
    for row in range(drawn.shape[0]):
        for arm in range(drawn.shape[2]):
            start(stream, laws.means_key, first_run + row, arm)
            mean = draw_number(laws.means, stream)
            start(stream, laws.bias_key, first_run + row, arm)
            logged = mean + draw_number(laws.bias, stream)
            drawn[row, 0, arm] = mean + laws.common_shift
            drawn[row, 1, arm] = min(max(logged, 0.0), 1.0) if laws.chances else logged
    return True


def draw_number(law: Floats, stream: Stream) -> float:
    """Draw from a distribution that `numbers_of` encoded; return 0 for `None`."""
    first: float = law[1]
    second: float = law[2]
    if law[0] == NORMAL:
        return first + second * normal(stream)
    if law[0] == UNIFORM:
        return first + (second - first) * uniform(stream)
    if law[0] == BETA:
        return beta(first, second, stream)
    return 0.0
