"""Pulls until the best arm is known, with logs that fit, that mislead, and that break a promise."""

from collections.abc import Callable

from benchmarks.pages import render
from driftanchor import Bandit, Identification, identify

ONLINE = [0.8] + [0.5] * 9
ANOTHER = [0.5, 0.8] + [0.5] * 8  # logs that name another arm
DELTA = 0.05


def settings() -> dict[str, Bandit]:
    """The worlds of the table, by what is said of them."""
    return {
        "no logs": Bandit(ONLINE),
        "200 logged rewards of each arm that fit, V = 0": Bandit(ONLINE, ONLINE, 200, 0.0),
        "1,000 that fit, V = 0": Bandit(ONLINE, ONLINE, 1_000, 0.0),
        "1,000 that fit, V = 0.05": Bandit(ONLINE, ONLINE, 1_000, 0.05),
        "1,000 that fit, V = 0.1": Bandit(ONLINE, ONLINE, 1_000, 0.1),
        "200 that mislead (the paper's), V right": Bandit.paper(biased=True),
        "1,000 that name another arm, V right": Bandit(ONLINE, ANOTHER, 1_000),
        "the same, V = 0.2, wrong": Bandit(ONLINE, ANOTHER, 1_000, 0.2),
        "the same, V = 0.1, wrong": Bandit(ONLINE, ANOTHER, 1_000, 0.1),
        "the same, V = 0, wrong": Bandit(ONLINE, ANOTHER, 1_000, 0.0),
        "two coins, 0.6 and 0.5, 5,000 that fit, V = 0.01": Bandit(
            [0.6, 0.5], [0.6, 0.5], 5_000, 0.01, "bernoulli"
        ),
    }


def measure(runs: int, seed: int, progress: Callable[[str], None]) -> dict[str, render.Block]:
    """The table of the page."""
    rows = []
    for label, bandit in settings().items():
        progress(f"identify: {label}")
        anytime = identify(bandit, delta=DELTA, runs=runs, seed=seed)
        paper = identify(bandit, delta=DELTA, runs=runs, seed=seed, radius="paper")
        cells = [_cell(anytime, "lucb"), _cell(anytime, "lucb-h"), _cell(paper, paper.rules[0])]
        rows.append({"label": label, "cells": cells})
    columns = [f"{runs:,} runs, δ = {DELTA:g}", "without logs", "LUCB-H", "with the paper's radius"]
    return {"identify": {"kind": "table", "columns": columns, "rows": rows}}


def _cell(found: Identification, rule: str) -> str:
    """Mean pulls, their 99 % quantile, and errors where there are any."""
    if rule not in found.rules:
        return ""
    row = found.summary()[rule]
    text = f"{row['mean']:,.0f} ± {row['se']:,.0f} ({row['q99']:,.0f})"
    low, high = 100 * row["error_low"], 100 * row["error_high"]
    return text if row["error"] == 0 else f"{text}, **wrong {low:.1f} to {high:.1f} %**"
