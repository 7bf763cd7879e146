"""Regret over the rounds: a panel for each cell."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Literal

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.stats.summary import standard_error
from driftanchor.experiments.experiment import Cell, Experiment
from driftanchor.experiments.figures.drawing import (
    Drawing,
    lowest_regret,
    policies_of,
    runs_drawn,
    set_title,
    shared_setting,
)
from driftanchor.experiments.outcome import Outcomes
from driftanchor.experiments.setting_text import rounds
from driftanchor.render import palette
from driftanchor.render.figure import blank, legend, line, tidy, wide_apart

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ACROSS = 4  # panels side by side at most
LOG_FROM = 40.0  # times the smallest mean in one panel: then regret is drawn on a log axis
ALIKE = 4.0  # panels whose highest values differ by no more than this share their axis


def draw(experiment: Experiment, outcomes: Outcomes) -> Drawing:
    """Draw the mean with a band; cells that share the first value form a row."""
    rows = grid(experiment.cells)
    looks = palette.looks(policies_of(experiment.cells))
    width = max(len(row) for row in rows)
    log = any(wide_apart(_ends(cell, outcomes), LOG_FROM) for cell in experiment.cells)
    share = "row" if log else _sharing(rows, outcomes)
    alike = len(experiment.horizons) == 1
    figure = blank(max(3.1 * width, 5.0), 2.5 * len(rows) + 0.5)
    axes = figure.subplots(len(rows), width, sharex=alike, sharey=share, squeeze=False)
    for cells, places in zip(rows, axes, strict=True):
        for cell, place in zip(cells, places, strict=False):
            _panel(place, experiment, cell, outcomes, looks, log=log)
        places[0].set_ylabel("regret (log scale)" if log else "regret", fontsize=9)
    for cells, places in zip(rows, axes, strict=True):  # when all is drawn: axes are shared
        ends = [end for cell in cells for end in _ends(cell, outcomes) if end > 0]
        for cell, place in zip(cells, places, strict=False):  # a log axis starts later
            _scales(
                place, experiment.at(cell).horizon, low=min(ends, default=1.0) / 5 if log else 0.0
            )
    empty = [place for row, cells in zip(axes, rows, strict=True) for place in row[len(cells) :]]
    for place in empty:
        place.set_axis_off()
    legend(figure, looks, inside=empty[0] if empty else None)
    alt = f"Regret of each policy over the rounds. {lowest_regret(experiment, outcomes)}"
    return Drawing(experiment.name, figure, _caption(experiment, outcomes), alt)


def grid(cells: tuple[Cell, ...]) -> list[list[Cell]]:
    """Cells in rows, one for each value of all varied words but the last; long rows are split."""
    rows: dict[tuple[object, ...], list[Cell]] = {}
    for cell in cells:
        rows.setdefault((cell.sweep, *map(str, list(cell.varied.values())[:-1])), []).append(cell)
    return [
        row[first : first + ACROSS] for row in rows.values() for first in range(0, len(row), ACROSS)
    ]


def _ends(cell: Cell, outcomes: Outcomes) -> list[float]:
    """Where each policy's curve in a cell ends."""
    return [float(outcomes[cell.id, label].final.mean()) for label in cell.policies]


def _sharing(rows: list[list[Cell]], outcomes: Outcomes) -> Literal["row", "col", "none"]:
    """Which panels share their regret axis: rows if that hides nothing, else columns, or none."""
    tops = [[max(_ends(cell, outcomes)) for cell in row] for row in rows]
    columns = list(itertools.zip_longest(*tops, fillvalue=0.0))
    if not any(wide_apart(row, ALIKE) for row in tops):
        return "row"
    return "none" if any(wide_apart(column, ALIKE) for column in columns) else "col"


def _panel(
    axes: Axes,
    experiment: Experiment,
    cell: Cell,
    outcomes: Outcomes,
    looks: dict[str, palette.Look],
    *,
    log: bool,
) -> None:
    axes.set_yscale("log" if log else "linear")
    passed: Floats = np.array([0, *experiment.at(cell).checkpoints], dtype=np.float64)
    every = max(1, len(passed) // 5)
    for i, label in enumerate(cell.policies):
        curves = outcomes[cell.id, label].curves[: experiment.drawn_runs]
        curves = np.hstack([np.zeros((len(curves), 1)), curves])
        first = 1 + i * every // len(
            cell.policies
        )  # apart, so that markers do not hide one another
        band = standard_error(curves)
        line(axes, passed, curves.mean(0), band, looks[label], markevery=(first, every))
    set_title(axes, cell, experiment)


def _scales(axes: Axes, horizon: int, *, low: float) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.set_xlim(0, horizon)
    axes.set_ylim(bottom=low)
    axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
    axes.set_xlabel("round", fontsize=9)
    tidy(axes)
    axes.tick_params(labelbottom=True)


def _caption(experiment: Experiment, outcomes: Outcomes) -> str:
    return (
        f"{experiment.title}: cumulative pseudo-regret over {rounds(experiment)} rounds, mean of "
        f"{runs_drawn(experiment, outcomes)}, bands of ± one standard error. "
        f"{shared_setting(experiment)}"
    )
