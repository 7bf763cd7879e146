"""Identification: how many pulls it took to know the best arm, and how often that was wrong."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from driftanchor.best_arm.lucb import UNDECIDED
from driftanchor.core import check
from driftanchor.core.check import Bools, Ints
from driftanchor.core.stats.intervals import Estimate, wilson
from driftanchor.core.stats.summary import summarise
from driftanchor.render.csv_file import write_csv
from driftanchor.render.numbers import count
from driftanchor.render.tabular import Tabular, known

QUANTILES = {"median": 0.5, "q90": 0.9, "q99": 0.99}


@dataclass(frozen=True, eq=False, repr=False)
class Identification(Tabular):
    """What `identify` measured.

    Attributes:
        rules: `"lucb-h"` uses the logs and their bias bounds, `"lucb"` no logs, and `"trusting"` is
            LUCB-H with bias bounds of 0, whatever was promised.
        pulls: Online pulls until the rule stopped, by (rule, run); `most_pulls` or one less where
            it did not.
        answers: The column of the arm that it named, by (rule, run); −1 where it did not stop.
        best: The column of the best arm; by run where each run draws its means.
        delta: The chance of a wrong answer that was allowed.
        radius: The radius of the bounds.
        most_pulls: Pulls after which a run was given up.
        seed: The seed of all noise.
    """

    rules: tuple[str, ...]
    pulls: Ints
    answers: Ints
    best: int | Ints
    delta: float
    radius: str
    most_pulls: int
    seed: int

    @property
    def runs(self) -> int:
        """Runs of each rule."""
        return int(self.pulls.shape[1])

    def stopped(self, rule: str) -> float:
        """The share of the runs of a rule that stopped."""
        return float((self._answers(rule) != UNDECIDED).mean())

    def error(self, rule: str) -> Estimate:
        """The share of all runs that named a wrong arm, with Wilson's 95 % interval."""
        share = float(self._wrong(rule).mean())
        return Estimate(share, *wilson(share, self.runs))

    def summary(self) -> dict[str, dict[str, float]]:
        """For each rule its pulls (mean, standard error, quantiles, maximum), stops and errors."""
        return {rule: self._statistics(rule) for rule in self.rules}

    def _statistics(self, rule: str) -> dict[str, float]:
        pulls = self.pulls[self.rules.index(rule)].astype(float)
        error = self.error(rule)
        return {
            **summarise(pulls, QUANTILES),
            "stopped": self.stopped(rule),
            "error": error.value,
            "error_low": error.low,
            "error_high": error.high,
        }

    def _answers(self, rule: str) -> Ints:
        check.choice(rule, "rule", self.rules)
        answers: Ints = self.answers[self.rules.index(rule)]
        return answers

    def _wrong(self, rule: str) -> Bools:
        answers = self._answers(rule)
        wrong: Bools = (answers != UNDECIDED) & (answers != self.best)
        return wrong

    def _line(self) -> str:
        allowed = f"δ = {self.delta:g}, {self.radius} radius"
        return f"{', '.join(self.rules)}: {count(self.runs, 'run')}, {allowed}, seed {self.seed}"

    def _caption(self) -> str:
        return f"Pulls until the best arm is known: {self._line()}"

    def _columns(self) -> dict[str, list[object]]:
        rows = self.summary()
        names = next(iter(rows.values()))
        numbers = {name: known([row[name] for row in rows.values()]) for name in names}
        return {"rule": list(rows), **numbers}

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """One row for each rule and run; the answer is the number of an arm, empty if undecided."""
        write_csv(path, ("rule", "run", "pulls", "answer"), self._rows())

    def _rows(self) -> Iterator[tuple[object, ...]]:
        for rule, pulls, answers in zip(
            self.rules, self.pulls.tolist(), self.answers.tolist(), strict=True
        ):
            for run, (taken, answer) in enumerate(zip(pulls, answers, strict=True)):
                yield rule, run, taken, "" if answer == UNDECIDED else answer + 1
