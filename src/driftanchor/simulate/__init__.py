"""Simulated worlds, the runs of policies in them, and their results."""

from driftanchor.simulate.bandit import COVERAGES, LAWS, Bandit, cover
from driftanchor.simulate.result import STATISTICS, Result
from driftanchor.simulate.run import ENGINES, simulate

__all__ = ["COVERAGES", "ENGINES", "LAWS", "STATISTICS", "Bandit", "Result", "cover", "simulate"]
