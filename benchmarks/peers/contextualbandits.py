"""Contextualbandits, one round at a time, with one feature that is always 1."""

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.peers.rewards import gaussian


def ts(means: Sequence[float], horizon: int) -> int:
    """Linear Thompson sampling."""
    online = importlib.import_module("contextualbandits.online")
    policy = online.LinTS(len(means), v_sq=1.0, fit_intercept=False, random_state=1)
    return _run(policy, means, horizon)


def ucb(means: Sequence[float], horizon: int) -> int:
    """LinUCB."""
    online = importlib.import_module("contextualbandits.online")
    policy = online.LinUCB(len(means), alpha=1.0, fit_intercept=False, random_state=1)
    return _run(policy, means, horizon)


def _run(policy: Any, means: Sequence[float], horizon: int) -> int:
    one, reward = np.ones((1, 1)), gaussian(means)
    for _ in range(horizon):
        arm = policy.predict(one)
        policy.partial_fit(one, arm, np.array([reward(int(arm[0]))]))
    return horizon
