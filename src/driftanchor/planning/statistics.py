"""What losses amount to: their statistics, what logs save, and where they stop saving."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.noise import key
from driftanchor.core.record import encode
from driftanchor.core.stats.intervals import MISS, Estimate
from driftanchor.core.stats.summary import summarise

RESAMPLES = 1000
QUANTILES = {"median": 0.5, "q95": 0.95}


@dataclass(frozen=True, eq=False)
class Curve:
    """What everyone lost along an axis.

    Attributes:
        x: Where, ascending.
        lost: What, at each: by contender, in each world.
        unit: What 1 on the axis is in units of rewards.
    """

    x: Floats
    lost: tuple[Mapping[str, Floats], ...]
    unit: float = 1.0

    def to_json(self, axes: Mapping[str, list[float]]) -> dict[str, Any]:
        """For programs, with the names and values of its axes."""
        policies = {}
        for label in self.lost[0]:
            points = [summarise(lost[label], QUANTILES) for lost in self.lost]
            policies[label] = {name: [encode(x[name]) for x in points] for name in points[0]}
        return {**axes, "policies": policies}


def break_even(shifts: Floats, saved: Floats) -> float:
    """Where the saving first falls to 0; infinite if it stays above for all shifts tried.

    Args:
        shifts: Ascending, from 0.
        saved: The mean saving at each.

    Example:
        >>> break_even(np.array([0.0, 1.0, 2.0]), np.array([3.0, 1.0, -1.0]))
        1.5
    """
    down = np.flatnonzero(saved <= 0)
    if down.size == 0:
        return math.inf
    i = int(down[0])
    if i == 0:
        return 0.0
    part = saved[i - 1] / (saved[i - 1] - saved[i])
    return float(shifts[i - 1] + part * (shifts[i] - shifts[i - 1]))


def break_even_of(shifts: Floats, saved: Floats, seed: int) -> Estimate:
    """`break_even` of savings by (shift, world); its interval by resampling worlds."""
    rng = np.random.default_rng(int(key(seed, "plan/break-even")))
    worlds = saved.shape[1]
    counts = rng.multinomial(worlds, np.full(worlds, 1 / worlds), size=RESAMPLES)
    again = [break_even(shifts, means) for means in counts @ saved.T / worlds]
    low, high = np.quantile(again, [MISS / 2, 1 - MISS / 2], method="inverted_cdf")
    return Estimate(break_even(shifts, saved.mean(1)), float(low), float(high))
