"""Result: the regret of policies over runs and rounds, and comparisons of policies."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from driftanchor.core import check
from driftanchor.core.check import Floats, Ints
from driftanchor.core.stats.bounded_mean import hedged_mean_interval
from driftanchor.core.stats.intervals import Estimate, mean_contrast, quantile_contrast
from driftanchor.core.stats.summary import standard_error, summarise
from driftanchor.errors import InvalidInput
from driftanchor.render import figure, palette
from driftanchor.render.csv_file import write_csv
from driftanchor.render.numbers import count, interval, rounded
from driftanchor.render.tabular import Tabular, known
from driftanchor.simulation.bandit import Bandit
from driftanchor.simulation.chunk import ENGINES
from driftanchor.simulation.instances import Law
from driftanchor.simulation.world import drawn_means

QUANTILES = {"median": 0.5, "q90": 0.9, "q99": 0.99}
STATISTICS = ("mean", "se", *QUANTILES, "max")
CAP_EXCEEDED = (0.1, 0.003)  # P(a run's best mean exceeds its cap), for two caps; worst likewise
NEGLIGIBLE = 1e-15  # probability of the tails that an integral leaves out


@dataclass(frozen=True, eq=False, repr=False)
class Result(Tabular):
    """The regret and the pulls that a simulation measured.

    Attributes:
        policies: The names of the policies.
        checkpoints: The rounds after which regret was recorded; the last is the horizon.
        regret: Array of shape (policies, runs, checkpoints): the pseudo-regret.
        pulls: Array of shape (policies, runs, arms): the number of pulls at the horizon.
        seed: The seed of all noise.
        engine: The engine that played the runs, a key of `driftanchor.simulation.ENGINES`.
        max_regret: The regret of playing the worst arm throughout, an upper bound for every run.
        drawn: The best and the worst mean of each run, if each run draws its own means.
    """

    policies: tuple[str, ...]
    checkpoints: Ints
    regret: Floats
    pulls: Ints
    seed: int
    engine: str
    max_regret: float
    drawn: DrawnGaps | None = None

    @property
    def horizon(self) -> int:
        """Number of rounds in a run."""
        return int(self.checkpoints[-1])

    @property
    def runs(self) -> int:
        """Number of runs of each policy."""
        return int(self.regret.shape[1])

    def final(self, policy: str) -> Floats:
        """Return the regret of each run of a policy at the horizon."""
        check.choice(policy, "policy", self.policies)
        return self.regret[self.policies.index(policy), :, -1]

    def summary(self) -> dict[str, dict[str, float]]:
        """Return statistics of each policy's final regret.

        The statistics are the mean and its standard error, the median, the 90 % and 99 % quantiles,
        and the maximum.
        """
        return {policy: summarise(self.final(policy), QUANTILES) for policy in self.policies}

    def compare(
        self, first: str, second: str, *, statistic: str = "mean", level: float = 0.95
    ) -> Difference:
        """Return the final regret of one policy minus that of another, with an interval.

        The interval is valid for any distribution of regret, even with rare ruinous runs. The
        interval for the mean also stays valid if you have already looked at the results of fewer
        runs (see `driftanchor.core.stats.bounded_mean`).

        Run r of one policy is compared with run r of the other, even if the two policies got
        different rewards. This is valid because the pairs are independent of each other.

        Args:
            first: The name of a policy.
            second: The name of the policy whose regret is subtracted.
            statistic: `"mean"`, `"median"`, `"q90"` or `"q99"`.
            level: Probability that the interval contains the true difference.

        Example:
            >>> from driftanchor import Bandit, simulate
            >>> effort = {"horizon": 50, "runs": 500, "seed": 1, "engine": "interpreted"}
            >>> result = simulate(["ts", "ucb"], Bandit([0.9, 0.1]), **effort)
            >>> print(result.compare("ts", "ucb"))
            mean regret of ts − ucb: 0.357 (−0.287 to 1.00) at 95 %, 500 runs with the same rewards
        """
        one, other = self.final(first), self.final(second)
        if first == second:
            raise InvalidInput(f"is {second!r} twice: name two policies", argument="second")
        check.choice(statistic, "statistic", ("mean", *QUANTILES))
        level = check.number(level, "level", above=0.0, high=1.0 - 1e-12)
        alpha = 1.0 - level
        factors, pairs = np.array([1.0, -1.0]), np.stack([one, other])
        limits = np.full(2, self.max_regret)
        if statistic != "mean":
            quantile = QUANTILES[statistic]
            if self.drawn is not None:  # a run loses at most its largest gap in each round
                limits = np.full(2, self.horizon * self.drawn.quantile(quantile))
            estimate = quantile_contrast(factors, pairs, limits, alpha, quantile=quantile)
        elif self.drawn is None or self.drawn.are_wide:
            estimate = mean_contrast(factors, pairs, limits, alpha)
        else:
            hedges, means = self.drawn.hedges()
            ends = hedged_mean_interval(
                one - other, self.horizon * hedges, self.horizon * means, alpha
            )
            estimate = Estimate(float((one - other).mean()), *ends)
        paired = ENGINES[self.engine].paired
        return Difference(first, second, statistic, *estimate, level, one.size, paired)

    def _line(self) -> str:
        runs = f"{count(self.runs, 'run')} of {count(self.horizon, 'round')}"
        return f"{', '.join(self.policies)}: {runs}, seed {self.seed}"

    def _caption(self) -> str:
        return f"Final regret: {self._line()}"

    def _columns(self) -> dict[str, list[object]]:
        rows = self.summary()
        numbers = {name: known([row[name] for row in rows.values()]) for name in STATISTICS}
        return {"policy": list(rows), **numbers}

    def to_csv(self, path: str | os.PathLike[str], *, escape_formulas: bool = True) -> None:
        """Write one row for each policy, run and checkpoint; a failure leaves no partial file.

        Args:
            path: The file.
            escape_formulas: Put an apostrophe before a policy name that a spreadsheet would run as
                a formula, such as `=1+1`.
        """
        check.flag(escape_formulas, "escape_formulas")
        heading = ("policy", "run", "round", "regret")
        write_csv(path, heading, self._rows(), escape_formulas=escape_formulas)

    def _rows(self) -> Iterator[tuple[object, ...]]:
        for policy, runs in zip(self.policies, self.regret, strict=True):
            for run, curve in enumerate(runs):
                for t, regret in zip(self.checkpoints.tolist(), curve.tolist(), strict=True):
                    yield policy, run, t, regret

    def plot(self, path: str | os.PathLike[str]) -> None:
        """Plot mean regret ± one standard error over the rounds, as PNG, PDF or SVG."""
        figure.check_suffix(path)
        looks = palette.looks({policy: policy for policy in self.policies})
        rounds = np.concatenate([[0], self.checkpoints]).astype(np.float64)
        with figure.sheet():
            sheet = figure.blank(6.4, 4.2)
            axes = sheet.subplots()
            for policy, regret in zip(self.policies, self.regret, strict=True):
                curves = np.hstack([np.zeros((self.runs, 1)), regret])
                error, every = standard_error(curves), max(1, len(rounds) // 8)
                figure.line(axes, rounds, curves.mean(0), error, looks[policy], markevery=every)
            axes.set_xlabel("round")
            axes.set_ylabel("regret")
            axes.set_title(f"Mean of {self.runs} runs ± one standard error", fontsize="medium")
            axes.set_xlim(0, self.horizon)
            axes.set_ylim(bottom=0)
            figure.frame(axes)
            figure.legend(sheet, looks)
            figure.write(sheet, path)


@dataclass(frozen=True, repr=False)
class Difference:
    """The final regret of one policy minus that of another.

    Attributes:
        first: The name of a policy.
        second: The name of the policy whose regret is subtracted.
        statistic: The statistic compared: `"mean"`, `"median"`, `"q90"` or `"q99"`.
        estimate: The measured difference; negative if the first policy loses less.
        low: The lower end of the interval.
        high: The upper end of the interval.
        level: Probability that the interval contains the true difference.
        runs: Number of runs of each policy.
        paired: Whether both policies got the same rewards, and not only the same logs.
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
        shared = "the same rewards" if self.paired else "the same logs and other rewards"
        return (
            f"{self.statistic} regret of {self.first} − {self.second}: {shown} at "
            f"{100 * self.level:g} %, {count(self.runs, 'run')} with {shared}"
        )

    def __repr__(self) -> str:
        return f"<Difference: {self}>"


