"""The suite of mean against tail, in full: several seeds, and where policies are above TS."""

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.pages import render
from driftanchor.core.stats.summary import standard_error
from driftanchor.experiments import figures, spec, sweep, tail
from driftanchor.experiments.experiment import Cell, Experiment
from driftanchor.experiments.outcome import Outcomes, joined
from driftanchor.render.figure import save, sheet

SEEDS = 3
LONG, LONG_SHARE = 100_000, 0.5  # rounds, and runs of them for each run of the suite
SHOWN = ("ts", "anchor-ts", "hierarchical-ts", "guarded-anchor-ts", "guarded, V proved")
BASE, DEFAULT = "ts", "guarded-anchor-ts"
RELATIVE = "moved together"  # the settings with W, counted for themselves
# Cells that are also run for so long.
LONG_CELLS = (
    "no logs/arms=10",
    "no logs/gap=0.5",
    "no logs/shape=ladder",
    "no logs/reward=bernoulli/base=0.5",
    "no logs of the best arm/coverage=0,0.1112*",
    "logs that mislead, V right/coverage=uniform",
    "logs that mislead, V = 0/coverage=optimal",
)


def measure(runs: int, seed: int, progress: Callable[[str], None]) -> dict[str, render.Block]:
    """The tables of the page, and its figure."""
    each = -(-runs // SEEDS)
    seeds = [seed + i for i in range(SEEDS)]
    suite = spec.load("suite", runs=each)
    outcomes = _pooled(suite, seeds, progress)
    whole = dataclasses.replace(suite, runs=each * SEEDS)
    with sheet(), TemporaryDirectory() as folder:
        save(figures.draw(whole, outcomes).figure, Path(folder), "suite")
        (render.PICTURES / "suite.svg").write_bytes((Path(folder) / "suite.svg").read_bytes())
    long = spec.load("suite", runs=max(2, int(each * LONG_SHARE)), horizon=LONG)
    cells = [
        dataclasses.replace(cell, policies={label: cell.policies[label] for label in SHOWN})
        for cell in (_cell(long, name) for name in LONG_CELLS)
    ]
    long = dataclasses.replace(long, cells=tuple(cells))
    return {
        "suite": _table(whole, outcomes),
        "suite-long": _table(long, _pooled(long, seeds, progress)),
        "suite-count": _count(whole, outcomes),
        "suite-above": _above(whole, outcomes),
    }


def _pooled(experiment: Experiment, seeds: list[int], progress: Callable[[str], None]) -> Outcomes:
    """The runs of all seeds together."""
    found: list[Outcomes] = []
    with TemporaryDirectory() as folder:
        for seed in seeds:
            progress(f"suite: {experiment.horizon:,} rounds, seed {seed}")
            found.append(sweep.run(sweep.jobs([experiment], seed), Path(folder)))
    return {key: joined([part[key] for part in found]) for key in found[0]}


def _table(experiment: Experiment, outcomes: Outcomes) -> render.Block:
    """Mean, tail and stuck runs of the policies shown, in every cell."""
    rows = []
    for cell in experiment.cells:
        for label in SHOWN:
            outcome = outcomes[cell.id, label]
            final = outcome.final
            median, q90, q99 = np.quantile(final, [0.5, 0.9, 0.99])
            numbers = {
                "mean": final.mean(),
                "se": standard_error(final),
                "median": median,
                "q90": q90,
                "q99": q99,
                "max": final.max(),
                **tail.statistics(outcome, cell.bandit.gaps),
            }
            kept = {name: round(float(x), 5) for name, x in numbers.items()}
            rows.append({"cell": _short(cell), "policy": label, **kept})
    runs = len(next(iter(outcomes.values())).final)
    return {"kind": "suite", "runs": runs, "horizon": experiment.horizon, "rows": rows}


def _count(experiment: Experiment, outcomes: Outcomes) -> render.Block:
    """In how many settings each policy is at most TS, and how far above it is at worst."""
    kinds = (
        [cell for cell in experiment.cells if cell.group != RELATIVE],
        [cell for cell in experiment.cells if cell.group == RELATIVE],
    )
    rows = []
    for label in experiment.cells[0].policies:
        if label == BASE:
            continue
        found = [np.array([_ratios(cell, label, outcomes) for cell in cells]) for cells in kinds]
        counts = [f"{x}" for ratios in found for x in (ratios <= 1.0).sum(axis=0)]
        worst = [f"{x:.2f}" for x in found[0].max(axis=0)]
        rows.append({"label": label, "cells": [*counts[:2], *worst, *counts[2:]]})
    columns = [
        "",
        f"mean at most TS's, of {len(kinds[0])} with V",
        "99 % at most TS's",
        "largest mean over TS's",
        "largest 99 % over TS's",
        f"mean at most TS's, of {len(kinds[1])} with W",
        "99 % at most TS's",
    ]
    return {"kind": "table", "columns": columns, "rows": rows}


def _above(experiment: Experiment, outcomes: Outcomes) -> render.Block:
    """Where the default is above TS, by how much, and whether that may be chance."""
    lists: dict[str, list[str]] = {"mean": [], "99 % quantile": []}
    for cell in experiment.cells:
        mean, q99 = _ratios(cell, DEFAULT, outcomes)
        ours, theirs = (outcomes[cell.id, label] for label in (DEFAULT, BASE))
        if mean > 1.0:
            error = math.hypot(standard_error(ours.final), standard_error(theirs.final))
            z = (ours.final.mean() - theirs.final.mean()) / error
            by = f"{100 * (mean - 1):.1f} %, {z:.1f} standard errors"
            lists["mean"].append(f"{_short(cell)} ({by})")
        if q99 > 1.0:
            low = tail.statistics(ours, cell.bandit.gaps)["q99_low"]
            high = tail.statistics(theirs, cell.bandit.gaps)["q99_high"]
            apart = ", intervals apart" if low > high else ""
            by = f"{100 * (q99 - 1):.1f} %{apart}"
            lists["99 % quantile"].append(f"{_short(cell)} ({by})")
    text = "\n".join(
        f"- {DEFAULT} above TS in its {name}: {'; '.join(cells) or 'nowhere'}."
        for name, cells in lists.items()
    )
    return {"kind": "text", "text": text}


def _ratios(cell: Cell, label: str, outcomes: Outcomes) -> tuple[float, float]:
    """Mean and 99 % quantile over those of TS."""
    ours, theirs = (outcomes[cell.id, name].final for name in (label, BASE))
    q99 = [float(np.quantile(final, 0.99)) for final in (ours, theirs)]
    return float(ours.mean() / theirs.mean()), q99[0] / q99[1]


def _cell(experiment: Experiment, name: str) -> Cell:
    """The cell with this id, or with an id that begins so where the name ends in a star."""
    wanted = f"{experiment.name}/{name}"
    found = [
        cell
        for cell in experiment.cells
        if cell.id == wanted or (wanted[-1] == "*" and cell.id.startswith(wanted[:-1]))
    ]
    (cell,) = found
    return cell


def _short(cell: Cell) -> str:
    """The cell's name without the experiment's, and no long list of shares."""
    name = cell.id.partition("/")[2]
    return name if len(name) < 60 else name.partition("=")[0].rpartition("/")[0] + ", ten arms"
