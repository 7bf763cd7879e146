"""Final regret against a varied value: a block for each sweep, a panel for each other value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.stats.summary import standard_error
from driftanchor.experiments import setting_text
from driftanchor.experiments.experiment import Cell, Experiment
from driftanchor.experiments.figures.drawing import (
    Drawing,
    lowest_regret,
    policies_of,
    runs_drawn,
    shared_setting,
)
from driftanchor.experiments.outcome import Outcomes
from driftanchor.render import palette
from driftanchor.render.figure import blank, legend, line, matplotlib, tidy, wide_apart
from driftanchor.render.numbers import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure


LOG_FROM = 12.0  # times the smallest mean in one panel: then regret is drawn on a log axis


@dataclass(frozen=True)
class Block:
    """Cells that vary the same words: the one along the axis, and panels for the others."""

    word: str
    panels: dict[str, list[Cell]]

    @property
    def cells(self) -> list[Cell]:
        """All of them."""
        return [cell for cells in self.panels.values() for cell in cells]


def draw(experiment: Experiment, outcomes: Outcomes) -> Drawing:
    """Draw the mean of all runs at the horizon with a band; all panels share their regret axis."""
    found = blocks(experiment.cells)
    looks = palette.looks(policies_of(experiment.cells))
    across = 2 if len(found) > 1 else 1
    down = math.ceil(len(found) / across)
    most = max(len(block.panels) for block in found)
    figure = blank(max(2.3 * most * across, 6.0), 2.75 * down + 0.5)
    parts = figure.subfigures(down, across, squeeze=False).ravel()
    means = [mean for block in found for mean in _means(block.cells, outcomes)]
    log = any(
        wide_apart(_means(cells, outcomes), LOG_FROM)
        for block in found
        for cells in block.panels.values()
    )
    limits = _limits(means, log=log)
    for block, part in zip(found, parts, strict=False):
        _block(block, part, outcomes, looks, log=log, limits=limits)
    legend(figure, looks)
    over = " and over ".join(setting_text.AXES.get(block.word, "cells") for block in found)
    alt = f"Final regret of each policy over {over}. {lowest_regret(experiment, outcomes)}"
    return Drawing(experiment.name, figure, _caption(experiment, outcomes), alt)


def blocks(cells: tuple[Cell, ...]) -> list[Block]:
    """Cells by the words they vary; sweeps that vary the same words belong together."""
    grouped: dict[tuple[str, ...], list[Cell]] = {}
    for cell in cells:
        grouped.setdefault(tuple(cell.varied), []).append(cell)
    return [_grouped(keys, members) for keys, members in grouped.items()]


def _grouped(keys: tuple[str, ...], cells: list[Cell]) -> Block:
    numeric = [k for k in keys if all(isinstance(c.varied[k], int | float) for c in cells)]
    word = (numeric or list(keys) or [""])[0]
    columns: dict[str, list[Cell]] = {}
    for cell in cells:
        others = {key: value for key, value in cell.varied.items() if key != word}
        columns.setdefault(setting_text.title(others), []).append(cell)
    return Block(word, columns)


def _means(cells: list[Cell], outcomes: Outcomes) -> list[float]:
    return [float(outcomes[cell.id, p].final.mean()) for cell in cells for p in cell.policies]


def _limits(means: list[float], *, log: bool) -> tuple[float, float]:
    positive = [mean for mean in means if mean > 0] or [1.0]
    return (min(positive) / 1.3, max(positive) * 1.3) if log else (0.0, max(positive) * 1.08)


def _block(
    block: Block,
    part: SubFigure,
    outcomes: Outcomes,
    looks: dict[str, palette.Look],
    *,
    log: bool,
    limits: tuple[float, float],
) -> None:
    axes = part.subplots(1, len(block.panels), sharey=True, squeeze=False)[0]
    for place, (title, cells) in zip(axes, block.panels.items(), strict=True):
        place.set_yscale("log" if log else "linear")
        place.set_ylim(*limits)
        x = along(cells, block.word)
        for label in {label: None for cell in cells for label in cell.policies}:
            have = [i for i, cell in enumerate(cells) if label in cell.policies]
            finals = [outcomes[cells[i].id, label].final for i in have]
            means = np.array([final.mean() for final in finals])
            errors = np.array([standard_error(final) for final in finals])
            line(place, x[have], means, errors, looks[label])
        place.set_title(title, fontsize=8.5, parse_math=False)
        ticks(place, x, [cell.varied.get(block.word, "") for cell in cells])
        tidy(place)
    part.supxlabel(setting_text.AXES.get(block.word, ""), fontsize=9)
    axes[0].set_ylabel("regret (log scale)" if log else "regret", fontsize=9)


def along(cells: list[Cell], word: str) -> Floats:
    """Where cells stand on the axis: at their value, or one after another where it is a word."""
    values = [cell.varied.get(word) for cell in cells]
    numeric = all(isinstance(value, int | float) for value in values)
    return np.array(values if numeric else range(len(values)), dtype=np.float64)


def ticks(axes: Axes, x: Floats, values: list[Any]) -> None:
    """Ticks at the values that were run, on a log axis when they are far apart, none too close."""
    log = bool(len(x) > 2 and x.min() > 0 and x.max() >= 8 * x.min())
    axes.set_xscale("log" if log else "linear")
    place = np.log(x) if log else x
    shown: list[int] = []
    for i in np.argsort(place):
        if not shown or place[i] - place[shown[-1]] >= 0.11 * np.ptp(place):
            shown.append(int(i))
    axes.set_xticks(x[shown], [plain(values[i]) for i in shown])
    axes.xaxis.set_minor_locator(matplotlib("ticker").NullLocator())


def _caption(experiment: Experiment, outcomes: Outcomes) -> str:
    rounds = setting_text.rounds(experiment)
    return (
        f"{experiment.title}: cumulative pseudo-regret after {rounds} rounds, mean "
        f"of {runs_drawn(experiment, outcomes)}, bands of ± one standard error. "
        f"{shared_setting(experiment)}"
    )
