"""What exported campaigns are good for: means of arms by inverse propensities, 200 times."""

import csv
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import NormalDist
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.pages import render
from driftanchor import Campaign, OfflineData
from driftanchor.core.check import Floats
from driftanchor.core.stats.intervals import wilson

TRUTH = {"A": 0.30, "B": 0.25, "C": 0.20}
LOGS = {"A": (400, 0.25, 0.19), "B": (400, 0.27, 0.20), "C": (400, 0.20, 0.16)}
BOUND, FLOOR = 0.08, 0.1
DECISIONS, AT_ONCE = 1_000, 50
RUNS_PER_CAMPAIGN = 10  # a campaign costs as much as some simulated runs
HALF = NormalDist().inv_cdf(0.975)


def measure(runs: int, seed: int, progress: Callable[[str], None]) -> dict[str, render.Block]:
    """The table of the page."""
    many = max(2, runs // RUNS_PER_CAMPAIGN)
    found = []
    for i in range(many):
        if i % 10 == 0:
            progress(f"campaigns: {i} of {many}")
        with TemporaryDirectory() as folder:
            found.append(_one(Path(folder), seed + i))
    weighted, half, plain = (np.array(part) for part in zip(*found, strict=True))
    rows = [_row(label, i, weighted, half, plain) for i, label in enumerate(TRUTH)]
    inside = np.abs(weighted - _truth()) <= half
    low, high = wilson(float(inside.mean()), inside.size)
    rows.append(
        {
            "label": "all arms",
            "cells": [
                "",
                "",
                f"{100 * inside.mean():.1f} ({100 * low:.1f} to {100 * high:.1f})",
                "",
            ],
        }
    )
    columns = [
        f"{many} campaigns of {DECISIONS:,} decisions, floor {FLOOR:g}",
        "true mean",
        "by inverse propensities: mean of the estimates",
        "95 % intervals with the truth in them, %",
        "plain mean of its rewards",
    ]
    return {"campaign-means": {"kind": "table", "columns": columns, "rows": rows}}


def inverse_propensity(rows: Iterable[tuple[str, float, float]], arm: str) -> tuple[float, float]:
    """The mean of an arm and half of its 95 % interval, from (arm, propensity, reward).

    Example:
        >>> rows = [("A", 0.5, 1.0), ("B", 0.5, 1.0), ("A", 0.25, 0.0), ("B", 0.75, 0.6)]
        >>> mean, half = inverse_propensity(rows, "B")
        >>> round(mean, 3), round(half, 3)
        (0.7, 0.926)
    """
    terms = np.array([reward / p if label == arm else 0.0 for label, p, reward in rows])
    return float(terms.mean()), float(HALF * terms.std(ddof=1) / math.sqrt(terms.size))


def _one(folder: Path, seed: int) -> tuple[list[float], list[float], list[float]]:
    """Play a campaign, export it, and estimate: means, halves of intervals, plain means."""
    rng = np.random.default_rng([seed, 16])
    with Campaign.create(
        "it",
        offline=OfflineData.from_summary(LOGS),
        bias_bound=BOUND,
        reward="binary",
        floor=FLOOR,
        seed=seed,
        store=f"sqlite:///{folder / 'store.db'}",
    ) as campaign:
        for _ in range(DECISIONS // AT_ONCE):
            made = campaign.ask(n=AT_ONCE)
            drawn = rng.random(len(made))
            campaign.tell_many(
                [(str(x.id), float(u < TRUTH[x.arm])) for x, u in zip(made, drawn, strict=True)]
            )
        campaign.export(folder / "decisions.csv")
    with (folder / "decisions.csv").open(newline="", encoding="utf-8") as file:
        rows = [
            (row["arm"], float(row["propensity"]), float(row["reward"]))
            for row in csv.DictReader(file)
        ]
    means, halves = zip(*(inverse_propensity(rows, arm) for arm in TRUTH), strict=True)
    plain = [float(np.mean([x for label, _, x in rows if label == arm])) for arm in TRUTH]
    return list(means), list(halves), plain


def _row(label: str, i: int, weighted: Floats, half: Floats, plain: Floats) -> render.Block:
    inside = np.abs(weighted[:, i] - TRUTH[label]) <= half[:, i]
    cells = [
        f"{TRUTH[label]:g}",
        _with_error(weighted[:, i]),
        f"{100 * inside.mean():.1f}",
        _with_error(plain[:, i]),
    ]
    return {"label": label, "cells": cells}


def _with_error(values: Floats) -> str:
    return f"{values.mean():.4f} ± {values.std(ddof=1) / math.sqrt(values.size):.4f}"


def _truth() -> Floats:
    return np.array(list(TRUTH.values()))
