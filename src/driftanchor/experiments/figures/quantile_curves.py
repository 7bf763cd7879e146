"""Quantiles of regret over the rounds, next to its mean: what a mean hides."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.stats.summary import standard_error
from driftanchor.experiments import setting_text
from driftanchor.experiments.experiment import Cell, Experiment
from driftanchor.experiments.figures import lower_bound
from driftanchor.experiments.figures.drawing import (
    Drawing,
    keys_of,
    lowest_regret,
    policies_of,
    runs_drawn,
    shared_setting,
)
from driftanchor.experiments.figures.print_page import (
    ROOM,
    WIDE,
    Page,
    letters,
    set_labels,
    set_title,
)
from driftanchor.experiments.outcome import Outcomes
from driftanchor.render import palette
from driftanchor.render.figure import (
    blank,
    key,
    legend_above,
    line,
    log_ticks,
    points,
    style,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANEL = 1.3  # inches that a panel is wide at least
HEIGHT = 1.45  # of a row, in inches
APART = 0.08  # of the size of text: between the lines of two policies
NARROW = 8.0  # a panel is wide enough for more labels than powers of ten up to this ratio

STATISTICS: dict[str, Callable[[Floats], Floats]] = {
    "median": lambda curves: np.asarray(np.quantile(curves, 0.5, axis=0)),
    "mean": lambda curves: np.asarray(curves.mean(0)),
    "90 % quantile": lambda curves: np.asarray(np.quantile(curves, 0.9, axis=0)),
    "99 % quantile": lambda curves: np.asarray(np.quantile(curves, 0.99, axis=0)),
    "worst run": lambda curves: np.asarray(curves.max(0)),
}


def draw(experiment: Experiment, outcomes: Outcomes, page: Page = WIDE) -> Drawing:
    """Draw the panels of each cell, one for each statistic, on log axes."""
    looks = palette.looks(policies_of(experiment.cells))
    cells, across = experiment.cells, page.across(PANEL)
    each = -(-len(STATISTICS) // across)  # rows of a cell
    figure = blank(page.width, HEIGHT * each * len(cells) + 0.5)
    places = figure.add_gridspec(each * len(cells), across)
    names = letters()
    for number, cell in enumerate(cells):
        first: Axes | None = None
        for i, statistic in enumerate(STATISTICS):
            row, column = divmod(i, across)
            place = places[number * each + row, column]
            axes = figure.add_subplot(place, sharey=first)
            first = first or axes
            _panel(axes, experiment, cell, statistic, outcomes, looks)
            above = "" if i else setting_text.heading(cell, cells)
            width = page.width / across
            set_title(axes, f"{next(names)} {statistic}", width, above, page.width - 0.5)
            lowest = i + across >= len(STATISTICS) and number == len(cells) - 1
            axes.tick_params(labelbottom=lowest, labelleft=not column)
            set_labels(axes, "round" if lowest else "", "" if column else "regret")
    bound = any(lower_bound.rate(cell.bandit) > 0 for cell in cells)
    keys = [key(name, **style(look)) for name, look in keys_of(cells).items()]
    legend_above(figure, keys + ([key(lower_bound.NAME, **lower_bound.look())] if bound else []))
    alt = f"Quantiles of regret over the rounds. {lowest_regret(experiment, outcomes)}"
    caption = _caption(experiment, outcomes, bound=bound)
    return Drawing(experiment.name, caption, alt, figure)


def _panel(
    axes: Axes,
    experiment: Experiment,
    cell: Cell,
    statistic: str,
    outcomes: Outcomes,
    looks: dict[str, palette.Look],
) -> None:
    rounds: Floats = np.array(experiment.at(cell).checkpoints, dtype=np.float64)
    axes.set_xscale("log")
    axes.set_yscale("log")
    top = 1.0
    for i, label in enumerate(cell.policies):
        curves = outcomes[cell.id, label].curves[: experiment.drawn_runs]
        se = standard_error(curves) if statistic == "mean" else None
        values = STATISTICS[statistic](curves)
        aside = points(APART) * (i - (len(cell.policies) - 1) / 2)
        line(axes, rounds, values, se, looks[label], aside=aside)
        top = max(top, float(values[-1]))
    if statistic == "mean":
        lower_bound.draw(axes, cell.bandit, experiment.at(cell).horizon, top)
    axes.set_xlim(rounds[0] / 1.3, rounds[-1] * 1.3)
    tidy(axes, ROOM)
    log_ticks(axes.xaxis, room=NARROW)


def _caption(experiment: Experiment, outcomes: Outcomes, *, bound: bool) -> str:
    return (
        f"{experiment.title}: cumulative pseudo-regret up to {setting_text.rounds(experiment)} "
        f"rounds over {runs_drawn(experiment, outcomes)}, on log scales: its median, its mean with "
        "a band of ± one standard error, quantiles and the worst run. "
        f"{f'{lower_bound.CAPTION} ' if bound else ''}{shared_setting(experiment)}"
    )
