"""A second, naive simulator for rules without logs: NumPy's argmax over a function of all arms.

It takes the rewards of the package, so that rules without noise must play the very same arms, and
shares nothing else with it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from driftanchor import Bandit
from driftanchor.core.noise import keyed_stream, wrapping
from driftanchor.simulation.world import draw_reward, world_of

Array = npt.NDArray[np.float64]
# Pulls and reward sums of all arms, and the round: the index of every arm.
Indices = Callable[[Array, Array, int], Array]


def naive_pulls(indices: Indices, bandit: Bandit, horizon: int, seed: int, run: int) -> Array:
    """How often a rule plays each arm: first each once, in any order; nothing may tie later."""
    world, arms = world_of(bandit), len(bandit.online)
    with wrapping():
        streams = [keyed_stream(seed, "rewards", run, arm) for arm in range(arms)]
        rewards = [
            [draw_reward(world, arm, streams[arm]) for _ in range(horizon)] for arm in range(arms)
        ]
    pulls, totals = np.ones(arms), np.array([row[0] for row in rewards])
    for t in range(arms + 1, horizon + 1):
        arm = int(np.argmax(indices(pulls, totals, t)))
        totals[arm] += rewards[arm][int(pulls[arm])]
        pulls[arm] += 1
    return pulls
