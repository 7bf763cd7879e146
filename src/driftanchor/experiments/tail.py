"""The tail of regret over runs: the runs that never recover, and how sure a quantile is."""

from __future__ import annotations

from driftanchor.core.check import Floats
from driftanchor.core.stats.intervals import quantile_interval, wilson

STUCK = ("stuck", "stuck_low", "stuck_high")
STATISTICS = ("q99_low", "q99_high", *STUCK)


def statistics(final: Floats, gaps: Floats, horizon: int) -> dict[str, float]:
    """An interval of the 99 % quantile, and the share of stuck runs with its interval (95 %)."""
    share = stuck_share(final, gaps, horizon)
    numbers = (*quantile_interval(final, 0.99), share, *wilson(share, final.size))
    return {name: float(x) for name, x in zip(STATISTICS, numbers, strict=True)}


def stuck_share(final: Floats, gaps: Floats, horizon: int) -> float:
    """The share of runs that lost more than half of what the second best arm loses.

    Example:
        >>> import numpy as np
        >>> stuck_share(np.array([10.0, 49.0, 51.0, 90.0]), np.array([0.0, 0.1, 0.4]), 1000)
        0.5
    """
    worse = gaps[gaps > 0]
    if not worse.size:
        return 0.0
    return float((final > worse.min() * horizon / 2).mean())
