"""PyMAB, by its own simulator, and one round at a time."""

import importlib
from collections.abc import Sequence
from typing import Any

from benchmarks.peers.rewards import gaussian

RUNS = 10  # at once, as its users would; 50 cost the same a round


def ts(means: Sequence[float], horizon: int) -> int:
    """Gaussian Thompson sampling with the prior N(0, 1)."""
    policies = importlib.import_module("pymab.policies")
    return _run(policies.GaussianThompsonSamplingPolicy(n_arms=len(means)), means, horizon)


def ucb(means: Sequence[float], horizon: int) -> int:
    """UCB with its default radius."""
    policies = importlib.import_module("pymab.policies")
    return _run(policies.UCBPolicy(n_arms=len(means)), means, horizon)


def live(means: Sequence[float], horizon: int) -> int:
    """The same Thompson sampling, one round at a time."""
    policies, numpy = importlib.import_module("pymab.policies"), importlib.import_module("numpy")
    policy = policies.GaussianThompsonSamplingPolicy(n_arms=len(means))
    rng, reward = numpy.random.default_rng(0), gaussian(means)
    for _ in range(horizon):
        arm = policy.select_action(rng=rng)
        policy.update(action=arm, reward=reward(arm))
    return horizon


def _run(policy: Any, means: Sequence[float], horizon: int) -> int:
    pymab = importlib.import_module("pymab")
    pymab.Experiment(
        environment=pymab.BanditEnvironment(means=means),
        policies={"it": policy},
        config=pymab.ExperimentConfig(horizon=horizon, n_replicates=RUNS, seed=0, backend="rust"),
    ).run()
    return RUNS * horizon
