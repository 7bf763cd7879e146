"""Mabby, by its own simulator."""

import importlib
from collections.abc import Sequence
from typing import Any


def ts(means: Sequence[float], horizon: int) -> int:
    """Thompson sampling with Beta posteriors."""
    mabby = importlib.import_module("mabby")
    strategies = importlib.import_module("mabby.strategies")
    bandit = mabby.BernoulliArm.bandit(p=list(means), seed=0)
    return _run(strategies.BetaTSStrategy(), bandit, horizon)


def ucb(means: Sequence[float], horizon: int) -> int:
    """UCB1: alpha √2 is the radius √(2 log t / n)."""
    mabby = importlib.import_module("mabby")
    strategies = importlib.import_module("mabby.strategies")
    bandit = mabby.GaussianArm.bandit(loc=list(means), scale=[1.0] * len(means), seed=0)
    return _run(strategies.UCB1Strategy(alpha=2**0.5), bandit, horizon)


def _run(strategy: Any, bandit: Any, horizon: int) -> int:
    mabby = importlib.import_module("mabby")
    simulation = mabby.Simulation(bandit=bandit, strategies=[strategy], seed=0)
    simulation.run(trials=1, steps=horizon, metrics=[mabby.Metric.REGRET])
    return horizon
