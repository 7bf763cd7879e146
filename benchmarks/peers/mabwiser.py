"""MABWiser, one round at a time."""

import importlib
from collections.abc import Sequence
from typing import Any

from benchmarks.peers.rewards import Reward, bernoulli, gaussian


def ts(means: Sequence[float], horizon: int) -> int:
    """Thompson sampling with Beta posteriors."""
    policies = importlib.import_module("mabwiser.mab").LearningPolicy
    return _run(policies.ThompsonSampling(), len(means), bernoulli(means), horizon)


def ucb(means: Sequence[float], horizon: int) -> int:
    """UCB1: alpha 1 is the radius √(2 log t / n)."""
    policies = importlib.import_module("mabwiser.mab").LearningPolicy
    return _run(policies.UCB1(alpha=1), len(means), gaussian(means), horizon)


def _run(policy: Any, arms: int, reward: Reward, horizon: int) -> int:
    mab = importlib.import_module("mabwiser.mab").MAB(list(range(arms)), policy, seed=0)
    mab.fit(list(range(arms)), [reward(arm) for arm in range(arms)])  # it must be fitted first
    for _ in range(horizon):
        arm = mab.predict()
        mab.partial_fit([arm], [reward(arm)])
    return horizon
