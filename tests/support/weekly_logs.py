"""Logs by week, of coins."""

from __future__ import annotations

import functools
from typing import Any

from driftanchor.core.offline import OfflineData
from driftanchor.shift import suggest
from driftanchor.shift.suggestion import Suggestion


def data(**arms: Any) -> OfflineData:
    return OfflineData.from_summary(arms)


def weeks(*means: tuple[float, ...], n: int = 1_000) -> dict[str, OfflineData]:
    """Weeks of coins with given means of arms A, B, …"""
    return {
        f"2026-W{i:02}": data(**{chr(65 + k): (n, m, m * (1 - m)) for k, m in enumerate(row)})
        for i, row in enumerate(means, start=1)
    }


@functools.cache
def suggested(**options: Any) -> Suggestion:
    """What is suggested for `MOVING`; tests only look at it."""
    return suggest(MOVING, **options)


MOVING = weeks((0.50, 0.30), (0.58, 0.27), (0.45, 0.36), (0.52, 0.31))
