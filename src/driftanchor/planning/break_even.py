"""Where logs stop saving: the break-even, searched on a grid and refined by halving."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.noise import key
from driftanchor.core.stats.intervals import MISS, Estimate, mean_estimate
from driftanchor.core.stats.summary import standard_error

RESAMPLES = 1000
HALVINGS = 2  # of the interval in which savings end; within it they are taken for linear
CLEAR = 3.0  # standard errors from 0 at which the sign of a mean needs no more worlds

Name = TypeVar("Name", bound=Hashable)
Ask = Callable[[Mapping[Name, float], int], Mapping[Name, Floats]]
Known = Mapping[Name, Mapping[float, Floats]]


def break_evens(
    ask: Ask[Name],
    known: Known[Name],
    grid: Sequence[float],
    seed: int,
    sizes: tuple[int, int, int],
    sharp: Collection[Name] = (),
) -> dict[Name, Estimate]:
    """Where the mean saving first falls to 0, with a 95 % interval, for each name.

    The grid is walked upward until the saving has surely ended; then the interval in which its mean
    first changes sign is halved. At each shift a few worlds are asked for, and more where they
    leave the sign of the mean open. For the names in `sharp` all worlds are asked for where even
    those leave it open, and on both sides of the first change of sign.

    Args:
        ask: Gives the savings, world by world, at one shift for each name asked for, in at
            least this many worlds.
        known: The savings that are known beforehand, by name and shift.
        grid: Shifts, ascending from 0.
        seed: The seed of the resampling behind the interval.
        sizes: How many worlds are a few, more, and all.
        sharp: The names whose break-even is to be as sharp as all worlds make it.

    Example:
        >>> def ask(at, worlds):
        ...     return {name: 3.0 - shift + np.array([-0.1, 0.1]) for name, shift in at.items()}
        >>> grid = [0.0, 1.0, 2.0, 4.0, 8.0]
        >>> found = break_evens(ask, {"rule": {}}, grid, seed=0, sizes=(2, 2, 2))
        >>> round(found["rule"].value, 6)
        3.0
    """
    few, more, whole = sizes
    saved = {name: dict(there) for name, there in known.items()}

    def add(at: Mapping[Name, float], worlds: int) -> None:
        missing = {name: x for name, x in at.items() if len(saved[name].get(x, ())) < worlds}
        for name, found in ask(missing, worlds).items() if missing else ():
            saved[name][missing[name]] = found

    def look(at: Mapping[Name, float]) -> None:
        add(at, few)
        add({name: x for name, x in at.items() if _is_open(saved[name][x])}, more)
        add({n: x for n, x in at.items() if n in sharp and _is_open(saved[n][x])}, whole)

    for shift in grid:
        look({name: shift for name, there in saved.items() if not _ended(there, shift)})
    for _ in range(HALVINGS):
        middles = {name: _middle(there) for name, there in saved.items()}
        look({name: at for name, at in middles.items() if at is not None})
    for name in sharp:
        while rough := [x for x in _change(saved[name]) if len(saved[name][x]) < whole]:
            add({name: rough[0]}, whole)  # with more worlds the sign may change elsewhere
    return {name: _estimate(there, seed) for name, there in saved.items()}


def _ended(saved: Mapping[float, Floats], before: float) -> bool:
    """Whether the saving has surely ended at a smaller shift."""
    return any(mean_estimate(found).high < 0 for shift, found in saved.items() if shift < before)


def _change(saved: Mapping[float, Floats]) -> tuple[float, ...]:
    """The shifts between which the mean saving first changes sign; none if it does not."""
    for below, above in itertools.pairwise(sorted(saved)):
        if saved[below].mean() <= 0:
            return ()
        if saved[above].mean() <= 0:
            return below, above
    return ()


def _middle(saved: Mapping[float, Floats]) -> float | None:
    """The middle of the widest gap in which the saving may end, if its mean changes sign.

    The saving may end between the last shift before which it is surely above 0 and the first at
    which it is surely below. To look around the change of sign alone would leave a saving that
    falls slowly to the straight line between shifts that are far apart.
    """
    if not _change(saved):
        return None
    shifts = sorted(saved)
    sure = [0.0 if _is_open(saved[x]) else float(saved[x].mean()) for x in shifts]
    first = next((i for i, mean in enumerate(sure) if mean <= 0), len(shifts) - 1)
    last = next((i for i, mean in enumerate(sure) if mean < 0), len(shifts) - 1)
    below, above = max(itertools.pairwise(shifts[max(first - 1, 0) : last + 1]), key=_width)
    return (below + above) / 2


def _width(gap: tuple[float, float]) -> float:
    return gap[1] - gap[0]


def _is_open(saved: Floats) -> bool:
    """Whether the sign of the mean may be the other one."""
    return abs(float(saved.mean())) < CLEAR * float(standard_error(saved))


def _estimate(saved: Mapping[float, Floats], seed: int) -> Estimate:
    shifts = sorted(saved)
    return break_even_of(np.array(shifts), [saved[x] for x in shifts], seed)


def break_even(shifts: Floats, saved: Floats) -> float:
    """Where the saving first falls to 0; infinite if it stays above for all shifts tried.

    Args:
        shifts: Ascending, from 0.
        saved: The mean saving at each.

    Example:
        >>> break_even(np.array([0.0, 1.0, 2.0]), np.array([3.0, 1.0, -1.0]))
        1.5
    """
    return float(_first_falls(shifts, saved[None, :])[0])


def _first_falls(shifts: Floats, saved: Floats) -> Floats:
    """`break_even` of each row of savings."""
    down = saved <= 0
    at = down.argmax(axis=1)  # the place of the first that is not above 0
    before = np.maximum(at - 1, 0)
    rows = np.arange(len(saved))
    with np.errstate(divide="ignore", invalid="ignore"):  # of rows that stay above, or begin below
        part = saved[rows, before] / (saved[rows, before] - saved[rows, at])
        between = shifts[before] + part * (shifts[at] - shifts[before])
    found: Floats = np.where(down.any(axis=1), np.where(down[:, 0], 0.0, between), math.inf)
    return found


def break_even_of(shifts: Floats, saved: Sequence[Floats] | Floats, seed: int) -> Estimate:
    """`break_even` of savings, at each shift by world; its interval by resampling worlds.

    A shift may have the first worlds alone: a world that is drawn again counts wherever it is.
    """
    rng = np.random.default_rng(int(key(seed, "plan/break-even")))
    worlds = max(map(len, saved))
    counts = rng.multinomial(worlds, np.full(worlds, 1 / worlds), size=RESAMPLES)
    drawn = [counts[:, : len(found)] for found in saved]
    means = np.stack([x @ found / x.sum(1) for x, found in zip(drawn, saved, strict=True)], axis=1)
    again = _first_falls(shifts, means)
    low, high = np.quantile(again, [MISS / 2, 1 - MISS / 2], method="inverted_cdf")
    value = break_even(shifts, np.array([found.mean() for found in saved]))
    return Estimate(value, float(low), float(high))
