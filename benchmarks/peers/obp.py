"""Open Bandit Pipeline, one round at a time.

Its package of policies imports PyTorch for a policy that is not played here. An empty package in
its place lets the module with Bernoulli TS load as it is, without gigabytes.
"""

import importlib
import importlib.util
import sys
import types
from collections.abc import Sequence

from benchmarks.peers.rewards import bernoulli


def ts(means: Sequence[float], horizon: int) -> int:
    """Thompson sampling with Beta posteriors."""
    policy = _context_free().BernoulliTS(n_actions=len(means), random_state=0)
    reward = bernoulli(means)
    for _ in range(horizon):
        arm = int(policy.select_action()[0])
        policy.update_params(action=arm, reward=reward(arm))
    return horizon


def _context_free() -> types.ModuleType:
    if "obp.policy" not in sys.modules:
        package = types.ModuleType("obp.policy")
        package.__path__ = [f"{importlib.import_module('obp').__path__[0]}/policy"]
        sys.modules["obp.policy"] = package
    return importlib.import_module("obp.policy.contextfree")
