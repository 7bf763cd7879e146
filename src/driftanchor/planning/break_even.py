"""The break-even: the shift at which logs stop saving."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.noise import key
from driftanchor.core.stats.intervals import ALPHA, Estimate

RESAMPLES = 1000


def break_even(shifts: Floats, saved: Floats) -> float:
    """Return the shift at which the saving first falls to 0; infinite if it never does.

    The saving is interpolated linearly between shifts.

    Args:
        shifts: Ascending, from 0.
        saved: The mean saving at each shift.

    Example:
        >>> break_even(np.array([0.0, 1.0, 2.0]), np.array([3.0, 1.0, -1.0]))
        1.5
    """
    return float(_first_falls(shifts, saved[None, :])[0])


def break_even_of(shifts: Floats, saved: Sequence[Floats], seed: int) -> Estimate:
    """Return the break-even of paired savings, with a 95 % bootstrap interval over worlds.

    Args:
        shifts: Ascending, from 0.
        saved: The saving in each world, for each shift; all shifts use the same worlds.
        seed: The seed of the resampling.
    """
    rng = np.random.default_rng(int(key(seed, "plan/break-even")))
    by_world = np.stack(saved, axis=1)
    worlds = len(by_world)
    counts = rng.multinomial(worlds, np.full(worlds, 1 / worlds), size=RESAMPLES)
    again = _first_falls(shifts, counts @ by_world / worlds)
    low, high = np.quantile(again, [ALPHA / 2, 1 - ALPHA / 2], method="inverted_cdf")
    return Estimate(break_even(shifts, by_world.mean(axis=0)), float(low), float(high))


def _first_falls(shifts: Floats, saved: Floats) -> Floats:
    """Return the `break_even` of each row of savings."""
    down = saved <= 0
    at = down.argmax(axis=1)  # index of the first saving not above 0
    before = np.maximum(at - 1, 0)
    rows = np.arange(len(saved))
    with np.errstate(divide="ignore", invalid="ignore"):  # rows that stay above 0, or start below
        part = saved[rows, before] / (saved[rows, before] - saved[rows, at])
        between = shifts[before] + part * (shifts[at] - shifts[before])
    found: Floats = np.where(down.any(axis=1), np.where(down[:, 0], 0.0, between), math.inf)
    return found
