"""A way to play the loop of any engine interpreted, also of those that are always compiled."""

from __future__ import annotations

import numpy as np

from driftanchor import Bandit, Policy
from driftanchor.compiled import rules
from driftanchor.core.check import Floats, Ints
from driftanchor.core.noise import wrapping
from driftanchor.simulation.chunk import ENGINES
from driftanchor.simulation.engine import allocate, keys_of, play_every_round
from driftanchor.simulation.leaping import allocate_leaping, can_leap, play_leaping
from driftanchor.simulation.world import world_of


def played(
    engine: str, policy: Policy, bandit: Bandit, *, checkpoints: list[int], runs: int, seed: int
) -> tuple[Floats, Ints]:
    """Regret by (run, checkpoint), and pulls by (run, arm)."""
    world, rounds, keys = world_of(bandit), np.array(checkpoints), keys_of(seed, policy.name)
    regret = np.empty((runs, rounds.size))
    pulls = np.empty((runs, world.online.size), np.int64)
    before = np.zeros(1), world, keys, 0, rounds
    with wrapping(), np.errstate(divide="ignore"):  # as compiled: x/0 is ∞
        if ENGINES[engine].leaps and can_leap(type(policy), bandit):
            leaping = allocate_leaping(world, policy, single=ENGINES[engine].paired)
            assert play_leaping(rules.law_writer(policy), *before, leaping, regret, pulls)
        else:
            state = allocate(world, policy)
            assert play_every_round(rules.chooser(policy), *before, state, regret, pulls)
    return regret, pulls
