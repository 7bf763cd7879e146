"""Bayesianbandits, one round at a time."""

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.peers.rewards import gaussian


def ts(means: Sequence[float], horizon: int) -> int:
    """Thompson sampling with the prior N(0, 1)."""
    return _run(importlib.import_module("bayesianbandits").ThompsonSampling(), means, horizon)


def ucb(means: Sequence[float], horizon: int) -> int:
    """A quantile of the posterior, by sampling it."""
    return _run(importlib.import_module("bayesianbandits").UpperConfidenceBound(), means, horizon)


def _run(policy: Any, means: Sequence[float], horizon: int) -> int:
    library = importlib.import_module("bayesianbandits")
    arms = [
        library.Arm(arm, learner=library.NormalRegressor(alpha=1.0, beta=1.0))
        for arm in range(len(means))
    ]
    agent, reward = library.Agent(arms, policy, random_seed=0), gaussian(means)
    for _ in range(horizon):
        (arm,) = agent.pull()
        agent.update(np.array([reward(arm)]))
    return horizon
