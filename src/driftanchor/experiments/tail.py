"""The tail of regret over runs: the runs that never recover, and how sure a quantile is."""

from __future__ import annotations

import math

from driftanchor.core.check import Floats, Ints
from driftanchor.core.stats.intervals import quantile_interval, wilson
from driftanchor.experiments.outcome import Outcome

STUCK = ("stuck", "stuck_low", "stuck_high")
STATISTICS = ("q99_low", "q99_high", *STUCK)


def statistics(outcome: Outcome, gaps: Floats | None) -> dict[str, float]:
    """An interval of the 99 % quantile, and the share of stuck runs with its interval (95 %).

    Args:
        outcome: The runs.
        gaps: What each arm falls short of the best; `None` where it differs from run to run, so
            that it is not known which runs are stuck.
    """
    share = math.nan if gaps is None else stuck_share(outcome.pulls, gaps)
    ends = (math.nan, math.nan) if gaps is None else wilson(share, outcome.final.size)
    numbers = (*q99_interval(outcome), share, *ends)
    return {name: float(x) for name, x in zip(STATISTICS, numbers, strict=True)}


def q99_interval(outcome: Outcome) -> tuple[float, float]:
    """Where the 99 % quantile of final regret is, at 95 %."""
    low, high = quantile_interval(outcome.final, 0.99, support=(0.0, outcome.most))
    return float(low), float(high)


def stuck_share(pulls: Ints, gaps: Floats) -> float:
    """The share of runs in which one arm that is not the best took more than half of the rounds.

    A run that still tries many arms is slow, but not stuck.

    Args:
        pulls: Pulls of each arm at the horizon, by (run, arm).
        gaps: What each arm falls short of the best.

    Example:
        >>> import numpy as np
        >>> runs = np.array([[90, 5, 5], [30, 60, 10], [10, 45, 45], [0, 0, 100]])
        >>> stuck_share(runs, np.array([0.0, 0.1, 0.4]))
        0.5
    """
    wrong = pulls[:, gaps > 0]
    return float((2 * wrong > pulls.sum(axis=1, keepdims=True)).any(axis=1).mean())
