"""Play every contender in the same worlds; find the recommendation and the break-even."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from driftanchor.core.stats.intervals import Estimate
from driftanchor.planning.break_even import break_even_of
from driftanchor.planning.contenders import Contenders
from driftanchor.planning.curve import Curve
from driftanchor.planning.early import Early, EarlyNumbers
from driftanchor.planning.promise import Promise
from driftanchor.planning.safe_choice import BASELINE, SafeChoice, safe_choice
from driftanchor.planning.scenes import Lost, Progress, Stage, scene_of
from driftanchor.simulation.bandit import Bandit

EXPECTED, WORST = ("expected", 0.0), ("worst", 0.0)


class Truth(Protocol):
    """Possible worlds: makes one bandit per world for a given promise, with or without logs."""

    def expected(self, given: Promise, logs: bool) -> Sequence[Bandit]:
        """Return worlds drawn from the logs and the promise."""

    def moved(self, shift: float, given: Promise, logs: bool) -> Sequence[Bandit]:
        """Return the same worlds with means moved by a shift."""

    def worst(self, given: Promise, logs: bool) -> Sequence[Bandit]:
        """Return the same worlds with means moved against the logs by the declared bounds."""


@dataclass(frozen=True, eq=False)
class Compared:
    """The losses of all contenders, and the conclusions.

    Attributes:
        lost: Losses in the expected worlds, by contender and world.
        worst: Losses in the worst case, by contender and world.
        by_shift: Losses at each shift, by contender and world.
        choice: The recommendation.
        break_even: The shift up to which the logs help `choice.rule`.
    """

    lost: Lost
    worst: Lost
    by_shift: Curve
    choice: SafeChoice
    break_even: Estimate


def compare(
    truth: Truth,
    contenders: Contenders,
    *,
    promise: Promise,
    shifts: Sequence[float],
    unit: float,
    worst_shift: float | None = None,
    horizon: int,
    seed: int,
    threads: int | None,
    progress: Progress | None,
    early: Early | None = None,
) -> Compared:
    """Play every scene with every contender, once in each world.

    Args:
        truth: The worlds.
        contenders: The rules.
        promise: The declared bounds.
        shifts: The shifts to play, ascending from 0.
        unit: The size of a unit shift, in rewards.
        worst_shift: The element of `shifts` that is the worst case; `None` if none is.
        horizon: Rounds.
        seed: The seed of all noise.
        threads: The maximum number of threads.
        progress: Called with (runs done, total runs).
        early: Called with a line of text for each result known before the end.
    """
    hopes = EarlyNumbers(EXPECTED, contenders, early) if early is not None else None
    stage = Stage(
        contenders, horizon=horizon, seed=seed, threads=threads, progress=progress, early=hopes
    )
    scenes = {
        EXPECTED: scene_of(truth.expected, promise, contenders),  # shown first
        WORST: scene_of(truth.worst, promise, contenders),
    }
    for s in shifts:
        if s != worst_shift:
            scenes["shift", s] = scene_of(partial(truth.moved, s), promise, contenders)
    found = stage.play(scenes)
    expected, worst = found[EXPECTED], found[WORST]
    choice = safe_choice(expected, worst)
    at = [worst if s == worst_shift else found["shift", s] for s in shifts]
    x = np.asarray(shifts, np.float64)
    even = break_even_of(x, [lost[BASELINE] - lost[choice.rule] for lost in at], seed)
    return Compared(
        expected,
        worst,
        Curve(x, tuple(at), unit),
        choice,
        Estimate(*(s if math.isinf(s) else unit * s for s in even)),
    )
