"""Simulated bandits, the runs of policies in them, and their results."""

from driftanchor.simulation.bandit import COVERAGES, LAWS, Bandit, cover
from driftanchor.simulation.chunk import ENGINE_NAMES, ENGINES
from driftanchor.simulation.instances import Law, instance_of, random_bandit
from driftanchor.simulation.result import STATISTICS, Result
from driftanchor.simulation.run import simulate

__all__ = [
    "COVERAGES",
    "ENGINES",
    "ENGINE_NAMES",
    "LAWS",
    "STATISTICS",
    "Bandit",
    "Law",
    "Result",
    "cover",
    "instance_of",
    "random_bandit",
    "simulate",
]
