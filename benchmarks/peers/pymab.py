"""PyMAB, by its own simulator."""

import importlib
from collections.abc import Sequence
from typing import Any

RUNS = 10  # at once, as its users would; 50 cost the same a round


def ts(means: Sequence[float], horizon: int) -> int:
    """Gaussian Thompson sampling with the prior N(0, 1)."""
    policies = importlib.import_module("pymab.policies")
    return _run(policies.GaussianThompsonSamplingPolicy(n_arms=len(means)), means, horizon)


def ucb(means: Sequence[float], horizon: int) -> int:
    """UCB with its default radius."""
    policies = importlib.import_module("pymab.policies")
    return _run(policies.UCBPolicy(n_arms=len(means)), means, horizon)


def _run(policy: Any, means: Sequence[float], horizon: int) -> int:
    pymab = importlib.import_module("pymab")
    pymab.Experiment(
        environment=pymab.BanditEnvironment(means=means),
        policies={"it": policy},
        config=pymab.ExperimentConfig(horizon=horizon, n_replicates=RUNS, seed=0, backend="rust"),
    ).run()
    return RUNS * horizon
