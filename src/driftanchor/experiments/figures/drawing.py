"""What the figures of experiments share: the policies in them, and their words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from driftanchor.experiments import setting_text
from driftanchor.experiments.experiment import Cell, Experiment
from driftanchor.experiments.outcome import Outcomes
from driftanchor.render import palette
from driftanchor.render.numbers import count_range

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Words:
    """The words of a figure.

    Attributes:
        name: The name of its files.
        caption: What it shows, and in which setting.
        alt: What it shows, for readers who cannot see it.
    """

    name: str
    caption: str
    alt: str


@dataclass(frozen=True, eq=False)
class Drawing(Words):
    """A drawn figure with its words.

    Attributes:
        figure: What is saved to its files.
    """

    figure: Figure

    @property
    def words(self) -> Words:
        """The words alone."""
        return Words(self.name, self.caption, self.alt)


def policies_of(cells: Iterable[Cell]) -> dict[str, str]:
    """Every label of these cells, and the name of the policy behind it."""
    return {label: policy.name for cell in cells for label, policy in cell.policies.items()}


def names_of(cells: Iterable[Cell]) -> dict[str, str]:
    """Every label of these cells, and what people read for it."""
    return palette.names(policies_of(cells))


def keys_of(cells: Iterable[Cell]) -> dict[str, palette.Look]:
    """The entries of the legend: how each policy is drawn, by what people read for it."""
    policies = policies_of(cells)
    names = palette.names(policies)
    return {names[label]: look for label, look in palette.looks(policies).items()}


def shared_setting(experiment: Experiment) -> str:
    """The sentence that every caption ends with."""
    return f"Where not varied: {setting_text.describe(experiment.cells)}."


def runs_drawn(experiment: Experiment, outcomes: Outcomes) -> str:
    """How many runs curves are of, in words.

    They differ where some were added to decide a claim.
    """
    runs = [
        len(outcomes[cell.id, label].final) for cell in experiment.cells for label in cell.policies
    ]
    if experiment.drawn_runs is not None and experiment.drawn_runs < max(runs):
        return f"the first {experiment.drawn_runs:,} runs"
    return count_range(runs, "run")


def lowest_regret(experiment: Experiment, outcomes: Outcomes) -> str:
    """In how many cells each policy has the lowest mean regret, in words."""
    names = names_of(experiment.cells)
    best: Counter[str] = Counter()
    for cell in experiment.cells:
        means = {label: float(outcomes[cell.id, label].final.mean()) for label in cell.policies}
        best[names[min(means, key=lambda label: means[label])]] += 1
    counts = ", ".join(f"{name} in {count}" for name, count in best.most_common())
    cells = len(experiment.cells)
    of = "the only cell" if cells == 1 else f"{cells} cells"
    return f"Of {of}, the lowest mean regret has: {counts}. All numbers are in the tables."
