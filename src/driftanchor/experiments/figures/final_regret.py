"""Final regret against a varied value: a block for each sweep, a panel for each other value."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.stats.summary import standard_error
from driftanchor.experiments.experiment import Cell, Experiment
from driftanchor.experiments.figures.blocks import Block, along, blocks, ticks
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
from driftanchor.experiments.setting_text import rounds
from driftanchor.render import palette
from driftanchor.render.figure import (
    LABELS,
    blank,
    legend,
    line,
    points,
    tidy,
    wide_apart,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure

PANEL = 0.95  # inches that a panel is wide at least
HEIGHT = 1.45  # of a row, in inches
LOG_FROM = 12.0  # times the smallest value in one panel: then regret is drawn on a log axis
APART = 0.1  # of the size of text: between the lines of two policies


@dataclass(frozen=True)
class Measure:
    """What a row of panels shows of each cell."""

    name: str
    value: Callable[[Floats], float]
    band: bool


MEAN = Measure("", lambda final: float(final.mean()), band=True)
TAIL = Measure("99 %: ", lambda final: float(np.quantile(final, 0.99)), band=False)


def draw(experiment: Experiment, outcomes: Outcomes, page: Page = WIDE) -> Drawing:
    """Draw the mean of all runs at the horizon with a band; all panels share their regret axis.

    A figure of one block has rows for the 99 % quantile too.
    """
    found = blocks(experiment.cells)
    measures = (MEAN, TAIL) if len(found) == 1 else (MEAN,)
    across = min(len(found), page.across(3.2))
    painter = _Painter(
        outcomes,
        palette.looks(policies_of(experiment.cells)),
        {measure: _limits(found, measure, outcomes) for measure in measures},
        page.width / across,
        letters(),
    )
    rows = [len(painter.rows(block)) for block in found]
    heights = [max(rows[i : i + across]) for i in range(0, len(found), across)]
    figure = blank(page.width, HEIGHT * sum(heights) + 0.25 * len(heights) + 0.3)
    parts = figure.subfigures(len(heights), across, squeeze=False, height_ratios=heights)
    for block, part in zip(found, parts.ravel(), strict=False):
        painter.draw_block(block, part)
    legend(figure, keys_of(experiment.cells))
    over = " and over ".join(block.axis or "cells" for block in found)
    alt = f"Final regret of each policy over {over}. {lowest_regret(experiment, outcomes)}"
    caption = _caption(experiment, outcomes, tail=TAIL in measures)
    return Drawing(experiment.name, caption, alt, figure)


def _limits(
    found: Sequence[Block], measure: Measure, outcomes: Outcomes
) -> tuple[bool, float, float]:
    """Whether the regret axis is logarithmic, and its ends."""
    panels = [
        [measure.value(outcomes[cell.id, p].final) for cell in cells for p in cell.policies]
        for block in found
        for cells in block.panels.values()
    ]
    log = any(wide_apart(values, LOG_FROM) for values in panels)
    positive = [value for values in panels for value in values if value > 0] or [1.0]
    low, high = (min(positive) / 1.3, 1.3) if log else (0.0, 1.08)
    return log, low, high * max(positive)


@dataclass(frozen=True, eq=False)
class _Painter:
    """Draws blocks, of which each has a part of the figure.

    Attributes:
        outcomes: What was run.
        looks: How each policy is drawn.
        scales: Of each measure, whether its axis is logarithmic, and the ends of it.
        room: The width of a part, in inches.
        names: The letters of the panels that are not drawn yet.
    """

    outcomes: Outcomes
    looks: dict[str, palette.Look]
    scales: dict[Measure, tuple[bool, float, float]]
    room: float
    names: Iterator[str]

    def rows(self, block: Block) -> list[tuple[Measure, list[str]]]:
        """The rows of a block: what they show, and the titles of their panels."""
        titles, across = list(block.panels), max(1, int(self.room / PANEL))
        across = math.ceil(len(titles) / math.ceil(len(titles) / across))  # rows alike in length
        few = [titles[i : i + across] for i in range(0, len(titles), across)]
        return list(itertools.product(self.scales, few))

    def draw_block(self, block: Block, part: SubFigure) -> None:
        """Draw all panels of a block."""
        rows = self.rows(block)
        across = len(rows[0][1])
        axes = part.subplots(len(rows), across, squeeze=False, sharex=True)
        for (measure, titles), places in zip(rows, axes, strict=True):
            for place, title in zip(places, titles, strict=False):
                self._panel(place, block.panels[title], block.word, measure)
                words = f"{next(self.names)} {measure.name}{title}"
                set_title(place, words, self.room / across - 0.1 * min(across, 2))
                ticks(place, block.panels[title], block.word, self.room / across - 0.15)
                tidy(place, ROOM)
                place.tick_params(labelleft=place is places[0])
            for place in places[len(titles) :]:
                place.set_axis_off()
            set_labels(places[0], y="regret")
        scale = " (log scale)" if axes[0, 0].get_xscale() == "log" else ""
        part.supxlabel(block.axis + scale, fontsize=points(LABELS))

    def _panel(self, axes: Axes, cells: Sequence[Cell], word: str, measure: Measure) -> None:
        log, low, high = self.scales[measure]
        axes.set_yscale("log" if log else "linear")
        axes.set_ylim(low, high)
        for i, (label, look) in enumerate(self.looks.items()):
            have = [k for k, cell in enumerate(cells) if label in cell.policies]
            if not have:
                continue
            finals = [self.outcomes[cells[k].id, label].final for k in have]
            values = np.array([measure.value(final) for final in finals])
            errors = np.array([standard_error(final) for final in finals])
            x, band = along(cells, word)[have], errors if measure.band else None
            aside = points(APART) * (i - (len(self.looks) - 1) / 2)
            line(axes, x, values, band, look, aside=aside)


def _caption(experiment: Experiment, outcomes: Outcomes, *, tail: bool) -> str:
    below = " Below: the 99 % quantile." if tail else ""
    return (
        f"{experiment.title}: cumulative pseudo-regret after {rounds(experiment)} rounds, mean of "
        f"{runs_drawn(experiment, outcomes)}, bands of ± one standard error.{below} Lines are "
        f"set a little apart, so that none hides another. {shared_setting(experiment)}"
    )
