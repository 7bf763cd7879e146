"""River, one round at a time."""

import importlib
from collections.abc import Sequence
from typing import Any

from benchmarks.peers.rewards import gaussian


def ts(means: Sequence[float], horizon: int) -> int:
    """Thompson sampling with its Gaussian."""
    bandit, proba = importlib.import_module("river.bandit"), importlib.import_module("river.proba")
    return _run(bandit.ThompsonSampling(reward_obj=proba.Gaussian(), seed=0), means, horizon)


def ucb(means: Sequence[float], horizon: int) -> int:
    """UCB1: delta 1 is the radius √(2 log t / n)."""
    bandit = importlib.import_module("river.bandit")
    return _run(bandit.UCB(delta=1, seed=0), means, horizon)


live = ts  # one round at a time in any case


def _run(policy: Any, means: Sequence[float], horizon: int) -> int:
    arms, reward = range(len(means)), gaussian(means)
    for _ in range(horizon):
        arm = policy.pull(arms)
        policy.update(arm, reward(arm))
    return horizon
