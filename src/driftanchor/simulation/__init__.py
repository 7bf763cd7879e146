"""Simulated worlds, the runs of policies in them, and their results."""

from driftanchor.simulation.bandit import COVERAGES, LAWS, Bandit, cover
from driftanchor.simulation.result import STATISTICS, Result
from driftanchor.simulation.run import ENGINES, simulate

__all__ = ["COVERAGES", "ENGINES", "LAWS", "STATISTICS", "Bandit", "Result", "cover", "simulate"]
