"""The rewards of the leader, played again and again while its mean stays above a barrier.

Each of the three ways gives the number of pulls, at most so many, and the leader's position after
them: the sum of its rewards minus the barrier for each pull, above 0 exactly while the mean is
above the barrier. It stops with the first pull after which the position is, or may have been, at
or below 0. `docs/reference/engines.md` says why each is exact.
"""

from __future__ import annotations

import math

from driftanchor.core.binomial import binomial
from driftanchor.core.hints import apart
from driftanchor.core.noise import Stream, normal, uniform
from driftanchor.simulation.engines.rewards import World, draw_reward


def one_by_one(
    world: World, arm: int, start: float, barrier: float, steps: int, stream: Stream
) -> tuple[int, float]:
    """Every reward drawn: any law of rewards."""
    position = start
    for step in range(1, steps + 1):
        position += draw_reward(world, arm, stream) - barrier
        if position <= 0.0:
            return step, position
    return steps, position


@apart
def in_blocks(
    start: float, mean: float, barrier: float, steps: int, stream: Stream
) -> tuple[int, float]:
    """Bernoulli rewards, in blocks so short that even a row of zeros stays above the barrier."""
    position, taken = start, 0
    while taken < steps and position > 0.0:
        block = steps - taken
        if barrier * block > position:  # with one more zero than fits it may end below
            block = min(block, int(position / barrier) + 1)
        position += binomial(block, mean, stream) - barrier * block
        taken += block
    return taken, position


@apart
def walk(start: float, drift: float, noise: float, steps: int, stream: Stream) -> tuple[int, float]:
    """Gaussian rewards: a walk from `start` > 0, stopped after a path through it touched 0.

    A Brownian path goes through the walk. Given its end above 0, the path touched 0 with the
    chance of reflection; a path that did is reflected after the first touch, so that it ends below
    0, and the touch is found by halving. The walk stops at the first whole step after it.
    """
    end = start + drift * steps + noise * math.sqrt(steps) * normal(stream)
    turned = end > 0.0
    if turned:
        if uniform(stream) >= math.exp(-2.0 * start * end / (noise * noise * steps)):
            return steps, end
        end = -end
    low, high = 0, steps
    while high - low > 1:
        middle = (low + high) // 2
        left, right, both = middle - low, high - middle, high - low
        x = start + (end - start) * left / both
        x += noise * math.sqrt(left / both * right) * normal(stream)
        if x <= 0.0:
            high, end = middle, x
        elif uniform(stream) < math.exp(-2.0 * start * x / (noise * noise * left)):
            high, end, turned = middle, -x, not turned
        else:
            low, start = middle, x
    return high, -end if turned else end
