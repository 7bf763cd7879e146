"""How often intervals of a mean difference miss it: Student's, and those that claims are judged by.

The truth is the mean of a large population of runs; samples are drawn from it with replacement.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from benchmarks.pages import render
from driftanchor.core.check import Floats
from driftanchor.core.stats.bounded_mean import bounded_mean_interval
from driftanchor.core.stats.distributions import critical_t
from driftanchor.core.stats.summary import standard_error
from driftanchor.experiments import spec
from driftanchor.simulation import simulate

PAIRS = {  # cell: which policy minus which
    "fig1/gap=0.3/coverage=uniform": ("anchor-ts", "hybrid-ts"),
    "fig7/gap=0.3/arms=5": ("anchor-ts", "ts"),
    "fig1/gap=0.1/coverage=optimal": ("min-ucb", "ucb"),
}
SIZES = (500, 2_000, 8_000)
LEVELS = (0.05, 0.01, 0.001)
SAMPLES = 10_000
FEWER = 1_000  # samples for the slower intervals
POPULATION = 50  # times the runs asked for


class Population(NamedTuple):
    """Differences of final regret, run by run, and the range they may have."""

    differences: Floats
    most: float

    @property
    def mean(self) -> float:
        """What an interval should cover."""
        return float(self.differences.mean())


def population(cell_id: str, runs: int, seed: int) -> Population:
    """Many runs of a pair in its cell."""
    experiment = spec.load(cell_id.partition("/")[0])
    cell = next(cell for cell in experiment.cells if cell.id == cell_id)
    policies = {name: cell.policies[name] for name in PAIRS[cell_id]}
    result = simulate(
        policies,
        cell.bandit,
        horizon=experiment.horizon,
        runs=runs,
        seed=seed,
        checkpoints=1,
        engine="thinned",
    )
    one, other = (result.final(name) for name in PAIRS[cell_id])
    return Population(one - other, float(cell.bandit.gaps.max()) * experiment.horizon)


def misses(found: Population, size: int, level: float, seed: int) -> tuple[Floats, Floats]:
    """(Student's, ours): the share of intervals that miss the mean, and their mean width."""
    rng = np.random.default_rng([seed, size])
    z = critical_t(level, size - 1)
    old, new = [], []
    for i in range(SAMPLES):
        sample = rng.choice(found.differences, size)
        half = z * float(standard_error(sample))
        old.append(_judged(found.mean, sample.mean() - half, sample.mean() + half))
        if i < FEWER:
            ends = bounded_mean_interval(sample, -found.most, found.most, level)
            new.append(_judged(found.mean, *ends))
    return np.mean(old, axis=0), np.mean(new, axis=0)


def _judged(truth: float, low: float, high: float) -> tuple[bool, float]:
    return not low <= truth <= high, high - low


def measure(runs: int, seed: int, progress: Callable[[str], None]) -> dict[str, render.Block]:
    """The table of `docs/evidence/intervals.md`."""
    rows = []
    for cell, (one, other) in PAIRS.items():
        progress(f"intervals: {cell}, {POPULATION * runs:,} runs")
        found = population(cell, POPULATION * runs, seed)
        for size in SIZES:
            measured = [misses(found, size, level, seed) for level in LEVELS]
            cells = [f"{100 * old[0]:.2f} and {100 * new[0]:.2f}" for old, new in measured]
            old, new = measured[-1]
            label = f"{one} − {other}, {cell}, {size:,} runs"
            rows.append({"label": label, "cells": [*cells, f"{old[1]:.3g} and {new[1]:.3g}"]})
    return {
        "intervals": {
            "kind": "table",
            "columns": [
                "misses in %, Student's and ours",
                *(f"stated {100 * level:g} %" for level in LEVELS),
                f"mean width at {100 * LEVELS[-1]:g} %",
            ],
            "rows": rows,
        }
    }
