"""Result: the regret of policies over runs and rounds, and what to make of it."""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass

import numpy as np

from driftanchor.core import check
from driftanchor.core.check import Floats, Ints
from driftanchor.files import write_whole
from driftanchor.render import figure, palette

STATISTICS = ("mean", "se", "median", "q90", "q99", "max")


@dataclass(frozen=True, eq=False)
class Result:
    """What a simulation measured.

    Attributes:
        policies: Their names, in order.
        checkpoints: The rounds after which regret was read; the last is the horizon.
        regret: Pseudo-regret, by (policy, run, checkpoint).
        pulls: Pulls of each arm at the horizon, by (policy, run, arm).
        seed: The seed of all noise.
        engine: What ran it.
    """

    policies: tuple[str, ...]
    checkpoints: Ints
    regret: Floats
    pulls: Ints
    seed: int
    engine: str

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
        return {policy: final_statistics(self.final(policy)) for policy in self.policies}

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """One row for each policy, run and checkpoint; nothing is left behind if writing fails."""
        with write_whole(path) as file, file.open("w", newline="", encoding="utf-8") as out:
            rows = csv.writer(out)
            rows.writerow(["policy", "run", "round", "regret"])
            for policy, runs in zip(self.policies, self.regret, strict=True):
                for run, curve in enumerate(runs):
                    for t, lost in zip(self.checkpoints.tolist(), curve.tolist(), strict=True):
                        rows.writerow([policy, run, t, lost])

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


def standard_error(values: Floats) -> Floats:
    """Standard error of the mean over the first axis; NaN for a single run."""
    n = values.shape[0]
    if n < 2:
        return np.full(values.shape[1:], np.nan)
    return np.asarray(values.std(axis=0, ddof=1) / np.sqrt(n))


def final_statistics(final: Floats) -> dict[str, float]:
    """Mean, its standard error, median, 90 % and 99 % quantile and maximum over runs."""
    median, q90, q99 = np.quantile(final, [0.5, 0.9, 0.99])
    numbers = (final.mean(), standard_error(final), median, q90, q99, final.max())
    return {name: float(x) for name, x in zip(STATISTICS, numbers, strict=True)}
