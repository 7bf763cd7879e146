"""Regret over the rounds: a panel for each cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.experiments import panels, style, words
from driftanchor.experiments.panels import Drawing
from driftanchor.experiments.spec import Cell, Experiment
from driftanchor.experiments.sweep import Outcome, Outcomes
from driftanchor.simulate.result import standard_error

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ACROSS = 4  # panels side by side at most


def draw(experiment: Experiment, outcomes: Outcomes) -> Drawing:
    """The mean of the first runs with a band, in rows of cells that share the first value."""
    rows = grid(experiment.cells)
    looks = style.looks(panels.policies(experiment.cells))
    width = max(len(row) for row in rows)
    figure = style.blank(max(3.1 * width, 5.0), 2.5 * len(rows) + 0.5)
    axes = figure.subplots(len(rows), width, sharex=True, sharey="row", squeeze=False)
    for cells, places in zip(rows, axes, strict=True):
        _row(experiment, outcomes, cells, list(places), looks)
    empty = [place for row, cells in zip(axes, rows, strict=True) for place in row[len(cells) :]]
    for place in empty:
        place.set_axis_off()
    panels.legend(figure, looks, inside=empty[0] if empty else None)
    return Drawing(experiment.name, figure, _caption(experiment), _alt(experiment, outcomes))


def grid(cells: tuple[Cell, ...]) -> list[list[Cell]]:
    """Cells in rows: one for each value of all varied words but the last, long ones broken."""
    rows: dict[tuple[object, ...], list[Cell]] = {}
    for cell in cells:
        rows.setdefault((cell.sweep, *map(str, list(cell.varied.values())[:-1])), []).append(cell)
    return [
        row[first : first + ACROSS] for row in rows.values() for first in range(0, len(row), ACROSS)
    ]


def _row(
    experiment: Experiment,
    outcomes: Outcomes,
    cells: list[Cell],
    places: list[Axes],
    looks: dict[str, style.Look],
) -> None:
    found = [outcomes[cell.id, label] for cell in cells for label in cell.policies]
    log = panels.wide_apart(float(outcome.curves[:, -1].mean()) for outcome in found)
    for cell, axes in zip(cells, places, strict=False):
        if log:
            axes.set_yscale("log")
        for label in cell.policies:
            _curve(axes, experiment, outcomes[cell.id, label], looks[label])
        panels.heading(axes, cell, experiment)
        axes.tick_params(labelbottom=True)
    for axes in places[: len(cells)]:
        _scales(axes, experiment.horizon, log=log)
    places[0].set_ylabel("regret (log scale)" if log else "regret", fontsize=9)


def _curve(axes: Axes, experiment: Experiment, outcome: Outcome, look: style.Look) -> None:
    rounds: Floats = np.array([0, *experiment.checkpoints], dtype=np.float64)
    curves = np.hstack([np.zeros((len(outcome.curves), 1)), outcome.curves])
    every = max(1, len(rounds) // 5)
    panels.line(
        axes, rounds, curves.mean(0), standard_error(curves), look, markevery=(every, every)
    )


def _scales(axes: Axes, horizon: int, *, log: bool) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.set_xlim(0, horizon)
    if not log:
        axes.set_ylim(bottom=0)
    axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
    axes.set_xlabel("round", fontsize=9)
    panels.tidy(axes)


def _caption(experiment: Experiment) -> str:
    shown = min(experiment.curve_runs, experiment.runs)
    runs = f"all {shown:,}" if shown == experiment.runs else f"the first {shown:,}"
    return (
        f"{experiment.title}: cumulative pseudo-regret over {experiment.horizon:,} rounds, mean of "
        f"{runs} of {experiment.runs:,} runs, bands of ± one standard error. "
        f"{panels.setting(experiment)}"
    )


def _alt(experiment: Experiment, outcomes: Outcomes) -> str:
    told = []
    for cell in experiment.cells:
        means = {label: outcomes[cell.id, label].final.mean() for label in cell.policies}
        ranked = ", ".join(f"{label} {means[label]:.3g}" for label in sorted(means, key=means.get))
        told.append(f"{words.title(cell.varied) or cell.id}: {ranked}")
    return f"Regret curves. Mean regret at the end, lowest first. {'; '.join(told)}."
