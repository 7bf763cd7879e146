"""Events of two months: what was logged, and what came after."""

from __future__ import annotations

import importlib
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

pyarrow: Any = importlib.import_module("pyarrow")


SPLIT = "2026-02-01"


START = datetime(2026, 1, 2, tzinfo=UTC)


NAMES: dict[str, Any] = {"arm": "ad", "reward": "won", "time": "at"}


def events(
    before: dict[str, float], after: dict[str, float], n: int = 1500, *, money: bool = False
) -> Any:
    """Rewards of 0 and 1, or of money, at these rates: n of each arm in January and in February."""
    rng = np.random.default_rng(0)
    rows: dict[str, list[Any]] = {"ad": [], "won": [], "at": []}
    for month, rates in enumerate((before, after)):
        for label, rate in rates.items():
            won = (rng.random(n) < rate) * 1.0
            rows["ad"] += [label] * n
            rows["won"] += (won * rng.gamma(2.0, 5.0, n) if money else won).tolist()
            rows["at"] += [START + timedelta(days=31 * month, seconds=i) for i in range(n)]
    return pyarrow.table(rows)


SAME = events({"A": 0.3, "B": 0.2, "C": 0.1}, {"A": 0.3, "B": 0.2, "C": 0.1})
