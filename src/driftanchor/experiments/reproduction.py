"""Reproduction: what was run, what it measured, and what that says of the claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from driftanchor.core.record import encode
from driftanchor.core.stats.summary import summarise
from driftanchor.experiments import tail
from driftanchor.experiments.claims import WHOSE, Claim
from driftanchor.experiments.experiment import Cell, Experiment
from driftanchor.experiments.judging import JudgedClaim
from driftanchor.experiments.outcome import Outcomes
from driftanchor.render.numbers import count
from driftanchor.simulation.result import QUANTILES
from driftanchor.version import __version__

SMOKE = "smoke run: no evidence"
Statistics = dict[str, dict[str, float]]


@dataclass(frozen=True, eq=False)
class Reproduction:
    """Experiments with their outcomes and judged claims.

    Attributes:
        experiments: What was run, in order.
        paper: The names of those that come with the package, and not from files of the user.
        outcomes: By (cell id, policy label).
        judged: The claims all of whose cells were run, with their verdicts.
        left_out: The other claims.
        seed: The seed of all random numbers.
        quick: Whether it is a smoke run.
        changes: How the size differs from the files', such as `"reduced: 20 runs × 2,000 rounds"`.
    """

    experiments: tuple[Experiment, ...]
    paper: tuple[str, ...]
    outcomes: Outcomes
    judged: tuple[JudgedClaim, ...]
    left_out: tuple[Claim, ...]
    seed: int
    quick: bool
    changes: str
    _known: dict[str, Statistics] = field(default_factory=dict, init=False, repr=False)

    def statistics(self, cell: Cell) -> Statistics:
        """Mean, standard error, quantiles, maximum and tail of final regret, by policy label."""
        if cell.id not in self._known:  # several tables and files ask for them
            self._known[cell.id] = self._statistics(cell)
        return self._known[cell.id]

    def _statistics(self, cell: Cell) -> Statistics:
        found = {label: self.outcomes[cell.id, label] for label in cell.policies}
        return {
            label: {
                **summarise(outcome.final, QUANTILES),
                **tail.statistics(outcome, cell.bandit.known_gaps),
                "runs": outcome.final.size,
            }
            for label, outcome in found.items()
        }

    def judged_of(self, *whose: str) -> tuple[JudgedClaim, ...]:
        """The judged claims of the paper, of this package or of the user: keys of `WHOSE`."""
        return tuple(one for one in self.judged if one.claim.whose in whose)

    def tallies(self) -> dict[str, str]:
        """How many claims hold, fail, or are left open, by whose they are: keys of `WHOSE`."""
        return {
            whose: f"{count(len(judged), 'claim')} {words}: {_verdicts(judged)}"
            for whose, words in WHOSE.items()
            if (judged := self.judged_of(whose))
        }

    def counts(self) -> str:
        """The same in one line."""
        return "; ".join(self.tallies().values()) or "no claim judged"

    def stamps(self) -> list[str]:
        """What a reader must know before believing any of it."""
        return [*([SMOKE] if self.quick else []), *([self.changes] if self.changes else [])]

    def claims(self) -> list[dict[str, Any]]:
        """The judged claims for programs."""
        return [strict(claim.to_json()) for claim in self.judged]

    def to_json(self) -> dict[str, Any]:
        """Everything for programs."""
        return {
            "cells": [
                {"id": cell.id, "policies": strict(self.statistics(cell))}
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


def _verdicts(judged: Sequence[JudgedClaim]) -> str:
    counted = Counter(one.verdict for one in judged)
    at_odds = sum(one.verdict == "fails" and bool(one.claim.contradicted_by) for one in judged)
    words = {
        "holds": "hold",
        "fails": f"fail ({at_odds} contradicted by the paper itself)" if at_odds else "fail",
        "inconclusive": "inconclusive",
    }
    return ", ".join(f"{counted[verdict]} {word}" for verdict, word in words.items())


def strict(value: Any) -> Any:
    """A value as strict JSON, which knows neither NaN nor infinity."""
    if isinstance(value, Mapping):
        return {str(key): strict(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [strict(item) for item in value]
    return encode(value) if isinstance(value, float) else value
