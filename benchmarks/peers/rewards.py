"""Rewards for peers that have no simulator: as cheap as Python draws them."""

import random
from collections.abc import Callable, Sequence

Reward = Callable[[int], float]


def gaussian(means: Sequence[float]) -> Reward:
    """The reward of an arm, normal with deviation 1."""
    draw = random.Random(0).gauss
    return lambda arm: draw(means[arm], 1.0)


def bernoulli(means: Sequence[float]) -> Callable[[int], int]:
    """The reward of an arm, 0 or 1."""
    draw = random.Random(0).random
    return lambda arm: int(draw() < means[arm])
