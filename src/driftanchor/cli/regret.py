"""What a simulation measured: a table for people, a report for programs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from driftanchor import __version__
from driftanchor.cli import world_options
from driftanchor.core.record import encode
from driftanchor.render.numbers import MISSING, count
from driftanchor.render.table import Table

if TYPE_CHECKING:
    from driftanchor.policies import Policy
    from driftanchor.simulation.bandit import Bandit
    from driftanchor.simulation.result import Result


def report(result: Result, bandit: Bandit, policies: Mapping[str, Policy]) -> dict[str, Any]:
    """What was measured, and everything needed to measure it again, for programs."""
    return {
        "policies": {
            name: {statistic: encode(x) for statistic, x in statistics.items()}
            for name, statistics in result.summary().items()
        },
        "horizon": result.horizon,
        "runs": result.runs,
        "seed": result.seed,
        "engine": result.engine,
        "checkpoints": result.checkpoints.tolist(),
        "bandit": world_options.as_json(bandit),
        "parameters": {
            name: {"policy": policy.name, **policy.parameters()}
            for name, policy in policies.items()
        },
        "version": __version__,
    }


def table(result: Result) -> Table:
    """Final regret for people, in the order in which the policies were given."""
    summary = result.summary()
    lowest = min(statistics["mean"] for statistics in summary.values())
    compared = len(summary) > 1
    digits = decimals(lowest)
    best = [i for i, x in enumerate(summary.values()) if compared and x["mean"] == lowest]
    rounds, runs = count(result.horizon, "round"), count(result.runs, "run")
    return Table(
        f"regret after {rounds}, {runs}, seed {result.seed}",
        ("policy", "mean", "± se", "median", "q90", "q99", "max"),
        tuple(
            (name, *(MISSING if math.isnan(x) else f"{x:,.{digits}f}" for x in statistics.values()))
            for name, statistics in summary.items()
        ),
        frozenset((row, 0) for row in best),
        "* lowest mean" if compared else "",
    )


def decimals(smallest: float) -> int:
    """Digits after the point that show the smallest mean to three figures, at least one.

    Example:
        >>> [decimals(x) for x in (1234.5, 56.7, 8.9, 0.0123, 0.0)]
        [1, 1, 2, 4, 1]
    """
    return max(1, min(6, 2 - math.floor(math.log10(smallest)))) if smallest > 0.0 else 1
