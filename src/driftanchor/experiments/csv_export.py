"""CSV files: every regret that was kept, one row for each, and a summary of them."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from driftanchor.experiments import tail
from driftanchor.experiments.experiment import Cell, Experiment
from driftanchor.experiments.outcome import Outcome
from driftanchor.experiments.reproduction import Reproduction
from driftanchor.files import write_whole
from driftanchor.simulation.result import STATISTICS

SUMMARY = "summary"
DIGITS = 9  # regrets are sums of gaps: what is beyond is rounding


def write(found: Reproduction, folder: Path) -> list[Path]:
    """Write one file for each experiment, and `summary.csv`; returns their paths.

    The first runs have a row for each checkpoint, the others one for the horizon. Every setting
    that some cell varies has a column in all rows.
    """
    paths = []
    for experiment in found.experiments:
        varied = dict.fromkeys(word for cell in experiment.cells for word in cell.varied)
        heading = ["experiment", "cell", *varied, "policy", "run", "checkpoint", "regret"]
        paths.append(folder / f"{experiment.name}.csv")
        write_rows(paths[-1], heading, _rows(experiment, list(varied), found))
    paths.append(folder / f"{SUMMARY}.csv")
    write_rows(
        paths[-1], ["cell", "policy", *STATISTICS, *tail.STATISTICS, "runs"], _summary(found)
    )
    return paths


def write_rows(path: Path, heading: list[str], rows: Iterable[list[Any]]) -> None:
    """Write a CSV file whole."""
    with write_whole(path) as scratch, scratch.open("w", newline="", encoding="utf-8") as out:
        file = csv.writer(out, lineterminator="\n")
        file.writerow(heading)
        file.writerows(rows)


def _rows(experiment: Experiment, varied: list[str], found: Reproduction) -> Iterator[list[Any]]:
    for cell in experiment.cells:
        values = [_value(cell, word) for word in varied]
        for label in cell.policies:
            start = [experiment.name, cell.id, *values, label]
            for run, checkpoint, regret in _read(experiment, found.outcomes[cell.id, label]):
                yield [*start, run, checkpoint, round(regret, DIGITS)]


def _read(experiment: Experiment, outcome: Outcome) -> Iterator[tuple[int, int, float]]:
    """Run, round and regret of all that was kept of a policy in a cell."""
    kept = experiment.curve_runs
    for run, curve in enumerate(outcome.curves[:kept].tolist()):
        for checkpoint, regret in zip(experiment.checkpoints, curve, strict=True):
            yield run, checkpoint, regret
    for run, regret in enumerate(outcome.final[kept:].tolist(), kept):
        yield run, experiment.horizon, regret


def _value(cell: Cell, word: str) -> object:
    value = getattr(cell.setting, word)
    return " ".join(map(str, value)) if isinstance(value, list) else value


def _summary(found: Reproduction) -> Iterator[list[Any]]:
    for experiment in found.experiments:
        for cell in experiment.cells:
            for label, numbers in found.statistics(experiment, cell).items():
                yield [cell.id, label, *(round(x, DIGITS) for x in numbers.values())]
