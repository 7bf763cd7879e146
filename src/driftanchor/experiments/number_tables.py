"""The tables of an experiment: means, and tails, of regret at the horizon."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from driftanchor.experiments import setting_text, tail
from driftanchor.experiments.experiment import Cell, Experiment
from driftanchor.experiments.figures.drawing import names_of
from driftanchor.experiments.reproduction import Reproduction
from driftanchor.render.numbers import MISSING, interval, percent, rounded, with_error
from driftanchor.render.table import Table

MEANS = "Mean regret at the horizon ± standard error, the lowest marked"
TAILS = (
    "Median and tail of regret at the horizon, with 95 % intervals; a run is stuck when one arm "
    "that is not the best took more than half of its rounds"
)


def cell_name(cell: Cell, experiment: Experiment) -> str:
    """What people read for a cell."""
    return setting_text.heading(cell, experiment.cells) or experiment.title


def means(experiment: Experiment, found: Reproduction) -> Table:
    """A row for each cell, a column for each policy."""
    names = names_of(experiment.cells)
    labels = list(names)
    rows, best = [], set()
    for row, cell in enumerate(experiment.cells):
        numbers = found.statistics(cell)
        lowest = min(numbers, key=lambda label: numbers[label]["mean"])
        best.add((row, 1 + labels.index(lowest)))
        texts = {p: with_error(x["mean"], x["se"]) for p, x in numbers.items()}
        cells = (texts.get(label, MISSING) for label in labels)
        rows.append((cell_name(cell, experiment), *cells))
    headings = ("cell", *names.values())
    return Table(MEANS, headings, tuple(rows), frozenset(best), words=True)


def tails(experiment: Experiment, found: Reproduction) -> Table:
    """A row for each policy in each cell."""
    names = names_of(experiment.cells)
    rows = [
        (cell_name(cell, experiment), names[label], *_tail(numbers))
        for cell in experiment.cells
        for label, numbers in found.statistics(cell).items()
    ]
    headings = ("cell", "policy", "median", "90 %", "99 %", "worst run", "stuck", "runs")
    return Table(TAILS, headings, tuple(rows), text=frozenset({0, 1}), words=True)


def _tail(numbers: Mapping[str, float]) -> Iterator[str]:
    yield from (rounded(numbers[name]) for name in ("median", "q90"))
    yield f"{rounded(numbers['q99'])} ({interval(numbers['q99_low'], numbers['q99_high'])})"
    yield rounded(numbers["max"])
    share, low, high = (percent(numbers[name]) for name in tail.STUCK)
    yield f"{share} ({low.removesuffix(' %')} to {high})"
    yield f"{numbers['runs']:,}"
