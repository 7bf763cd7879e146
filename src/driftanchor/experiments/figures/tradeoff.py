"""The 99 % quantile of regret against its mean, both in multiples of those of TS.

There is a panel for each policy and a point for each cell. Further down is a shorter tail, further
to the left a lower mean: a policy that is never worse than TS has all its points in the lower left
quarter.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.errors import InvalidInput
from driftanchor.experiments.experiment import Cell, Experiment
from driftanchor.experiments.figures.drawing import Drawing, policies_of, runs_drawn
from driftanchor.experiments.outcome import Outcomes
from driftanchor.experiments.setting_text import rounds
from driftanchor.render.figure import blank, key, legend_above, tidy
from driftanchor.render.palette import BLACK, GREEN, SERIES, Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MEASURE = "ts"  # the policy that others are compared with
ACROSS = 4
_LEAST = 0.05  # of TS's regret: smaller multiples are drawn there


def draw(experiment: Experiment, outcomes: Outcomes) -> Drawing:
    """Draw all policies but TS, in all cells."""
    cells = [cell for cell in experiment.cells if MEASURE in cell.policies]
    labels = [label for label in policies_of(cells) if label != MEASURE]
    if not labels:
        raise InvalidInput(f"{experiment.name}: a tradeoff needs {MEASURE!r} and other policies")
    groups = list(dict.fromkeys(cell.group for cell in cells))
    points = {label: _points(label, cells, outcomes) for label in labels}
    rows = math.ceil(len(labels) / ACROSS)
    figure = blank(2.5 * ACROSS, 2.5 * rows + 0.7)
    axes = figure.subplots(rows, ACROSS, sharex=True, sharey=True, squeeze=False)
    for place, label in zip(axes.ravel(), labels, strict=False):
        _panel(place, label, cells, points[label], groups)
    for place in axes.ravel()[len(labels) :]:
        place.set_visible(False)
    for place in axes.ravel()[max(0, len(labels) - ACROSS) : len(labels)]:
        place.tick_params(labelbottom=True)  # the lowest panel of its column
    drawn = np.concatenate(list(points.values()))
    most = np.where(np.isfinite(drawn), drawn, 1.0).max(axis=0, initial=1.0)
    axes[0, 0].set_xlim(_LEAST * 0.8, 1.3 * most[0])
    axes[0, 0].set_ylim(_LEAST * 0.8, 3.0 * most[1])  # room for the words above
    figure.supxlabel("mean regret, in multiples of TS's", fontsize=9)
    figure.supylabel("99 % quantile, in multiples of TS's", fontsize=9)
    handles = [
        key(group or "cells", linestyle="none", marker=_look(i).marker, color=_look(i).colour)
        for i, group in enumerate(groups)
    ]
    legend_above(figure, handles, columns=min(len(groups), 4))
    counts = "; ".join(f"{label}: {_count(points[label])}" for label in labels)
    alt = f"99 % quantile of regret against its mean, both relative to TS. {counts}."
    return Drawing(experiment.name, figure, _caption(experiment, cells, outcomes), alt)


def _points(label: str, cells: list[Cell], outcomes: Outcomes) -> Floats:
    """(mean, 99 % quantile) relative to TS's in each cell; NaN where the policy was not run."""

    def both(cell: Cell, label: str) -> Floats:
        final = outcomes[cell.id, label].final
        return np.array([final.mean(), np.quantile(final, 0.99)])

    not_run = np.full(2, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.array(
            [
                both(cell, label) / both(cell, MEASURE) if label in cell.policies else not_run
                for cell in cells
            ]
        )


def _count(points: Floats) -> str:
    points = points[~np.isnan(points).any(axis=1)]
    mean, tail = (points <= 1).sum(axis=0)
    return f"mean at most TS's in {mean} of {len(points)}, 99 % in {tail}"


def _panel(axes: Axes, label: str, cells: list[Cell], points: Floats, groups: list[str]) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    for i, group in enumerate(groups):
        mine = points[[cell.group == group for cell in cells]]
        axes.plot(
            *np.maximum(mine, _LEAST).T,
            linestyle="none",
            marker=_look(i).marker,
            color=_look(i).colour,
            markersize=4.5,
            alpha=0.8,
            markeredgewidth=0,
        )
    axes.axvline(1, color=BLACK, linewidth=0.8)
    axes.axhline(1, color=BLACK, linewidth=0.8)
    axes.fill_between([_LEAST / 2, 1], _LEAST / 2, 1, color=GREEN, alpha=0.08, linewidth=0)
    axes.set_title(label, fontsize=9, parse_math=False)
    axes.text(0.03, 0.97, _count(points).replace(", ", "\n"), transform=axes.transAxes,
              fontsize=6.5, va="top")  # fmt: skip
    tidy(axes)
    axes.xaxis.set_major_formatter(axes.yaxis.get_major_formatter())


def _look(group: int) -> Look:
    return SERIES[group % len(SERIES)]


def _caption(experiment: Experiment, cells: list[Cell], outcomes: Outcomes) -> str:
    return (
        f"{experiment.title}: the 99 % quantile of regret after {rounds(experiment)} rounds "
        f"against its mean, over {runs_drawn(experiment, outcomes)}, both divided by those of TS, "
        f"one point for each of {len(cells)} cells. In the shaded quarter both are at most those "
        f"of TS; what is below {_LEAST:g} is drawn there."
    )
