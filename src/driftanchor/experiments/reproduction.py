"""Reproduction: what was run, what it measured, and what that says of the claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftanchor.core.record import encode
from driftanchor.experiments import tail
from driftanchor.experiments.claims import Claim, Judgement
from driftanchor.experiments.spec import Cell, Experiment
from driftanchor.experiments.sweep import Outcomes
from driftanchor.simulation.result import Result
from driftanchor.version import __version__

SMOKE = "smoke run: no evidence"
Statistics = dict[str, dict[str, float]]


@dataclass(frozen=True, eq=False)
class Reproduction:
    """Experiments with their outcomes and judged claims.

    Attributes:
        experiments: What was run, in order.
        paper: The names of those that are the paper's, as it is inside the package.
        outcomes: By (cell id, policy label).
        judgements: Of the claims all of whose cells were run.
        left_out: The other claims.
        seed: Of all noise.
        quick: Whether it is a smoke run.
        changes: How effort differs from the files', such as `"reduced: 20 runs × 2,000 rounds"`.
    """

    experiments: tuple[Experiment, ...]
    paper: tuple[str, ...]
    outcomes: Outcomes
    judgements: tuple[Judgement, ...]
    left_out: tuple[Claim, ...]
    seed: int
    quick: bool
    changes: str

    def statistics(self, experiment: Experiment, cell: Cell) -> Statistics:
        """Mean, standard error, quantiles, maximum and tail of final regret, by policy label."""
        found = [self.outcomes[cell.id, label] for label in cell.policies]
        summary = Result(
            tuple(cell.policies),
            np.array([experiment.horizon]),
            np.stack([outcome.final for outcome in found])[:, :, None],
            np.stack([outcome.pulls for outcome in found]),
            self.seed,
            "kept",
        ).summary()
        for label, outcome in zip(cell.policies, found, strict=True):
            summary[label] |= tail.statistics(outcome.final, cell.bandit.gaps, experiment.horizon)
        return summary

    def counts(self) -> str:
        """How many claims hold, fail, or are left open, in words."""
        if not self.judgements:
            return "no claim judged"
        words = {"holds": "hold", "fails": "fail", "inconclusive": "inconclusive"}
        counted = Counter(judgement.verdict for judgement in self.judgements)
        return ", ".join(f"{counted[verdict]} {word}" for verdict, word in words.items())

    def stamps(self) -> list[str]:
        """What a reader must know before believing any of it."""
        return [*([SMOKE] if self.quick else []), *([self.changes] if self.changes else [])]

    def claims(self) -> list[dict[str, Any]]:
        """The judged claims for programs."""
        return [strict(judgement.to_json()) for judgement in self.judgements]

    def to_json(self) -> dict[str, Any]:
        """Everything for programs."""
        return {
            "cells": [
                {"id": cell.id, "policies": strict(self.statistics(experiment, cell))}
                for experiment in self.experiments
                for cell in experiment.cells
            ],
            "claims": self.claims(),
            "claims_left_out": [claim.id for claim in self.left_out],
            "seed": self.seed,
            "version": __version__,
            "quick": self.quick,
            "changes": self.changes,
        }


def strict(value: Any) -> Any:
    """A value as strict JSON, which knows neither NaN nor infinity."""
    if isinstance(value, Mapping):
        return {str(key): strict(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [strict(item) for item in value]
    return encode(value) if isinstance(value, float) else value
