"""The panel of tails: the 99 % quantile of every cell, which mean curves do not show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from driftanchor.experiments import tail
from driftanchor.experiments.experiment import Cell
from driftanchor.experiments.figures.print_page import ROOM
from driftanchor.experiments.outcome import Outcomes
from driftanchor.render.figure import points, style, tidy
from driftanchor.render.palette import Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SPREAD = 0.7  # of the way to the next cell is taken by the policies of one
TITLE = "99 % quantile at the end"


def draw(
    axes: Axes,
    cells: Sequence[Cell],
    marks: Sequence[str],
    outcomes: Outcomes,
    looks: dict[str, Look],
) -> None:
    """Draw the quantile of each policy in each cell, with an interval at 95 %, side by side.

    Args:
        axes: The panel.
        cells: The cells, from left to right.
        marks: The letter of each.
        outcomes: What was run.
        looks: How each policy is drawn.
    """
    axes.set_yscale("log")
    for i, (label, look) in enumerate(looks.items()):
        place = SPREAD * ((i + 0.5) / len(looks) - 0.5)
        rows = [
            (x + place, np.quantile(outcome.final, 0.99), *tail.q99_interval(outcome))
            for x, cell in enumerate(cells)
            if (outcome := outcomes.get((cell.id, label))) is not None
        ]
        x, q99, low, high = np.array(rows, dtype=np.float64).reshape(-1, 4).T
        seen = q99 > 0
        least = np.maximum(low, 1e-3 * q99)  # a log axis has no 0
        axes.vlines(x[seen], least[seen], high[seen], color=look.colour, linewidth=points(0.09))
        axes.plot(x[seen], q99[seen], **{**style(look), "linestyle": "none"})
    axes.margins(y=0.1)
    tidy(axes, ROOM)
    axes.set_xticks(range(len(cells)), list(marks))
    axes.set_xlim(-0.5, len(cells) - 0.5)
    for between in range(1, len(cells)):
        axes.axvline(between - 0.5, color="#cccccc", linewidth=points(0.06), zorder=0)
    axes.grid(visible=False, axis="x")
