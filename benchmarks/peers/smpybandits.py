"""SMPyBandits, one round at a time."""

import importlib
from collections.abc import Sequence
from typing import Any

from benchmarks.peers.rewards import gaussian


def ts(means: Sequence[float], horizon: int) -> int:
    """Thompson sampling with its Gaussian posterior."""
    policies = importlib.import_module("SMPyBandits.Policies")
    gauss = importlib.import_module("SMPyBandits.Policies.Posterior").Gauss
    return _run(policies.Thompson(len(means), posterior=gauss), means, horizon)


def ucb(means: Sequence[float], horizon: int) -> int:
    """UCB1: alpha 4 is the radius √(2 log t / n)."""
    policies = importlib.import_module("SMPyBandits.Policies")
    return _run(policies.UCBalpha(len(means), alpha=4), means, horizon)


def _run(policy: Any, means: Sequence[float], horizon: int) -> int:
    reward = gaussian(means)
    policy.startGame()
    for _ in range(horizon):
        arm = policy.choice()
        policy.getReward(arm, reward(arm))
    return horizon
