"""What all figures share: lines with bands, scales, legends, and their words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.experiments import style, words
from driftanchor.experiments.spec import Cell, Experiment
from driftanchor.experiments.sweep import Outcomes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure with its words.

    Attributes:
        name: Of its files.
        figure: To be saved.
        caption: What it shows, in which setting.
        alt: For those who cannot see it.
    """

    name: str
    figure: Figure
    caption: str
    alt: str


def policies(cells: Iterable[Cell]) -> dict[str, str]:
    """Every label of these cells, and the policy behind it."""
    return {label: policy.name for cell in cells for label, policy in cell.policies.items()}


def line(
    axes: Axes, x: Floats, mean: Floats, se: Floats | None, look: style.Look, **options: Any
) -> None:
    """A line with a band of ± one standard error; what is not above 0 is left out of a log axis."""
    if axes.get_yscale() == "log":
        mean = np.where(mean > 0, mean, np.nan)
    axes.plot(x, mean, **{**look.line(), **options})
    if se is None or not np.isfinite(se).any():  # a single run has no standard error
        return
    low = mean - se
    if axes.get_yscale() == "log":
        low = np.where(low > 0, low, mean / 2)
    axes.fill_between(x, low, mean + se, color=look.colour, alpha=0.2, linewidth=0)


def tidy(axes: Axes) -> None:
    """The look of a panel."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.tick_params(labelsize=8)
    _plain_numbers(axes)


def _plain_numbers(axes: Axes) -> None:
    """2,000 and not 2·10³; on a log axis also between the powers of ten, where there is room."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    if axes.get_yscale() == "log":
        low, high = axes.get_ylim()
        between = (1.0, 2.0, 5.0) if high < 500 * low else (1.0,)
        axes.yaxis.set_major_locator(LogLocator(10, subs=between, numticks=20))
        axes.yaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,g}".replace("-", "−")))


def wide_apart(means: Iterable[float], ratio: float) -> bool:
    """Whether the largest is so many times the smallest that a linear axis would hide most."""
    positive = [mean for mean in means if mean > 0]
    return bool(positive) and max(positive) > ratio * min(positive)


def legend(
    figure: Figure | SubFigure, looks: Mapping[str, style.Look], *, inside: Axes | None = None
) -> None:
    """One legend for the whole figure: above it, or in a place where no panel is."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], label=label, **look.line()) for label, look in looks.items()]
    options: dict[str, Any] = {"handles": handles, "frameon": False, "fontsize": 9}
    options["handlelength"] = 3.6  # long enough to tell dashes apart
    if inside is not None:
        shown = inside.legend(loc="center", title="policies", **options)
    else:
        inches = [0.75 + 0.07 * len(label) for label in looks]
        rows = math.ceil(sum(inches) / (figure.bbox.width / figure.dpi - 0.3))
        columns = math.ceil(len(handles) / rows)
        shown = figure.legend(loc="outside upper center", ncols=columns, **options)
    for text in shown.get_texts():
        text.set_parse_math(False)  # a dollar in a label is a dollar


def heading(axes: Axes, cell: Cell, experiment: Experiment) -> None:
    """The cell's values in words, as the title of a panel."""
    text = words.heading(cell, experiment.cells) or experiment.title
    axes.set_title(folded(text), fontsize=8.5, parse_math=False)


def folded(text: str, width: int = 42) -> str:
    r"""A text in lines that end at commas.

    Example:
        >>> folded("2,000 logs on all arms alike, best arm biased by −0.3, others by +0.1")
        '2,000 logs on all arms alike,\nbest arm biased by −0.3, others by +0.1'
    """
    lines = [""]
    for phrase in text.split(", "):
        longer = f"{lines[-1]}, {phrase}" if lines[-1] else phrase
        if len(longer) > width and lines[-1]:
            lines[-1] += ","
            lines.append(phrase)
        else:
            lines[-1] = longer
    return "\n".join(lines)


def setting(experiment: Experiment) -> str:
    """The sentences every caption ends with."""
    return f"Where not varied: {words.describe(experiment.cells)}."


def lowest(experiment: Experiment, outcomes: Outcomes) -> str:
    """Which policy has the lowest mean regret in how many cells, for those who cannot see it."""
    best: Counter[str] = Counter()
    for cell in experiment.cells:
        means = {label: float(outcomes[cell.id, label].final.mean()) for label in cell.policies}
        best[min(means, key=lambda label: means[label])] += 1
    told = ", ".join(f"{label} in {count}" for label, count in best.most_common())
    cells = len(experiment.cells)
    of = "the only cell" if cells == 1 else f"{cells} cells"
    return f"Of {of}, the lowest mean regret has: {told}. All numbers are in the tables."