class DrawnGaps(NamedTuple):
    """The gap between the best and the worst arm of each run, if each run draws its own means.

    A run loses at most this gap in each round. All K means come from one known distribution, so
    `quantile` can bound the quantiles of the gap, and `hedges` can compute expected values.

    Attributes:
        law: The distribution of all means.
        arms: The number of arms, K.
        best: The largest mean of each run.
        worst: The smallest mean of each run.
    """

    law: Law
    arms: int
    best: Floats
    worst: Floats

    def quantile(self, q: float) -> float:
        """Return an upper bound on the q-quantile of a run's gap."""
        low, high = self._caps((1.0 - q) / 2.0)
        return high - low

    @property
    def are_wide(self) -> bool:
        """Whether gaps may often exceed half of the largest one, so that `hedges` hardly help."""
        low, high = self.law.support
        return self.quantile(1.0 - CAP_EXCEEDED[0]) > 0.5 * (high - low)

    def hedges(self) -> tuple[Floats, Floats]:
        """Return upper bounds on the gap of each run, and the expected values of the bounds.

        The bounds have shape (pairs of caps, runs). A bound is the distance between a low and a
        high cap. It is larger only in the rare runs with means outside the caps. Confidence
        intervals use the bounds instead of the gaps, because gaps vary more from run to run.
        """
        caps = [self._caps(p) for p in CAP_EXCEEDED]
        bounds = [np.maximum(self.best, high) - np.minimum(self.worst, low) for low, high in caps]
        means = [high - low + self._expected_excess(low, high) for low, high in caps]
        return np.stack(bounds), np.array(means)

    def _caps(self, p: float) -> tuple[float, float]:
        """Return (low, high) such that P(worst mean < low) = P(best mean > high) = p."""
        single = -math.expm1(math.log1p(-p) / self.arms)  # 1 − (1 − p)^(1/K)
        return self.law.quantile(single), self.law.quantile(1.0 - single)

    def _expected_excess(self, low: float, high: float) -> float:
        """Return E(best − high)⁺ + E(low − worst)⁺ for the best and the worst mean of a run."""
        from scipy import integrate

        def above(x: float) -> float:
            return 1.0 - self.law.cdf(x) ** self.arms

        def below(x: float) -> float:
            return 1.0 - (1.0 - self.law.cdf(x)) ** self.arms

        bottom, top = self.law.quantile(NEGLIGIBLE), self.law.quantile(1.0 - NEGLIGIBLE)
        accuracy = {"epsabs": 0.0, "epsrel": 1e-10}
        over, _ = integrate.quad(above, high, max(high, top), **accuracy)
        under, _ = integrate.quad(below, min(low, bottom), low, **accuracy)
        return float(over + under)


def drawn_gaps(bandit: Bandit, seed: int, runs: int, *, compiled: bool) -> DrawnGaps | None:
    """Return the gaps of the first `runs` runs; `None` if all runs have the same means."""
    if bandit.means is None:
        return None
    means = drawn_means(bandit, seed, 0, runs, compiled=compiled)[:, 0] - bandit.common_shift
    return DrawnGaps(bandit.means, len(bandit.online), means.max(axis=1), means.min(axis=1))
