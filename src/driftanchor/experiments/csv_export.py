"""CSV files: every regret that was kept, one row for each, and a summary of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from driftanchor.experiments import tail
from driftanchor.experiments.experiment import Cell, Experiment
from driftanchor.experiments.outcome import Outcome
from driftanchor.experiments.reproduction import Reproduction
from driftanchor.render.csv_file import write_csv, write_grouped
from driftanchor.simulation.result import STATISTICS

SUMMARY = "summary"
Group = tuple[list[object], Iterator[tuple[int, int, float]]]
DIGITS = 9  # regrets are sums of gaps: what is beyond is rounding


def write(found: Reproduction, folder: Path, *, escape_formulas: bool = True) -> list[Path]:
    """Write one file for each experiment, and `summary.csv`; returns their paths.

    The first runs have a row for each checkpoint, the others one for the horizon. Every setting
    that some cell varies has a column in all rows. `escape_formulas` is as for `write_csv`.
    """
    paths = []
    for experiment in found.experiments:
        varied = dict.fromkeys(word for cell in experiment.cells for word in cell.varied)
        heading = ["experiment", "cell", *varied, "policy", "run", "checkpoint", "regret"]
        paths.append(folder / f"{experiment.name}.csv")
        groups = _groups(experiment, list(varied), found)
        write_grouped(paths[-1], heading, groups, escape_formulas=escape_formulas)
    paths.append(folder / f"{SUMMARY}.csv")
    heading = ["cell", "policy", *STATISTICS, *tail.STATISTICS, "runs"]
    write_csv(paths[-1], heading, _summary(found), escape_formulas=escape_formulas)
    return paths


def _groups(experiment: Experiment, varied: list[str], found: Reproduction) -> Iterator[Group]:
    """The rows of each policy in each cell, which begin alike."""
    for cell in experiment.cells:
        values = [_value(cell, word) for word in varied]
        for label in cell.policies:
            outcome = found.outcomes[cell.id, label]
            start = [experiment.name, cell.id, *values, label]
            yield start, _read(experiment.at(cell), outcome)


def _read(experiment: Experiment, outcome: Outcome) -> Iterator[tuple[int, int, float]]:
    """Run, round and regret of all that was kept of a policy in a cell."""
    kept = experiment.curve_runs
    for run, curve in enumerate(outcome.curves[:kept].tolist()):
        for checkpoint, regret in zip(experiment.checkpoints, curve, strict=True):
            yield run, checkpoint, round(regret, DIGITS)
    for run, regret in enumerate(outcome.final[kept:].tolist(), kept):
        yield run, experiment.horizon, round(regret, DIGITS)


def _value(cell: Cell, word: str) -> object:
    value = getattr(cell.setting, word)
    return " ".join(map(str, value)) if isinstance(value, list) else value


def _summary(found: Reproduction) -> Iterator[list[Any]]:
    for experiment in found.experiments:
        for cell in experiment.cells:
            for label, numbers in found.statistics(cell).items():
                yield [cell.id, label, *(round(x, DIGITS) for x in numbers.values())]
