"""Assessment: what logs are worth, by policies with and without them in the same worlds."""

from __future__ import annotations

import abc
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.offline import OfflineData
from driftanchor.core.record import encode
from driftanchor.plan.contenders import BLIND, RULE, Contenders
from driftanchor.plan.law import Law
from driftanchor.plan.scenes import Lost, Progress, Scene, play
from driftanchor.plan.statistics import (
    STATISTICS,
    Estimate,
    break_even_of,
    mean_of,
    statistics,
)
from driftanchor.plan.words import Texts, interval, number
from driftanchor.simulate.bandit import Bandit
from driftanchor.version import __version__

BOUNDS = (0.0, 0.5, 1.0, 2.0, 4.0)  # times the bound that is declared
ROUNDS = 15_000_000  # of one arm, in all worlds together: half a minute on two cores
FEWEST, MOST = 40, 200  # worlds
MATTERS = 0.05  # of what going cold loses: to save less is not worth the risk
USE, WITHOUT = "use", "without"


class Truth(Protocol):
    """What may be out there, one bandit for each world."""

    def expected(self, bounds: Floats, *, logs: bool = True) -> Sequence[Bandit]:
        """As it is thought to be; policies are told these bounds."""

    def moved(self, shift: float, bounds: Floats, *, logs: bool = True) -> Sequence[Bandit]:
        """With means moved so far."""


@dataclass(frozen=True, eq=False)
class Curve:
    """What everyone lost along an axis.

    Attributes:
        x: Where, ascending.
        lost: What, at each.
        unit: What 1 on the axis is in units of rewards.
    """

    x: Floats
    lost: tuple[Lost, ...]
    unit: float = 1.0

    def to_json(self, name: str) -> dict[str, Any]:
        """For programs."""
        told: dict[str, Any] = {name: (self.x * self.unit).tolist(), "policies": {}}
        for label in self.lost[0]:
            points = [statistics(lost[label]) for lost in self.lost]
            told["policies"][label] = {
                word: [encode(point[word]) for point in points] for word in STATISTICS
            }
        return told


@dataclass(frozen=True, eq=False, kw_only=True)
class Assessment(abc.ABC):
    """What logs are worth.

    Attributes:
        offline: The logs.
        bias_bounds: What policies are told.
        horizon: Rounds.
        worlds: How many were played, once by each policy.
        seed: Of all noise.
        law: Of rewards.
        contenders: Who was compared.
        reasons: Why the default rule has the numbers it has.
        notes: What else to know.
        lost: By each, in each world.
        by_shift: The same by how far the means have moved.
        by_bound: The same by the bias bound that policies are told.
        break_evens: For each bias bound, up to which shift the default rule gains by the logs.
    """

    offline: OfflineData
    bias_bounds: Floats
    horizon: int
    worlds: int
    seed: int
    law: Law
    contenders: Contenders
    reasons: tuple[str, ...]
    notes: tuple[str, ...]
    lost: Lost
    by_shift: Curve
    by_bound: Curve
    break_evens: tuple[tuple[float, Estimate], ...]

    @property
    def baseline(self) -> str:
        """The better way of going cold."""
        return cold_baseline(self.lost, self.contenders)

    @property
    def cold_loss(self) -> float:
        """What going cold loses."""
        return float(self.lost[self.baseline].mean())

    def saved(self, label: str = RULE) -> Estimate:
        """How much less than going cold a policy loses, paired world by world."""
        return mean_of(self.lost[self.baseline] - self.lost[label])

    @property
    def decision(self) -> str:
        """`"use"` where the logs save the default rule enough to matter, else `"without"`."""
        saved = self.saved()
        return USE if saved.low > 0 and saved.value >= MATTERS * self.cold_loss else WITHOUT

    @property
    def largest_shift(self) -> float:
        """The largest that was tried."""
        return float(self.by_shift.x[-1] * self.by_shift.unit)

    @property
    def break_even(self) -> Estimate:
        """Up to which shift the logs still help the default rule; infinite: all that were tried."""
        told = float(self.bias_bounds.max())
        return min(self.break_evens, key=lambda pair: abs(pair[0] - told))[1]

    @property
    def break_even_shift(self) -> float:
        """The same, at most the largest shift that was tried."""
        return min(self.break_even.value, self.largest_shift)

    @property
    @abc.abstractmethod
    def verdict(self) -> str:
        """The answer in one sentence."""

    @abc.abstractmethod
    def texts(self) -> Texts:
        """What its page says."""

    def too_little(self) -> str:
        """In words, what the default rule saves when that is not enough."""
        saved, cold = self.saved(), number(self.cold_loss)
        if saved.high < 0:
            return f"loses about {number(-saved.value)} more than the {cold} lost without the logs"
        if saved.low > 0:
            return f"saves only {number(saved.value)} of the {cold} rewards lost without the logs"
        return (
            f"saves nothing that stands out ({interval(saved)}) of the {cold} rewards lost without "
            "the logs"
        )

    def if_trusted(self) -> str:
        """In words, what trusting the logs costs, where it does."""
        saved = self.saved(BLIND)
        return f"; to trust them costs about {number(-saved.value)} more" if saved.high < 0 else ""

    def summary(self) -> dict[str, dict[str, float]]:
        """Mean, its standard error, median, 95 % quantile and worst of what each lost."""
        return {label: statistics(lost) for label, lost in self.lost.items()}

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        provenance = self.offline.provenance
        return {
            "verdict": self.verdict,
            "decision": self.decision,
            "rule": RULE,
            "baseline": self.baseline,
            "saved": self.saved().to_json(),
            "break_even_shift": self.break_even_shift,
            "break_even": self._even(self.break_even),
            "policies": {
                label: {
                    **{word: encode(x) for word, x in numbers.items()},
                    "saved": self.saved(label).to_json(),
                }
                for label, numbers in self.summary().items()
            },
            "by_shift": self.by_shift.to_json("shift"),
            "by_bound": self.by_bound.to_json("bias_bound"),
            "break_even_by_bound": [
                {"bias_bound": bound, **self._even(even)} for bound, even in self.break_evens
            ],
            "bias_bound": dict(zip(self.offline.arms, self.bias_bounds.tolist(), strict=True)),
            "horizon": self.horizon,
            "worlds": self.worlds,
            "seed": self.seed,
            "law": {"name": self.law.name, "noise": self.law.noise, "why": self.law.why},
            "parameters": {
                label: {"policy": one.policy.name, "logs": not one.cold, **one.policy.parameters()}
                for label, one in self.contenders.items()
            },
            "reasons": list(self.reasons),
            "notes": list(self.notes),
            "provenance": None if provenance is None else provenance.to_json(),
            "version": __version__,
        }

    def write_page(self, path: str | os.PathLike[str]) -> None:
        """Write one HTML file with everything, which asks for nothing else."""
        from driftanchor.files import write_whole
        from driftanchor.plan.page import render

        with write_whole(path) as file:
            file.write_text(render(self), encoding="utf-8")

    def _even(self, even: Estimate) -> dict[str, Any]:
        value, low, high = (min(x, self.largest_shift) for x in even)
        return {"shift": value, "low": low, "high": high, "reached": bool(np.isfinite(even.value))}


