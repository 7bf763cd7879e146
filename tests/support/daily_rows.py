"""Rows of counts and totals, one a day and an arm: new events, or running totals."""

import importlib
from datetime import datetime, timedelta
from typing import Any

import numpy as np

pandas: Any = importlib.import_module("pandas")

START = datetime(2026, 1, 1)
NAMES: dict[str, Any] = {"arm": "ad", "count": "n", "total": "k", "time": "at"}


def daily(days: int = 8, arms: int = 2, seed: int = 0) -> Any:
    """New events of each arm, a row a day; the traffic is common and varies."""
    rng = np.random.default_rng(seed)
    traffic = rng.lognormal(0, 0.4, days) * 1000
    parts = []
    for arm in range(arms):
        n = rng.poisson(traffic) + 1
        at = [START + timedelta(days=i) for i in range(days)]
        k = rng.binomial(n, 0.1 + 0.02 * arm)
        parts.append(pandas.DataFrame({"ad": "ABCDEF"[arm], "n": n, "k": k, "at": at}))
    return pandas.concat(parts, ignore_index=True)


def running(new: Any) -> Any:
    """The same as running totals."""
    return new.assign(**{x: new.groupby("ad")[x].cumsum() for x in ("n", "k")})
