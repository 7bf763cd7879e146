"""The 99 % quantile of regret against its mean, both in multiples of those of TS.

There is a panel for each policy and a point for each cell. Further down is a shorter tail, further
to the left a lower mean: a policy that is never worse than TS has all its points in the lower left
quarter.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.errors import InvalidInput
from driftanchor.experiments.experiment import Cell, Experiment
from driftanchor.experiments.figures.drawing import Drawing, names_of, policies_of, runs_drawn
from driftanchor.experiments.figures.print_page import WIDE, Page, letters, set_title
from driftanchor.experiments.outcome import Outcomes
from driftanchor.experiments.setting_text import rounds
from driftanchor.render import palette
from driftanchor.render.figure import (
    LABELS,
    TICKS,
    blank,
    key,
    legend_above,
    log_ticks,
    points,
    tidy,
)
from driftanchor.render.palette import BLACK, DARK_GREY, GREY

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MEASURE = "ts"  # the policy that others are compared with
PANEL = 1.6  # inches that a panel is wide at least
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "<", ">", "*")  # of groups of cells, in this order
_LEAST = 0.05  # of TS's regret: smaller multiples are drawn there


def draw(experiment: Experiment, outcomes: Outcomes, page: Page = WIDE) -> Drawing:
    """Draw all policies but TS, in all cells."""
    cells = [cell for cell in experiment.cells if MEASURE in cell.policies]
    labels = [label for label in policies_of(cells) if label != MEASURE]
    if not labels:
        raise InvalidInput(f"{experiment.name}: a tradeoff needs {MEASURE!r} and other policies")
    names, looks = names_of(cells), palette.looks(policies_of(cells))
    groups = list(dict.fromkeys(cell.group for cell in cells))
    found = {label: _points(label, cells, outcomes) for label in labels}
    across = page.across(PANEL)
    rows = math.ceil(len(labels) / across)
    figure = blank(page.width, 1.65 * rows + 0.7)
    axes = figure.subplots(rows, across, sharex=True, sharey=True, squeeze=False)
    drawn = np.concatenate(list(found.values()))
    most = np.where(np.isfinite(drawn), drawn, 1.0).max(axis=0, initial=1.0)
    axes[0, 0].set_xlim(_LEAST * 0.8, 1.3 * most[0])
    axes[0, 0].set_ylim(_LEAST * 0.8, 5.0 * most[1])  # room for the words above
    for place, label, letter in zip(axes.ravel(), labels, letters(), strict=False):
        _panel(place, cells, found[label], groups, looks[label].colour)
        set_title(place, f"{letter} {names[label]}", page.width / across)
    for place in axes.ravel()[len(labels) :]:
        place.set_visible(False)
    for place in axes.ravel()[max(0, len(labels) - across) : len(labels)]:
        place.tick_params(labelbottom=True)  # the lowest panel of its column
    figure.supxlabel("mean regret, in multiples of TS's (log scale)", fontsize=points(LABELS))
    figure.supylabel("99 % quantile, in multiples of TS's (log scale)", fontsize=points(LABELS))
    handles = [
        key(group or "cells", linestyle="none", color=DARK_GREY, **_mark(i))
        for i, group in enumerate(groups)
    ]
    legend_above(figure, handles, handlelength=1.0)
    counts = []
    for label in labels:
        mean, tail, of = _count(found[label])
        counts.append(f"{names[label]}: mean at most TS's in {mean} of {of}, 99 % in {tail}")
    alt = f"99 % quantile of regret against its mean, both relative to TS. {'; '.join(counts)}."
    caption = _caption(experiment, cells, outcomes)
    return Drawing(experiment.name, caption, alt, figure)


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


def _count(found: Floats) -> tuple[int, int, int]:
    """The cells in which the mean is at most TS's, those in which the quantile is, and all."""
    found = found[~np.isnan(found).any(axis=1)]
    mean, tail = (found <= 1).sum(axis=0)
    return int(mean), int(tail), len(found)


def _panel(axes: Axes, cells: list[Cell], found: Floats, groups: list[str], colour: str) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    for i, group in enumerate(groups):
        mine = found[[cell.group == group for cell in cells]]
        axes.plot(*np.maximum(mine, _LEAST).T, linestyle="none", color=colour, **_mark(i))
    axes.axvline(1, color=BLACK, linewidth=points(0.08))
    axes.axhline(1, color=BLACK, linewidth=points(0.08))
    axes.fill_between([_LEAST / 2, 1], _LEAST / 2, 1, color=GREY, alpha=0.12, linewidth=0)
    mean, tail, cells_run = _count(found)
    says = f"mean ≤ 1 in {mean} of {cells_run}\n99 % ≤ 1 in {tail}"
    words = axes.text(0.02, 0.98, says, transform=axes.transAxes)
    words.set(fontsize=points(TICKS), va="top")
    words.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 1.0})  # over the lines
    tidy(axes)
    log_ticks(axes.yaxis, room=30.0)
    log_ticks(axes.xaxis, room=30.0)


def _mark(group: int) -> dict[str, Any]:
    """How the cells of a group are marked: hollow once all markers are taken."""
    again, which = divmod(group, len(MARKERS))
    return {
        "marker": MARKERS[which],
        "markersize": points(0.45),
        "markeredgewidth": points(0.1) if again else 0.0,
        "alpha": 0.85,
        **({"markerfacecolor": "none"} if again else {}),
    }


def _caption(experiment: Experiment, cells: list[Cell], outcomes: Outcomes) -> str:
    return (
        f"{experiment.title}: the 99 % quantile of regret after {rounds(experiment)} rounds "
        f"against its mean, over {runs_drawn(experiment, outcomes)}, both divided by those of TS, "
        f"one point for each of {len(cells)} cells. In the shaded quarter both are at most those "
        f"of TS; what is below {_LEAST:g} is drawn there."
    )
