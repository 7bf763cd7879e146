"""A way to play any loop of the simulator interpreted, also those that engines only compile."""

from __future__ import annotations

import numpy as np
from driftanchor.simulation.engines import Loop
from driftanchor.simulation.engines.desk import keys_of
from driftanchor.simulation.engines.rewards import world_of

from driftanchor import Bandit, Policy
from driftanchor.core.check import Floats, Ints
from driftanchor.core.noise import wrapping


def played(
    loop: Loop, policy: Policy, bandit: Bandit, *, checkpoints: list[int], runs: int, seed: int
) -> tuple[Floats, Ints]:
    """Regret by (run, checkpoint), and pulls by (run, arm)."""
    world, rounds = world_of(bandit), np.array(checkpoints)
    regret = np.empty((runs, rounds.size))
    pulls = np.empty((runs, world.online.size), np.int64)
    desk, keys = loop.lay_out(world, policy), keys_of(seed, policy.name)
    with wrapping():
        assert loop.play_runs(policy, world, keys, 0, rounds, desk, regret, pulls)
    return regret, pulls
