"""Regret over the rounds: a panel for each cell, and below them the tail at the end."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.stats.summary import standard_error
from driftanchor.experiments.experiment import Cell, Experiment
from driftanchor.experiments.figures import lower_bound, tail_panel, zoom
from driftanchor.experiments.figures.drawing import (
    Drawing,
    keys_of,
    lowest_regret,
    policies_of,
    runs_drawn,
    shared_setting,
)
from driftanchor.experiments.figures.grid import Panel, Rows, grid, parts
from driftanchor.experiments.figures.print_page import (
    ROOM,
    WIDE,
    Page,
    letters,
    set_labels,
    set_title,
)
from driftanchor.experiments.outcome import Outcomes
from driftanchor.experiments.setting_text import rounds as rounds_of
from driftanchor.render import palette
from driftanchor.render.figure import (
    blank,
    key,
    legend_above,
    line,
    matplotlib,
    style,
    tick_label,
    tidy,
    wide_apart,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANEL = 1.6  # inches that a panel is wide at least
HEIGHT = 1.4  # of a row, in inches
MARGIN = 0.4  # inches that a panel needs for the numbers of its axis
LOG_FROM = 40.0  # times the smallest mean in one panel: then regret is drawn on a log axis
ALIKE = 4.0  # panels whose highest values differ by no more than this share their axis


def draw(experiment: Experiment, outcomes: Outcomes, page: Page = WIDE) -> Drawing:
    """Draw the mean with a band, and the 99 % quantile at the horizon."""
    rows = grid(experiment.cells, page.across(PANEL))
    looks = palette.looks(policies_of(experiment.cells))
    log = any(wide_apart(_ends(cell, outcomes), LOG_FROM) for cell in experiment.cells)
    share = "row" if log else _sharing(rows, outcomes)
    width = page.width / len(rows[0])
    figure = blank(page.width, HEIGHT * (len(rows) + 1) + 0.4)
    places = figure.add_gridspec(len(rows) + 1, len(rows[0]))
    drawn: dict[tuple[int, int], tuple[Axes, Panel]] = {}
    for (r, row), c in itertools.product(enumerate(rows), range(len(rows[0]))):
        if (panel := row[c]) is None:
            continue
        twin = drawn.get((r, 0) if share == "row" else (0, c)) if share != "none" else None
        axes = figure.add_subplot(places[r, c], sharey=twin[0] if twin else None)
        drawn[r, c] = axes, panel
        _panel(axes, experiment, panel.cell, outcomes, looks, log=log)
        set_title(axes, f"{panel.letter} {panel.title}", width - MARGIN, panel.above, width)
    for (r, c), (axes, panel) in drawn.items():  # when all is drawn, because axes are shared
        _scales(axes, experiment, panel.cell, outcomes, ticks=max(2, int(1.6 * width)))
        at_end = (r + 1, c) not in drawn
        axes.tick_params(labelbottom=at_end)
        set_labels(axes, "round" if at_end else "", "" if c else "regret")
    windows = False
    for axes, panel in drawn.values():
        rounds, curves = _curves(experiment, panel.cell, outcomes)
        windows |= zoom.draw(axes, rounds, {p: x.mean(0) for p, x in curves.items()}, looks)
    for columns, panels in parts(rows):
        axes = figure.add_subplot(places[-1, columns])
        _tail(axes, panels, outcomes, looks, width * (columns.stop - columns.start))
        set_labels(axes, y="" if columns.start else "regret")
    bound = any(lower_bound.rate(cell.bandit) > 0 for cell in experiment.cells)
    keys = [key(name, **style(look)) for name, look in keys_of(experiment.cells).items()]
    legend_above(figure, keys + ([key(lower_bound.NAME, **lower_bound.look())] if bound else []))
    alt = f"Regret of each policy over the rounds. {lowest_regret(experiment, outcomes)}"
    caption = _caption(experiment, outcomes, bound=bound, windows=windows)
    return Drawing(experiment.name, caption, alt, figure)


def _ends(cell: Cell, outcomes: Outcomes) -> list[float]:
    """Where each policy's curve in a cell ends."""
    return [float(outcomes[cell.id, label].final.mean()) for label in cell.policies]


def _sharing(rows: Rows, outcomes: Outcomes) -> Literal["row", "col", "none"]:
    """Which panels share their regret axis: halves if that hides nothing, else rows, or none."""
    tops = [[max(_ends(panel.cell, outcomes)) if panel else 0.0 for panel in row] for row in rows]
    columns = list(zip(*tops, strict=True))
    if len(parts(rows)) > 1 and not any(wide_apart(column, ALIKE) for column in columns):
        return "col"
    return "none" if any(wide_apart(row, ALIKE) for row in tops) else "row"


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
    rounds, found = _curves(experiment, cell, outcomes)
    every = max(1, len(rounds) // 5)
    for i, (label, curves) in enumerate(found.items()):
        first = 1 + i * every // len(found)  # apart, so that markers hide no others
        band = standard_error(curves)
        line(axes, rounds, curves.mean(0), band, looks[label], markevery=(first, every))


def _curves(
    experiment: Experiment, cell: Cell, outcomes: Outcomes
) -> tuple[Floats, dict[str, Floats]]:
    """The rounds, and the regret of each policy by (run, round), from 0 on."""
    rounds: Floats = np.array([0, *experiment.at(cell).checkpoints], dtype=np.float64)
    kept = {p: outcomes[cell.id, p].curves[: experiment.drawn_runs] for p in cell.policies}
    return rounds, {p: np.pad(curves, ((0, 0), (1, 0))) for p, curves in kept.items()}


def _scales(
    axes: Axes, experiment: Experiment, cell: Cell, outcomes: Outcomes, *, ticks: int
) -> None:
    horizon = experiment.at(cell).horizon
    top = lower_bound.draw(axes, cell.bandit, horizon, max(_ends(cell, outcomes)) or 1.0)
    low, high = 0.0, max(axes.get_ylim()[1], 1.05 * top)
    if axes.get_yscale() == "log":  # the same for all, with no room for the first rounds
        ends = [end for each in experiment.cells for end in _ends(each, outcomes) if end > 0]
        low, high = min(ends, default=1.0) / 3, 1.5 * max(ends, default=1.0)
    axes.set_xlim(0, horizon)
    axes.set_ylim(low, high)
    ticker = matplotlib("ticker")
    axes.xaxis.set_major_locator(ticker.MaxNLocator(ticks, integer=True))
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(tick_label))
    tidy(axes, ROOM)


def _tail(
    axes: Axes,
    panels: Sequence[Panel],
    outcomes: Outcomes,
    looks: dict[str, palette.Look],
    width: float,
) -> None:
    cells = [panel.cell for panel in panels]
    tail_panel.draw(axes, cells, [panel.letter for panel in panels], outcomes, looks)
    letter = next(itertools.islice(letters(), len(panels), None))
    set_title(axes, f"{letter} {tail_panel.TITLE}", width - MARGIN)


def _caption(experiment: Experiment, outcomes: Outcomes, *, bound: bool, windows: bool) -> str:
    extras = [zoom.CAPTION] if windows else []
    extras += [lower_bound.CAPTION] if bound else []
    return (
        f"{experiment.title}: cumulative pseudo-regret over {rounds_of(experiment)} rounds, mean "
        f"of {runs_drawn(experiment, outcomes)}, bands of ± one standard error. Last row: the 99 % "
        "quantile over all runs at the end, with intervals at 95 %, in the cells of the panels "
        f"above. {' '.join([*extras, shared_setting(experiment)])}"
    )
