"""Quantiles of regret over the rounds, next to its mean: what a mean hides."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.stats.summary import standard_error
from driftanchor.experiments.experiment import Cell, Experiment
from driftanchor.experiments.figures.drawing import (
    Drawing,
    lowest_regret,
    policies_of,
    runs_drawn,
    shared_setting,
    title_of,
)
from driftanchor.experiments.outcome import Outcomes
from driftanchor.experiments.setting_text import rounds
from driftanchor.render import palette
from driftanchor.render.figure import blank, legend, line, log_ticks, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROOM = 8.0  # a panel is wide enough for more labels than powers of ten up to this ratio

COLUMNS: dict[str, Callable[[Floats], Floats]] = {
    "median": lambda curves: np.asarray(np.quantile(curves, 0.5, axis=0)),
    "mean": lambda curves: np.asarray(curves.mean(0)),
    "90 % quantile": lambda curves: np.asarray(np.quantile(curves, 0.9, axis=0)),
    "99 % quantile": lambda curves: np.asarray(np.quantile(curves, 0.99, axis=0)),
    "worst run": lambda curves: np.asarray(curves.max(0)),
}


def draw(experiment: Experiment, outcomes: Outcomes) -> Drawing:
    """Draw a row for each cell and a column for each statistic, on log axes."""
    looks = palette.looks(policies_of(experiment.cells))
    cells = experiment.cells
    figure = blank(2.35 * len(COLUMNS), 2.35 * len(cells) + 0.5)
    axes = figure.subplots(len(cells), len(COLUMNS), sharex=True, sharey="row", squeeze=False)
    for cell, places in zip(cells, axes, strict=True):
        for place, statistic in zip(places, COLUMNS, strict=True):
            _panel(place, experiment, cell, statistic, outcomes, looks)
        _row_title(places[0], cell, experiment)
        places[0].set_ylabel("regret", fontsize=9)
    for place in axes.ravel():
        tidy(place)
        log_ticks(place.xaxis, room=ROOM)
    for place in axes[-1]:
        place.set_xlabel("round", fontsize=9)
    legend(figure, looks)
    alt = f"Quantiles of regret over the rounds. {lowest_regret(experiment, outcomes)}"
    return Drawing(experiment.name, figure, _caption(experiment, outcomes), alt)


def _panel(
    axes: Axes,
    experiment: Experiment,
    cell: Cell,
    statistic: str,
    outcomes: Outcomes,
    looks: dict[str, palette.Look],
) -> None:
    passed: Floats = np.array(experiment.at(cell).checkpoints, dtype=np.float64)
    axes.set_xscale("log")
    axes.set_yscale("log")
    for label in cell.policies:
        curves = outcomes[cell.id, label].curves[: experiment.drawn_runs]
        se = standard_error(curves) if statistic == "mean" else None
        line(axes, passed, COLUMNS[statistic](curves), se, looks[label])
    axes.set_title(f" \n{statistic}", fontsize=9)  # the line above is the row's


def _row_title(axes: Axes, cell: Cell, experiment: Experiment) -> None:
    title = axes.annotate(
        title_of(cell, experiment),
        (0, 1),
        xytext=(0, 19),
        xycoords="axes fraction",
        textcoords="offset points",
    )
    title.set(fontsize=9, fontweight="bold", parse_math=False)
    title.set_in_layout(False)  # it may reach over the panels to its right


def _caption(experiment: Experiment, outcomes: Outcomes) -> str:
    return (
        f"{experiment.title}: cumulative pseudo-regret up to {rounds(experiment)} rounds over "
        f"{runs_drawn(experiment, outcomes)}, on log scales: its median, its mean with a band of "
        f"± one standard error, quantiles and the worst run. {shared_setting(experiment)}"
    )
