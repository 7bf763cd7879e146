"""Where logs stop saving: the break-even, searched on a grid and refined by halving."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.noise import key
from driftanchor.core.stats.intervals import MISS, Estimate, mean_estimate

RESAMPLES = 1000
HALVINGS = 2  # of the interval in which savings end; within it they are taken for linear

Name = TypeVar("Name", bound=Hashable)
Ask = Callable[[Mapping[Name, float]], Mapping[Name, Floats]]
Known = Mapping[Name, Mapping[float, Floats]]


def break_evens(
    ask: Ask[Name], known: Known[Name], grid: Sequence[float], seed: int
) -> dict[Name, Estimate]:
    """Where the mean saving first falls to 0, with a 95 % interval, for each name.

    The grid is walked upward until the saving has surely ended; then the interval in which its mean
    first changes sign is halved.

    Args:
        ask: Gives the savings, world by world, at one shift for each name asked for.
        known: The savings that are known beforehand, by name and shift.
        grid: Shifts, ascending from 0.
        seed: The seed of the resampling behind the interval.

    Example:
        >>> def ask(at):
        ...     return {name: 3.0 - shift + np.array([-0.1, 0.1]) for name, shift in at.items()}
        >>> found = break_evens(ask, {"rule": {}}, [0.0, 1.0, 2.0, 4.0, 8.0], seed=0)
        >>> round(found["rule"].value, 6)
        3.0
    """
    saved = {name: dict(there) for name, there in known.items()}
    for shift in grid:
        _add(ask, saved, {n: shift for n, x in saved.items() if shift not in x and not _ended(x)})
    for _ in range(HALVINGS):
        middles = {name: _middle(there) for name, there in saved.items()}
        _add(ask, saved, {name: at for name, at in middles.items() if at is not None})
    return {name: _estimate(there, seed) for name, there in saved.items()}


def _add(
    ask: Ask[Name], saved: Mapping[Name, dict[float, Floats]], at: Mapping[Name, float]
) -> None:
    if at:
        for name, found in ask(at).items():
            saved[name][at[name]] = found


def _ended(saved: Mapping[float, Floats]) -> bool:
    return any(mean_estimate(found).high < 0 for found in saved.values())


def _middle(saved: Mapping[float, Floats]) -> float | None:
    """The middle of the interval in which the mean saving first changes sign, if it does."""
    shifts = sorted(saved)
    for below, above in itertools.pairwise(shifts):
        if saved[below].mean() <= 0:
            return None
        if saved[above].mean() <= 0:
            return (below + above) / 2
    return None


def _estimate(saved: Mapping[float, Floats], seed: int) -> Estimate:
    shifts = sorted(saved)
    return break_even_of(np.array(shifts), np.stack([saved[x] for x in shifts]), seed)


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
