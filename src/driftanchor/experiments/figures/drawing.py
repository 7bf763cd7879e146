"""What the figures of experiments share: their captions, titles and descriptions in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from driftanchor.experiments import setting_text
from driftanchor.experiments.experiment import Cell, Experiment
from driftanchor.experiments.outcome import Outcomes
from driftanchor.render.figure import folded
from driftanchor.render.numbers import count_range

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Drawing:
    """A drawn figure with its words.

    Attributes:
        name: The name of its files.
        figure: What is saved to them.
        caption: What it shows, and in which setting.
        alt: What it shows, for readers who cannot see it.
    """

    name: str
    figure: Figure
    caption: str
    alt: str


def policies_of(cells: Iterable[Cell]) -> dict[str, str]:
    """Every label of these cells, and the name of the policy behind it."""
    return {label: policy.name for cell in cells for label, policy in cell.policies.items()}


def title_of(cell: Cell, experiment: Experiment) -> str:
    """The title of a cell's panels: its values in words."""
    return setting_text.heading(cell, experiment.cells) or experiment.title


def set_title(axes: Axes, cell: Cell, experiment: Experiment) -> None:
    """Write the cell's title above a panel."""
    axes.set_title(folded(title_of(cell, experiment)), fontsize=8.5, parse_math=False)


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
    best: Counter[str] = Counter()
    for cell in experiment.cells:
        means = {label: float(outcomes[cell.id, label].final.mean()) for label in cell.policies}
        best[min(means, key=lambda label: means[label])] += 1
    counts = ", ".join(f"{label} in {count}" for label, count in best.most_common())
    cells = len(experiment.cells)
    of = "the only cell" if cells == 1 else f"{cells} cells"
    return f"Of {of}, the lowest mean regret has: {counts}. All numbers are in the tables."
