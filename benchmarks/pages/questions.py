"""A question that a page answers: policies by worlds, and what each loses there."""

from typing import NamedTuple

from benchmarks.pages import (
    render,
)
from benchmarks.pages.losses import regrets, statistics
from driftanchor.core.check import Floats
from driftanchor.policies.base import Policy
from driftanchor.simulation import Bandit


class Case(NamedTuple):
    """One policy in one world."""

    policy: Policy
    bandit: Bandit
    horizon: int = 10_000

    def regrets(self, runs: int, seed: int) -> Floats:
        """Final regret of each run."""
        return regrets(self.policy, self.bandit, self.horizon, runs, seed)


class Question(NamedTuple):
    """Policies by worlds; with `paired` the first row is ours, subtracted from the others."""

    note: str
    columns: tuple[str, ...]
    rows: dict[str, list[Case]]
    paired: bool = True
    times: int = 1  # how many times the usual number of runs


def answer(question: Question, runs: int, seed: int) -> render.Block:
    """Measure one question."""
    runs *= question.times
    ours = next(iter(question.rows.values()))
    rows = []
    for label, cases in question.rows.items():
        cells = []
        for case, first in zip(cases, ours, strict=True):
            lost = case.regrets(runs, seed)
            cell = statistics(lost)
            if question.paired and cases is not ours:
                apart = statistics(lost - first.regrets(runs, seed))
                cell |= {"difference": apart["mean"], "difference_se": apart["se"]}
            cells.append(cell)
        rows.append({"label": label, "cells": cells})
    body = {"note": question.note, "columns": list(question.columns), "rows": rows}
    return {"kind": "readings", "runs": runs, "seed": seed, **body}
