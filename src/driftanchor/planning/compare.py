"""Comparison: every contender in every scene, the choice, and the break-evens."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from driftanchor.core.stats.intervals import Estimate
from driftanchor.planning.break_even import HALVINGS, break_evens
from driftanchor.planning.contenders import RULE, Contenders
from driftanchor.planning.curve import Curve
from driftanchor.planning.early import Early, EarlyNumbers
from driftanchor.planning.effort import fewer
from driftanchor.planning.promise import LETTERS, Promise
from driftanchor.planning.safe_choice import SafeChoice, cold_baseline, safe_choice
from driftanchor.planning.saved_by_shift import Point, Savings
from driftanchor.planning.scenes import Lost, Progress, Scene, Stage, scene_of
from driftanchor.simulation.bandit import Bandit

BOUNDS = (0.0, 0.5, 1.0, 2.0, 4.0)  # times the bounds that are declared


class Truth(Protocol):
    """What may be out there, one bandit for each world."""

    def part(self, worlds: slice) -> Truth:
        """Some of the worlds."""

    def expected(self, given: Promise, logs: bool) -> Sequence[Bandit]:
        """As it is thought to be; policies are given this promise, and the logs or not."""

    def moved(self, shift: float, given: Promise, logs: bool) -> Sequence[Bandit]:
        """With means moved so far."""

    def bad(self, given: Promise, logs: bool) -> Sequence[Bandit]:
        """As bad as the promise allows."""

    def allows(self, shift: float) -> bool:
        """Whether the promise allows means to be moved so far: then it is a bad case too."""


@dataclass(frozen=True, eq=False)
class Compared:
    """What everyone lost, and what follows.

    Attributes:
        lost: In the expected worlds, by each contender in each world.
        by_shift: The same by how far the means have moved.
        by_bound: The same by the bounds that policies are given.
        choice: Who is safe, and who is best.
        break_even: Up to which shift the best rule gains by the logs; the default rule if none is.
        break_evens: The same of the default rule, for each promise it may be given.
    """

    lost: Lost
    by_shift: Curve
    by_bound: Curve
    choice: SafeChoice
    break_even: Estimate
    break_evens: tuple[tuple[Promise, Estimate], ...]


def compare(
    truth: Truth,
    contenders: Contenders,
    *,
    promise: Promise,
    spread: float,
    shifts: Sequence[float],
    unit: float,
    horizon: int,
    seed: int,
    threads: int | None,
    progress: Progress | None,
    early: Early | None = None,
) -> Compared:
    """Play all scenes.

    The expected worlds and the bad cases, on which the choice rests, are all played. The other
    scenes, which say what becomes of a rule elsewhere, are played in fewer worlds: see `fewer`.

    Args:
        truth: The worlds.
        contenders: Who plays.
        promise: What is declared.
        spread: What is multiplied for other promises where all bounds are 0.
        shifts: How far means are moved, ascending from 0.
        unit: What a shift of 1 is, in units of rewards.
        horizon: Rounds.
        seed: The seed of all noise.
        threads: How many to use at most.
        progress: Called with (runs done, runs in all).
        early: Called with a line for each number that is known before the end.
    """
    promises = {g: promise.times(g, spread) for g in BOUNDS}
    mine = 0.0 if promise.is_zero else 1.0
    hopes = EarlyNumbers(("bound", mine), contenders, early) if early is not None else None
    stage = Stage(
        contenders, horizon=horizon, seed=seed, threads=threads, progress=progress, early=hopes
    )
    others = [g for g in BOUNDS if g != mine]
    heeding = {label: one for label, one in contenders.items() if one.heeds_bound}

    def moved(point: Point, part: slice) -> Scene:
        who = {point.label: contenders[point.label]}
        there = partial(truth.part(part).moved, point.shift)
        return scene_of(there, promises[point.times], who, part.start)

    lead = scene_of(truth.expected, promises[mine], contenders)
    few, more = fewer(lead.worlds)
    some = truth.part(slice(0, few))
    scenes = {("bound", mine): lead}  # first: its numbers are the first to be shown
    scenes["bad", 0.0] = scene_of(truth.bad, promise, contenders)
    scenes |= {("bound", g): scene_of(some.expected, promises[g], heeding) for g in others}
    for s in shifts:
        there = truth if truth.allows(s) else some  # what is allowed is a bad case too
        scenes["shift", s] = scene_of(partial(there.moved, s), promises[mine], contenders)
    search = len(others) * len(shifts) + 2 * HALVINGS * (len(promises) + 1)
    rest = 4 * len(shifts) * (lead.worlds - few)
    stage.expect(stage.runs(scenes) + search * few + rest)
    found = stage.play(scenes)

    lost = found["bound", mine]
    at = {s: found["shift", s] for s in shifts}
    bad = [found["bad", 0.0], *(at[s] for s in shifts if truth.allows(s))]
    choice = safe_choice(lost, bad, contenders)
    if hopes is not None:
        hopes.chosen(choice)
    cold = cold_baseline(at[shifts[0]], contenders)  # whatever is declared
    savings = Savings(stage, moved, (cold, mine))
    for s in shifts:
        savings.keep(s, mine, at[s])
    best = (choice.best if choice.uses_logs else RULE, mine)
    subjects = dict.fromkeys([*((RULE, g) for g in BOUNDS), best])
    known = {subject: savings.known(subject, [*shifts]) for subject in subjects}
    sizes = few, more, lead.worlds
    sharp = {(RULE, mine): None, best: None}  # in this order, whatever the seed of hashing
    evens = {
        subject: Estimate(*(x if math.isinf(x) else unit * x for x in even))
        for subject, even in break_evens(savings.ask, known, shifts, seed, sizes, sharp).items()
    }
    stage.finish()
    kind = LETTERS[promise.axis[0]]
    bounds = np.array([promises[g].sizes()[kind] for g in BOUNDS])
    return Compared(
        lost,
        Curve(np.asarray(shifts, np.float64), tuple(at.values()), unit),
        Curve(bounds, tuple({**lost, **found["bound", g]} for g in BOUNDS)),
        choice,
        evens[best],
        tuple((promises[g], evens[RULE, g]) for g in BOUNDS),
    )
