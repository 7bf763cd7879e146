"""The rewards of the leader while its mean stays within a band: three ways to draw them.

As in `driftanchor.simulation.engines.leaping.leader_rewards`, the position is the sum of the
rewards minus the lower end of the band for each pull. Here it must also stay below a top. Each way
gives the number of pulls, and the position after them; it stops with the first pull after which
the position is, or may have been, outside. `docs/reference/engines.md` says why each is exact.
"""

from __future__ import annotations

import math

from driftanchor.core.binomial import binomial
from driftanchor.core.hints import apart
from driftanchor.core.noise import Stream, normal, uniform
from driftanchor.simulation.engines.rewards import World, draw_reward

IMAGES = (
    5  # reflections on either side: the next term is below 1e-21 where the band is σ√steps wide
)


@apart
def steps_within(
    world: World, arm: int, start: float, top: float, low: float, steps: int, stream: Stream
) -> tuple[int, float]:
    """Every reward drawn: any law of rewards."""
    position = start
    for step in range(1, steps + 1):
        position += draw_reward(world, arm, stream) - low
        if not 0.0 < position < top:
            return step, position
    return steps, position


@apart
def blocks_within(
    start: float, top: float, mean: float, low: float, steps: int, stream: Stream
) -> tuple[int, float]:
    """Bernoulli rewards, in blocks so short that only the last reward can leave the band."""
    position, taken = start, 0
    while taken < steps and 0.0 < position < top:
        block = float(steps - taken)
        if low > 0.0:  # a row of zeros
            block = min(block, math.floor(position / low) + 1.0)
        if top < math.inf:  # a row of ones
            block = min(block, math.floor((top - position) / (1.0 - low)) + 1.0)
        count = max(int(block), 1)
        position += binomial(count, mean, stream) - low * count
        taken += count
    return taken, position


@apart
def walk_within(
    start: float, top: float, drift: float, noise: float, steps: int, stream: Stream
) -> tuple[int, float]:
    """Gaussian rewards: a walk from within (0, top), stopped after a path through it left the band.

    A Brownian path goes through the walk. In blocks of at most (top/σ)² steps, one normal draw
    gives the end of a block, and `stays` the chance that the path stayed inside.
    """
    taken, position = 0, start
    while taken < steps:
        block = steps - taken
        if top < math.inf:
            block = min(block, max(1, int(min((top / noise) ** 2, 1e15))))
        end = position + drift * block + noise * math.sqrt(block) * normal(stream)
        if uniform(stream) >= stays(position, end, top, noise * noise * block):
            step, end = first_exit(position, end, top, noise, block, stream)
            return taken + step, end
        taken, position = taken + block, end
    return taken, position


@apart
def stays(start: float, end: float, top: float, variance: float) -> float:
    """The chance that a Brownian path between two places stays within (0, top)."""
    if not (0.0 < end < top and 0.0 < start < top):
        return 0.0
    if top == math.inf:
        return 1.0 - math.exp(-2.0 * start * end / variance)
    chance = 0.0
    for j in range(-IMAGES, IMAGES + 1):
        shift = j * top
        chance += math.exp(-2.0 * shift * (shift + end - start) / variance)
        chance -= math.exp(-2.0 * (shift + start) * (shift + end) / variance)
    return min(max(chance, 0.0), 1.0)


@apart
def first_exit(
    start: float, end: float, top: float, noise: float, steps: int, stream: Stream
) -> tuple[int, float]:
    """The step within which a path that left the band first did, and the position after it.

    By halving: a middle is drawn as if nothing were known, and taken with the chance that a path
    through it leaves the band.
    """
    low, high = 0, steps
    while high - low > 1:
        middle = (low + high) // 2
        left, right, both = middle - low, high - middle, high - low
        while True:
            x = start + (end - start) * left / both
            x += noise * math.sqrt(left / both * right) * normal(stream)
            before = stays(start, x, top, noise * noise * left)
            never = before * stays(x, end, top, noise * noise * right)
            u = uniform(stream)
            if u < 1.0 - never:
                break
        if u < 1.0 - before:
            high, end = middle, x
        else:
            low, start = middle, x
    return high, end
