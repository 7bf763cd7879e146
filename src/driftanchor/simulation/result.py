"""Result: the regret of policies over runs and rounds, and what to make of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from driftanchor.core import check
from driftanchor.core.check import Floats, Ints
from driftanchor.core.stats.summary import standard_error, summarise
from driftanchor.errors import InvalidInput
from driftanchor.render import figure, palette
from driftanchor.render.csv_file import write_csv
from driftanchor.render.numbers import count
from driftanchor.render.tabular import Tabular, known
from driftanchor.simulation.difference import QUANTILES as QUANTILES
from driftanchor.simulation.difference import Difference, difference
from driftanchor.simulation.drawn_gaps import DrawnGaps
from driftanchor.simulation.chunk import ENGINES

STATISTICS = ("mean", "se", *QUANTILES, "max")


@dataclass(frozen=True, eq=False, repr=False)
class Result(Tabular):
    """What a simulation measured.

    Attributes:
        policies: Their names, in order.
        checkpoints: The rounds after which regret was read; the last is the horizon.
        regret: Pseudo-regret, by (policy, run, checkpoint).
        pulls: Pulls of each arm at the horizon, by (policy, run, arm).
        seed: The seed of all noise.
        engine: The engine that ran it, a key of `driftanchor.simulation.ENGINES`.
        most: The regret of playing the worst arm throughout: no run can have more.
        drawn: The largest and the smallest mean of each run, where runs draw their means.
    """

    policies: tuple[str, ...]
    checkpoints: Ints
    regret: Floats
    pulls: Ints
    seed: int
    engine: str
    most: float
    drawn: DrawnGaps | None = None

    @property
    def horizon(self) -> int:
        """The last round."""
        return int(self.checkpoints[-1])

    @property
    def runs(self) -> int:
        """Runs of each policy."""
        return int(self.regret.shape[1])

    def final(self, policy: str) -> Floats:
        """The regret of each run of a policy at the horizon."""
        check.choice(policy, "policy", self.policies)
        return self.regret[self.policies.index(policy), :, -1]

    def summary(self) -> dict[str, dict[str, float]]:
        """Mean, its standard error, median, 90 % and 99 % quantile and maximum of final regret."""
        return {policy: summarise(self.final(policy), QUANTILES) for policy in self.policies}

    def compare(
        self, first: str, second: str, *, statistic: str = "mean", level: float = 0.95
    ) -> Difference:
        """The final regret of one policy minus that of another, with an interval.

        The interval is right whatever the law of regret, rare ruinous runs included, and for the
        mean also if runs were added before: see `driftanchor.core.stats.bounded_mean`. If each
        run draws its own means, a run loses at most its own largest gap in each round.

        Args:
            first: A policy.
            second: The policy that is subtracted.
            statistic: `"mean"`, `"median"`, `"q90"` or `"q99"`.
            level: How often such intervals are to hold the true difference.

        Example:
            >>> from driftanchor import Bandit, simulate
            >>> effort = {"horizon": 50, "runs": 500, "seed": 1, "engine": "interpreted"}
            >>> found = simulate(["ts", "ucb"], Bandit([0.9, 0.1]), **effort).compare("ts", "ucb")
            >>> print(found)
            mean regret of ts − ucb: 0.357 (−0.287 to 1.00) at 95 %, 500 runs with the same rewards
        """
        one, other = self.final(first), self.final(second)
        if first == second:
            raise InvalidInput(f"is {second!r} twice: name two policies", argument="second")
        paired = ENGINES[self.engine].paired
        finals = {first: one, second: other}
        return difference(
            finals,
            self.horizon,
            self.most,
            self.drawn,
            statistic=statistic,
            level=level,
            paired=paired,
        )

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
        """One row for each policy, run and checkpoint; nothing is left behind if writing fails.

        Args:
            path: The file.
            escape_formulas: Put an apostrophe before names of policies that a spreadsheet would
                run as a formula, such as `=1+1`.
        """
        check.flag(escape_formulas, "escape_formulas")
        heading = ("policy", "run", "round", "regret")
        write_csv(path, heading, self._rows(), escape_formulas=escape_formulas)

    def _rows(self) -> Iterator[tuple[object, ...]]:
        for policy, runs in zip(self.policies, self.regret, strict=True):
            for run, curve in enumerate(runs):
                for t, lost in zip(self.checkpoints.tolist(), curve.tolist(), strict=True):
                    yield policy, run, t, lost

    def plot(self, path: str | os.PathLike[str]) -> None:
        """Mean regret over the rounds with a band of one standard error, as PNG, PDF or SVG."""
        figure.check_suffix(path)
        looks = palette.looks({policy: policy for policy in self.policies})
        rounds = np.concatenate([[0], self.checkpoints]).astype(np.float64)
        with figure.sheet():
            drawn = figure.blank(6.4, 4.2)
            axes = drawn.subplots()
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
            figure.legend(drawn, looks)
            figure.write(drawn, path)
