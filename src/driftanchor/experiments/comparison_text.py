"""Comparisons in words: policies by their names, cells by what sets them apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from driftanchor.experiments import setting_text
from driftanchor.experiments.claims import Comparison, Term
from driftanchor.experiments.experiment import Cell, Experiment
from driftanchor.render import palette

STATISTICS = {"mean": "", "median": "median: ", "q90": "90 % quantile: ", "q99": "99 % quantile: "}
_FACTOR = re.compile(r"^(\d+(?:\.\d+)?)\*")


@dataclass(frozen=True)
class Phrasebook:
    """The cells of some experiments, and what people read for them and their policies."""

    experiments: dict[str, Experiment]  # by the ids of their cells
    cells: dict[str, Cell]

    @classmethod
    def of(cls, experiments: Iterable[Experiment]) -> Phrasebook:
        """The phrasebook of these experiments."""
        pairs = [(experiment, cell) for experiment in experiments for cell in experiment.cells]
        return cls(
            {cell.id: experiment for experiment, cell in pairs},
            {cell.id: cell for _, cell in pairs},
        )

    def cell(self, cell_id: str) -> str:
        """What sets a cell apart from the others of its experiment."""
        experiment = self.experiments[cell_id]
        return setting_text.heading(self.cells[cell_id], experiment.cells) or experiment.title

    def policy(self, cell_id: str, label: str) -> str:
        """What people read for a label."""
        return palette.names({label: self.cells[cell_id].policies[label].name})[label]

    def comparison(self, comparison: Comparison) -> str:
        """A comparison as people read it.

        What is the same for all its cells stands once, in round brackets at the end; what sets
        them apart in square ones, behind the policies.
        """
        line = comparison.text.partition("  [")[0]
        left, sign, right = re.split(r" ([<>]) ", line)
        terms = list(comparison.terms)
        used = list(dict.fromkeys(term.cell for term in terms if term.policy))
        apart, shared = self._apart(used)
        sides = []
        for side in (left, right):
            parts = re.split(r" ([+-]) ", side)
            mine = [terms.pop(0) for _ in parts[::2]]
            sides.append(self._side(parts, mine, apart))
        return f"{f' {sign} '.join(sides)} ({shared})"

    def _side(self, parts: Sequence[str], terms: Sequence[Term], apart: dict[str, str]) -> str:
        texts = [self._term(text, term) for text, term in zip(parts[::2], terms, strict=True)]
        cells = [apart.get(term.cell, "") if term.policy else "" for term in terms]
        same = len(set(cells)) == 1
        text = ""
        for i, (name, cell) in enumerate(zip(texts, cells, strict=True)):
            sign = {"-": " − ", "+": " + "}.get(parts[2 * i - 1], "") if i else ""
            text += sign + name + (f" [{cell}]" if cell and not same else "")
        return f"{text} [{cells[0]}]" if same and cells[0] else text

    def _term(self, text: str, term: Term) -> str:
        if not term.policy:
            return text
        factor = _FACTOR.match(text)
        name = self.policy(term.cell, term.policy)
        return f"{factor[1]} × {name}" if factor else name

    def _apart(self, ids: Sequence[str]) -> tuple[dict[str, str], str]:
        """What sets each of some cells apart, and what they share."""
        titles = list(dict.fromkeys(self.experiments[cell_id].title for cell_id in ids))
        if len(ids) == 1:
            return {}, f"{titles[0]}: {self.cell(ids[0])}"
        if len(titles) > 1:
            apart = {i: f"{self.experiments[i].title}: {self.cell(i)}" for i in ids}
            return apart, "in several experiments"
        cells = [self.cells[cell_id] for cell_id in ids]
        every = self.experiments[ids[0]].cells
        special = [setting_text.special(cell, every) for cell in cells]
        shared = {w: x for w, x in special[0].items() if all(s.get(w) == x for s in special)}
        names = [setting_text.heading(cell, every, without=shared) or "unchanged" for cell in cells]
        words = setting_text.title(shared)
        return dict(zip(ids, names, strict=True)), f"{titles[0]}: {words}" if words else titles[0]