def cold_baseline(lost: Lost, contenders: Contenders) -> str:
    """Who goes cold and loses least."""
    cold = [label for label, one in contenders.items() if one.cold]
    return min(cold, key=lambda label: float(lost[label].mean()))


def default_worlds(horizon: int, arms: int) -> int:
    """As many as can be played in a minute or so, up to where more would hardly tell more.

    Example:
        >>> [default_worlds(horizon, 5) for horizon in (1_000, 30_000, 10_000_000)]
        [200, 100, 40]
    """
    return int(min(max(ROUNDS // (horizon * arms), FEWEST), MOST))


def compare(
    truth: Truth,
    contenders: Contenders,
    *,
    bounds: Floats,
    scale: Floats,
    shifts: Sequence[float],
    unit: float,
    horizon: int,
    seed: int,
    threads: int | None,
    progress: Progress | None,
) -> dict[str, Any]:
    """Play all scenes: the fields `lost`, `by_shift`, `by_bound`, `break_evens` of an assessment.

    Args:
        truth: The worlds.
        contenders: Who plays.
        bounds: The bias bound of each arm.
        scale: What is multiplied for other bias bounds.
        shifts: How far means are moved.
        unit: What a shift of 1 is, in units of rewards.
        horizon: Rounds.
        seed: Of all noise.
        threads: At most this many.
        progress: Called with (runs done, runs in all).
    """
    everyone = tuple(contenders)
    heeding = tuple(label for label, one in contenders.items() if one.heeds_bound)
    told = {g: g * scale for g in BOUNDS}
    if bounds.any():
        told[1.0] = bounds
    mine = 1.0 if bounds.any() else 0.0
    scenes: dict[tuple[float, float | None], Scene] = {}
    for g, others in told.items():
        who = everyone if g == mine else heeding
        scenes[g, None] = Scene(truth.expected(others), truth.expected(others, logs=False), who)
        who = everyone if g == mine else (RULE,)
        for s in shifts:
            there = truth.moved(s, others), truth.moved(s, others, logs=False)
            scenes[g, s] = Scene(*there, who)
    found = play(scenes, contenders, horizon=horizon, seed=seed, threads=threads, progress=progress)
    lost = found[mine, None]
    x = np.asarray(shifts, np.float64)
    baseline = cold_baseline(lost, contenders)
    evens = []
    for g, others in told.items():
        saved = np.stack([found[mine, s][baseline] - found[g, s][RULE] for s in shifts])
        even = Estimate(*(unit * at for at in break_even_of(x, saved, seed)))
        evens.append((float(others.max()), even))
    return {
        "lost": lost,
        "by_shift": Curve(x, tuple(found[mine, s] for s in shifts), unit),
        "by_bound": Curve(
            np.array([float(others.max()) for others in told.values()]),
            tuple({**lost, **found[g, None]} for g in told),
        ),
        "break_evens": tuple(evens),
    }
