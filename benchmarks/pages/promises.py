"""Two promises: what the rules lose where logs moved together, moved apart, or say nothing.

The worlds are the aims that were set for the default rule. It is given W, how far an arm may move
from all others; what it is given may be wrong, and where it is wrong the world says so.
"""

import functools
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.pages import frontier, promises_frontier, promises_pictures, promises_tables, render
from benchmarks.pages.losses import regrets, statistics
from benchmarks.pages.promises_worlds import (
    DEFAULT,
    MORE,
    OLD,
    PROVED,
    RULES,
    Cell,
    Place,
    World,
    aims,
    blind,
    grid,
    relative,
    ten,
)
from driftanchor.policies import HybridTS
from driftanchor.policies.base import Policy
from driftanchor.simulation import Bandit, simulate

Progress = Callable[[str], None]

BEFORE = Path(__file__).with_name("promises.toml")  # the default of version 0.1, measured once
SILENT = 1_000  # rounds before the first reward


def lost(policy: Policy, world: World, runs: int, seed: int) -> Cell:
    """What a policy loses in a world."""
    bandit = blind(world.bandit) if isinstance(policy, HybridTS) else world.bandit
    runs *= MORE if len(bandit.arms) == 2 else 1
    numbers = statistics(regrets(policy, bandit, world.horizon, runs, seed))
    return {name: numbers[name] for name in ("mean", "se", "q99")}


@functools.cache
def before() -> dict[str, Any]:
    """What the default before lost in the same worlds, and how that was measured."""
    return tomllib.loads(BEFORE.read_text())


def measure(runs: int, seed: int, progress: Progress) -> dict[str, render.Block]:
    """Every block of the page, and its pictures; half of the usual runs."""
    runs = max(2, runs // 2)
    cells: dict[str, dict[str, Cell]] = {}
    for label, world in aims().items():
        progress(f"promises: {label}")
        cells[label] = {name: lost(rule, world, runs, seed) for name, rule in RULES.items()}
        cells[label][OLD] = before()["worlds"][label]
    gridded: dict[Place, dict[str, Cell]] = {}
    for place, world in grid().items():
        progress(f"promises: {place.label}")
        gridded[place] = {
            name: lost(RULES[name], world, runs, seed)
            for name in ("TS", "hierarchical TS", DEFAULT)
        }
        gridded[place][OLD] = before()["worlds"][place.label]
    progress("promises: no rewards yet")
    silent = first_day(max(2, runs // 10), seed)
    progress("promises: the frontier")
    points, larger = (frontier.trace(gap, horizon=20_000) for gap in (0.02, 0.1))
    promises_pictures.draw(points, {name: promises_frontier.pair(cells, name) for name in RULES})
    return {
        "promises-worlds": promises_tables.losses(cells, runs, seed),
        "promises-aims": promises_tables.verdicts(cells),
        "promises-grid": promises_tables.over_ts(gridded),
        "promises-grid-count": promises_tables.count(gridded),
        "promises-silent": silent,
        "promises-frontier": promises_frontier.table(points, cells),
        "promises-excluded": promises_frontier.excluded(points, cells),
        "promises-larger": promises_frontier.larger_gap(larger, cells),
    }


def first_day(runs: int, seed: int) -> render.Block:
    """Pulls of the logs' best arm before there is any reward."""
    live = ten(0.8, 0.5)
    bandits = {
        "V = 0": Bandit(live, live, 5_000, delay=SILENT),
        "W = 0": relative(live, live, 5_000, delay=SILENT),
    }
    names = {name: name for name in RULES if name != "TS"}
    names |= {DEFAULT: "**default**, estimated", PROVED: "**default**, proved"}
    rows = []
    for name, label in names.items():
        shares = []
        for bandit in bandits.values():
            effort: dict[str, Any] = {"horizon": SILENT, "runs": runs, "seed": seed}
            result = simulate({"it": RULES[name]}, bandit, engine="every-round", **effort)
            shares.append(float(result.pulls[0, :, 0].mean()) / SILENT)
        rows.append({"label": label, "cells": [f"{100 * share:.1f} %" for share in shares]})
    return {"kind": "table", "columns": ["rule", *bandits], "rows": rows}
