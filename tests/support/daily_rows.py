"""Rows of counts and totals, one a day and an arm: new events, or running totals."""

import importlib
from datetime import datetime, timedelta
from typing import Any

import numpy as np

pandas: Any = importlib.import_module("pandas")

START = datetime(2026, 1, 1)
NAMES: dict[str, Any] = {"arm": "ad", "count": "n", "total": "k", "time": "at"}


def columns(days: int = 8, arms: int = 2, seed: int = 0, *, run: bool = False) -> dict[str, Any]:
    """New events of each arm, a row a day; the traffic is common and varies.

    Args:
        days: Rows of each arm.
        arms: How many there are.
        seed: Of the numbers.
        run: Give running totals of them.
    """
    rng = np.random.default_rng(seed)
    traffic = rng.lognormal(0, 0.4, days) * 1000
    found: dict[str, Any] = {"ad": np.repeat(list("ABCDEF"[:arms]), days), "n": [], "k": []}
    for arm in range(arms):
        n = rng.poisson(traffic) + 1
        k = rng.binomial(n, 0.1 + 0.02 * arm)
        for name, new in (("n", n), ("k", k)):
            found[name] = np.append(found[name], new.cumsum() if run else new).astype(np.int64)
    return found | {"at": [START + timedelta(days=i) for i in range(days)] * arms}


def daily(days: int = 8, arms: int = 2, seed: int = 0) -> Any:
    """New events as a frame of pandas."""
    return pandas.DataFrame(columns(days, arms, seed))


def running(new: Any) -> Any:
    """The same as running totals."""
    return new.assign(**{x: new.groupby("ad")[x].cumsum() for x in ("n", "k")})
