"""Simulated bandits, the runs of policies in them, and their results."""

from driftanchor.simulation.bandit import LAWS, Bandit
from driftanchor.simulation.coverage import COVERAGES, cover
from driftanchor.simulation.engines import ENGINE_NAMES, ENGINES
from driftanchor.simulation.result import STATISTICS, Result
from driftanchor.simulation.run import simulate

__all__ = [
    "COVERAGES",
    "ENGINES",
    "ENGINE_NAMES",
    "LAWS",
    "STATISTICS",
    "Bandit",
    "Result",
    "cover",
    "simulate",
]
