"""What losses amount to: their statistics, what logs save, and where they stop saving."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.noise import key
from driftanchor.core.record import encode
from driftanchor.simulation.result import standard_error

MISS = 0.05  # intervals miss with this probability
RESAMPLES = 1000
STATISTICS = ("mean", "se", "median", "q95", "max")


class Estimate(NamedTuple):
    """A number and its 95 % interval."""

    value: float
    low: float
    high: float

    def to_json(self) -> dict[str, float | str | None]:
        """For programs."""
        return {name: encode(x) for name, x in self._asdict().items()}


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
        told: dict[str, Any] = {**axes, "policies": {}}
        for label in self.lost[0]:
            points = [statistics(lost[label]) for lost in self.lost]
            told["policies"][label] = {
                word: [encode(point[word]) for point in points] for word in STATISTICS
            }
        return told


def statistics(lost: Floats) -> dict[str, float]:
    """Mean, its standard error, median, 95 % quantile and worst of what was lost.

    Example:
        >>> statistics(np.array([1.0, 2.0, 6.0]))["mean"]
        3.0
    """
    median, q95 = np.quantile(lost, [0.5, 0.95])
    numbers = (lost.mean(), standard_error(lost), median, q95, lost.max())
    return {name: float(x) for name, x in zip(STATISTICS, numbers, strict=True)}


def mean_of(values: Floats) -> Estimate:
    """The mean over worlds, with the interval of many independent values.

    Example:
        >>> mean_of(np.array([1.0, 3.0] * 50)).value
        2.0
    """
    mean, half = float(values.mean()), float(standard_error(values))
    half *= NormalDist().inv_cdf(1 - MISS / 2)
    return Estimate(mean, mean - half, mean + half)


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
