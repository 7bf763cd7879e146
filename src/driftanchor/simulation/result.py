"""Result: the regret of policies over runs and rounds, and what to make of it."""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from driftanchor.core import check
from driftanchor.core.check import Floats, Ints
from driftanchor.errors import InvalidInput, require
from driftanchor.files import write_whole

PLOT_SUFFIXES = (".png", ".pdf", ".svg")
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
        engine: The engine that ran it, a key of `driftanchor.simulation.ENGINES`.
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
        return {policy: _statistics(self.final(policy)) for policy in self.policies}

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
        pyplot = require("matplotlib.figure", extra="plot", why="plotting")
        suffix = Path(str(path)).suffix.lower()
        if suffix not in PLOT_SUFFIXES:
            endings = ", ".join(PLOT_SUFFIXES)
            raise InvalidInput(f"plot file must end in one of {endings}, got {str(path)!r}")
        figure = pyplot.Figure(figsize=(6.4, 4.2), layout="constrained")
        axes = figure.subplots()
        rounds = np.concatenate([[0], self.checkpoints])
        markers = "osD^vP*Xph"
        for i, policy in enumerate(self.policies):
            curves = np.hstack([np.zeros((self.runs, 1)), self.regret[i]])
            mean, se = curves.mean(0), standard_error(curves)
            (line,) = axes.plot(
                rounds,
                mean,
                label=policy,
                marker=markers[i % len(markers)],
                markevery=max(1, len(rounds) // 8),
                markersize=5,
            )
            axes.fill_between(rounds, mean - se, mean + se, color=line.get_color(), alpha=0.2, lw=0)
        axes.set_xlabel("round")
        axes.set_ylabel("regret")
        axes.set_title(f"Mean of {self.runs} runs ± one standard error", fontsize="medium")
        axes.set_xlim(0, self.horizon)
        axes.set_ylim(bottom=0)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.3)
        for text in axes.legend(frameon=False).get_texts():
            text.set_parse_math(False)  # a dollar in a policy's name is a dollar
        with write_whole(path) as file:
            figure.savefig(file, format=suffix[1:], dpi=160)


def standard_error(values: Floats) -> Floats:
    """Standard error of the mean over the first axis; NaN for a single run."""
    n = values.shape[0]
    if n < 2:
        return np.full(values.shape[1:], np.nan)
    return np.asarray(values.std(axis=0, ddof=1) / np.sqrt(n))


def _statistics(lost: Floats) -> dict[str, float]:
    median, q90, q99 = np.quantile(lost, [0.5, 0.9, 0.99])
    numbers = (lost.mean(), standard_error(lost), median, q90, q99, lost.max())
    return {name: float(x) for name, x in zip(STATISTICS, numbers, strict=True)}
