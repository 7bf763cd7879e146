"""PyBandits, one round at a time."""

import importlib
from collections.abc import Sequence

from benchmarks.peers.rewards import bernoulli


def ts(means: Sequence[float], horizon: int) -> int:
    """Thompson sampling with Beta posteriors."""
    smab = importlib.import_module("pybandits.smab").SmabBernoulli
    labels = {str(arm): arm for arm in range(len(means))}
    policy = smab.cold_start(action_ids=set(labels), random_seed=0)
    reward = bernoulli(means)
    for _ in range(horizon):
        chosen = policy.predict(n_samples=1)[0]
        policy.update(actions=chosen, rewards=[reward(labels[chosen[0]])])
    return horizon
