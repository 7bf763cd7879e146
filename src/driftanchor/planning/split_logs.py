"""Logs in two parts: the offline log, and the later rows that serve as the world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.offline import OfflineData
from driftanchor.core.provenance import Provenance
from driftanchor.core.stats.intervals import Estimate
from driftanchor.planning.promise import Promise
from driftanchor.planning.reward_law import RewardLaw
from driftanchor.planning.split import Split
from driftanchor.planning.worlds import against
from driftanchor.simulation.bandit import Bandit


@dataclass(frozen=True, eq=False)
class SplitLogs:
    """The rows before and after the split, for the arms that appear after it.

    Attributes:
        by: The split, and the words for both sides.
        before: The logs before the split.
        after: The later rows, for the same arms.
        shifts: How far the mean moved, for each arm on both sides.
        law: The reward law of the later rows.
        rewards: The later rewards, or a sample of them, if rewards are resampled.
        notes: What was left out, and how rewards are drawn.
        later: The number of later rewards.
        provenance: How the rows of both sides were read.
    """

    by: Split
    before: OfflineData
    after: OfflineData
    shifts: dict[str, Estimate]
    law: RewardLaw
    rewards: tuple[Floats, ...] | None
    notes: tuple[str, ...]
    later: int
    provenance: Provenance

    def with_logs(self, before: OfflineData) -> SplitLogs:
        """Return a copy with other logs; arms without logs have no shift."""
        logged = {x for x, n in zip(before.arms, before.n, strict=True) if n > 0}
        shifts = {label: shift for label, shift in self.shifts.items() if label in logged}
        return replace(self, before=before, shifts=shifts)

    @property
    def split(self) -> str:
        """The split as text: a time, or a filter."""
        return self.by.text

    @property
    def moved(self) -> Floats:
        """Return how far the mean of each arm moved; 0 for an arm without logs."""
        return np.array(
            [self.shifts[x].value if x in self.shifts else 0.0 for x in self.after.arms]
        )

    @property
    def largest(self) -> float:
        """The largest move in either direction."""
        return float(np.abs(self.moved).max())

    def bandit(self, shift: float, given: Promise, logs: bool = True) -> Bandit:
        """Return the world if the means had moved `shift` times as far."""
        return self._moved_by(shift * self.moved, given, logs)

    def against_the_logs(
        self, given: Promise, promise: Promise, horizon: int, logs: bool
    ) -> Bandit:
        """Return the worst world: arms moved against the logs as far as a promise allows.

        If arms may move together, they also move by the average move that happened.
        """
        move = against(self.before, promise.reach, horizon)
        if promise.is_relative:
            both = np.array([label in self.shifts for label in self.after.arms])
            together = float(self.moved[both].mean())
            if promise.has_levels:
                low, high = (-promise.levels - move).max(), (promise.levels - move).min()
                together = float(np.clip(together, low, high))
            move = move + np.where(both, together, 0.0)
        return self._moved_by(move, given, logs)

    def _moved_by(self, move: Floats, given: Promise, logs: bool) -> Bandit:
        further = move - self.moved
        offline = np.where(self.before.n > 0, self.before.mean, self.after.mean)
        known: dict[str, Any] = {
            "offline": offline,
            "offline_pulls": self.before.n if logs else 0,
            "bias_bound": given.levels,
            "relative_bound": given.apart if logs and given.is_relative else None,
        }
        if self.rewards is not None:
            there = [x + d for x, d in zip(self.rewards, further, strict=True)]
            return Bandit.resampling(there, **known)
        online = self.after.mean + further
        if self.law.name == "bernoulli":
            online = np.clip(online, 0.0, 1.0)
        return Bandit(online, reward=self.law.name, noise=self.law.noise, logs="given", **known)


@dataclass(frozen=True, eq=False)
class PastWorlds:
    """Worlds made from history: the same bandit in every run."""

    history: SplitLogs
    promise: Promise
    horizon: int
    runs: int

    def expected(self, given: Promise, logs: bool = True) -> Sequence[Bandit]:
        """What happened."""
        return self.moved(1.0, given, logs)

    def moved(self, shift: float, given: Promise, logs: bool = True) -> Sequence[Bandit]:
        """Return the worlds if the means had moved `shift` times as far."""
        return [self.history.bandit(shift, given, logs)] * self.runs

    def worst(self, given: Promise, logs: bool = True) -> Sequence[Bandit]:
        """Return the worlds with two arms moved against the logs by the declared bounds."""
        bandit = self.history.against_the_logs(given, self.promise, self.horizon, logs)
        return [bandit] * self.runs
