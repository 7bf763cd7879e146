"""What all figures share: lines with bands, scales, legends, and their words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.experiments import style, words
from driftanchor.experiments.spec import Cell, Experiment

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

LOG_FROM = 25.0  # times the smallest mean: beyond that a linear axis shows one policy alone


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
    if axes.get_yscale() == "log":
        plain_log(axes)


def plain_log(axes: Axes) -> None:
    """Plain numbers on a log axis, with those between the powers of ten where there is room."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axes.get_ylim()
    decades = np.log10(high / low)
    between = (1.0, 2.0, 5.0) if decades < 2.2 else (1.0,)
    axes.yaxis.set_major_locator(LogLocator(10, subs=between, numticks=20))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def wide_apart(means: Iterable[float]) -> bool:
    """Whether means need a log axis."""
    positive = [mean for mean in means if mean > 0]
    return bool(positive) and max(positive) > LOG_FROM * min(positive)


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
        shown = figure.legend(loc="outside upper center", ncols=min(len(handles), 7), **options)
    for text in shown.get_texts():
        text.set_parse_math(False)  # a dollar in a label is a dollar


def heading(axes: Axes, cell: Cell, experiment: Experiment) -> None:
    """The cell's values in words, as the title of a panel."""
    first = words.title(cell.varied) or experiment.title
    second = words.rest(cell, experiment.cells)
    text = f"{first}\n{second}" if second else first
    axes.set_title(text, fontsize=8.5, parse_math=False)


def setting(experiment: Experiment) -> str:
    """The sentences every caption ends with."""
    return f"Where not varied: {words.describe(experiment.cells)}."
