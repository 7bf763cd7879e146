"""Difference: how much more one policy loses than another, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driftanchor.core import check
from driftanchor.core.check import Floats
from driftanchor.core.stats.bounded_mean import hedged_mean_interval
from driftanchor.core.stats.intervals import Estimate, mean_contrast, quantile_contrast
from driftanchor.render.numbers import count, interval, rounded
from driftanchor.simulation.drawn_gaps import DrawnGaps

QUANTILES = {"median": 0.5, "q90": 0.9, "q99": 0.99}


@dataclass(frozen=True, repr=False)
class Difference:
    """The final regret of one policy minus that of another.

    Attributes:
        first: The policy that it is of.
        second: The policy that is subtracted.
        statistic: What of their regret: `"mean"`, `"median"`, `"q90"` or `"q99"`.
        estimate: The difference that was measured; negative where the first loses less.
        low: The lower end of the interval.
        high: The upper end.
        level: How often such intervals hold the true difference.
        runs: Runs of each policy.
        paired: Whether both policies met the same rewards, and not only the same logs.
    """

    first: str
    second: str
    statistic: str
    estimate: float
    low: float
    high: float
    level: float
    runs: int
    paired: bool

    def __str__(self) -> str:
        shown = f"{rounded(self.estimate)} ({interval(self.low, self.high)})"
        met = "the same rewards" if self.paired else "the same logs and other rewards"
        return (
            f"{self.statistic} regret of {self.first} − {self.second}: {shown} at "
            f"{100 * self.level:g} %, {count(self.runs, 'run')} with {met}"
        )

    def __repr__(self) -> str:
        return f"<Difference: {self}>"


def difference(
    finals: dict[str, Floats],
    horizon: int,
    most: float,
    drawn: DrawnGaps | None,
    *,
    statistic: str,
    level: float,
    paired: bool,
) -> Difference:
    """Compare the final regrets of two policies.

    Runs are taken in pairs. That is right with the same rewards and with others: a run of both
    policies is independent of the next one, whatever the two have in common.

    Args:
        finals: The final regrets of two policies.
        horizon: Rounds in a run.
        most: The largest regret possible.
        drawn: The gaps of each run, where runs draw their means.
        statistic: `"mean"` or one of `QUANTILES`.
        level: How often such intervals are to hold the true difference.
        paired: Whether both policies met the same rewards.
    """
    (first, one), (second, other) = finals.items()
    check.choice(statistic, "statistic", ("mean", *QUANTILES))
    sure = check.number(level, "level", above=0.0, high=1.0 - 1e-12)
    factors, pairs, limits = np.array([1.0, -1.0]), np.stack([one, other]), np.full(2, most)
    if statistic != "mean":
        quantile = QUANTILES[statistic]
        if drawn is not None:  # regret is at most gap times horizon, and so are their quantiles
            limits = np.full(2, horizon * drawn.quantile(quantile))
        found = quantile_contrast(factors, pairs, limits, 1.0 - sure, quantile=quantile)
    elif drawn is None or drawn.reach_far:
        found = mean_contrast(factors, pairs, limits, 1.0 - sure)
    else:
        values, (hedges, means) = one - other, drawn.hedges()
        ends = hedged_mean_interval(values, horizon * hedges, horizon * means, 1.0 - sure)
        found = Estimate(float(values.mean()), *ends)
    return Difference(first, second, statistic, *found, sure, one.size, paired)
