"""Our regret against the values of `calibration.toml`, in standard errors of the difference."""

import math
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.pages.losses import regrets
from driftanchor.core.stats.summary import summarise
from driftanchor.policies import make
from driftanchor.policies.base import Policy
from driftanchor.simulation import Bandit

TABLE = Path(__file__).with_name("calibration.toml")
LIMIT = 3.0  # standard errors; a sound comparison goes beyond them once in 370


class Cell(NamedTuple):
    """One policy in one world, and what the reference found there."""

    block: str
    setting: str
    coverage: str
    label: str
    policy: Policy
    bandit: Bandit
    horizon: int
    mean: float
    se: float | None  # None where the reference notes none
    runs: int


def cells() -> list[Cell]:
    """Every number of the table."""
    table = tomllib.loads(TABLE.read_text())
    return [
        Cell(
            setting["block"],
            setting["title"],
            coverage,
            label,
            _policy(**table["policies"][label]),
            _bandit(coverage, **setting["world"]),
            table["horizon"],
            value[0],
            value[1] if len(value) > 1 else None,
            setting["runs"],
        )
        for setting in table["settings"]
        for coverage in ("none", "uniform", "optimal", "suboptimal")
        for label, value in setting[coverage].items()
    ]


def compare(cell: Cell, runs: int, seed: int) -> dict[str, Any]:
    """Our mean in one cell, the reference's, and the difference in combined standard errors.

    A missing standard error of the reference is taken from our spread and its number of runs: it
    simulated the same law.
    """
    lost = regrets(cell.policy, cell.bandit, cell.horizon, runs, seed)
    ours = summarise(lost, {})
    spread = ours["se"] * math.sqrt(runs)
    reference_se = spread / math.sqrt(cell.runs) if cell.se is None else cell.se
    z = (ours["mean"] - cell.mean) / math.hypot(ours["se"], reference_se)
    return {
        "setting": cell.setting,
        "coverage": cell.coverage,
        "policy": cell.label,
        "mean": round(ours["mean"], 3),
        "se": round(ours["se"], 3),
        "reference": cell.mean,
        "reference_se": round(reference_se, 3),
        "reference_se_noted": cell.se is not None,
        "z": round(z, 3),
        "agrees": abs(z) <= LIMIT,
    }


def measure(runs: int, seed: int, progress: Callable[[str], None]) -> dict[str, dict[str, Any]]:
    """Compare every cell: a block for each setting, and one for all of them."""
    settings: dict[str, list[dict[str, Any]]] = {}
    for cell in cells():
        progress(f"{cell.setting}, {cell.coverage}: {cell.label}")
        settings.setdefault(cell.block, []).append(compare(cell, runs, seed))
    every = [row for rows in settings.values() for row in rows]
    verdict = {
        "kind": "verdict",
        "runs": runs,
        "seed": seed,
        "limit": LIMIT,
        "cells": len(every),
        "agree": sum(row["agrees"] for row in every),
        "worst": max(every, key=lambda row: abs(row["z"])),
        "rms": round(math.sqrt(sum(row["z"] ** 2 for row in every) / len(every)), 3),
    }
    blocks = {name: {"kind": "calibration", "cells": rows} for name, rows in settings.items()}
    return {"calibration": verdict, **blocks}


def _policy(*, policy: str, **parameters: Any) -> Policy:
    return make(policy, **parameters)


def _bandit(coverage: str, **world: Any) -> Bandit:
    if coverage == "none":
        return Bandit.paper(total=0, **world)
    return Bandit.paper(coverage=coverage, **world)
