"""Rules that turn past moves into a bias bound, on logs whose moves are known."""

import math
from collections.abc import Callable

import numpy as np

from benchmarks.pages import render
from driftanchor.core.arms import Arms
from driftanchor.core.check import Floats
from driftanchor.core.offline import OfflineData
from driftanchor.shift.period_table import PeriodTable

SETTINGS = {  # arms, weeks, τ, how much of the moves all arms share
    "1 arm, 4 weeks, τ = 0.1": (1, 4, 0.1, 0.0),
    "3 arms, 4 weeks, τ = 0.1": (3, 4, 0.1, 0.0),
    "3 arms, 4 weeks, τ = 0.1, mostly common": (3, 4, 0.1, 0.8),
    "3 arms, 4 weeks, τ = 0.03": (3, 4, 0.03, 0.0),
    "10 arms, 12 weeks, τ = 0.1": (10, 12, 0.1, 0.0),
    "10 arms, 12 weeks, τ = 0.03, mostly common": (10, 12, 0.03, 0.8),
}
REWARDS = 1_000  # of an arm in a week, of noise 1: their mean has 0.03


def ours(history: PeriodTable) -> float:
    """What `suggest` does."""
    return history.level.bound(0.95)


def estimated(history: PeriodTable) -> float:
    """A normal quantile of the estimate."""
    tau = math.sqrt(history.one_way(pooled=True).estimate()[0])
    return 1.96 * tau * float(history.factors.max())


def upper(history: PeriodTable) -> float:
    """A normal quantile of the upper limit."""
    tau = math.sqrt(history.one_way(pooled=True).interval(0.05)[1][0])
    return 1.96 * tau * float(history.factors.max())


def pairwise(history: PeriodTable) -> float:
    """The 95 % quantile of moves between two weeks, less their noise."""
    one, other = np.triu_indices(len(history.periods), 1)
    squares = (history.mean[:, one] - history.mean[:, other]) ** 2
    noise = history.noise[:, one] + history.noise[:, other]
    return math.sqrt(float(np.quantile(np.maximum(squares - noise, 0.0), 0.95)))


RULES: dict[str, Callable[[PeriodTable], float]] = {
    "ours": ours,
    "1.96 τ̂": estimated,
    "1.96 times upper limit": upper,
    "95 % of past moves": pairwise,
}


def measure(runs: int, seed: int, progress: Callable[[str], None]) -> dict[str, render.Block]:
    """How often each rule covers the next moves of all arms; a tenth of the usual runs."""
    runs //= 10
    rows = []
    for label, setting in SETTINGS.items():
        progress(f"rules for V: {label}")
        rng = np.random.default_rng(seed)
        made = [_made(rng, *setting) for _ in range(runs)]
        cells = []
        for rule in RULES.values():
            bounds = np.array([rule(history) for history, _ in made])
            covered = np.mean(
                [bound >= most for bound, (_, most) in zip(bounds, made, strict=True)]
            )
            cells.append(f"{100 * covered:.0f} %, {np.median(bounds) / setting[2]:.1f} τ")
        rows.append({"label": label, "cells": cells})
    note = f"{runs} logs each, {REWARDS:,} rewards of noise 1 an arm and week"
    return {"rules": {"kind": "table", "columns": [note, *RULES], "rows": rows}}


def _made(
    rng: np.random.Generator, arms: int, weeks: int, tau: float, together: float
) -> tuple[PeriodTable, float]:
    """Logs of some weeks, and the largest move of an arm in the week after them."""
    common, own = rng.normal(0, 1, weeks + 1), rng.normal(0, 1, (arms, weeks + 1))
    shift: Floats = tau * (math.sqrt(together) * common + math.sqrt(1 - together) * own)
    seen = shift[:, :-1] + rng.normal(0, 1, (arms, weeks)) / math.sqrt(REWARDS)
    variance = rng.chisquare(REWARDS - 1, (arms, weeks)) / (REWARDS - 1)
    labels, n = Arms.numbered(arms), [REWARDS] * arms
    periods = {str(e): OfflineData(labels, n, seen[:, e], variance[:, e]) for e in range(weeks)}
    return PeriodTable.of(periods), float(np.abs(shift[:, -1] - shift[:, :-1].mean(axis=1)).max())
