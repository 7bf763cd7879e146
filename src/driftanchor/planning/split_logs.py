"""Logs in two parts: the offline log, and the world in which policies would have used it."""

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
    """What was logged before the split, and what came after, of the arms that came after.

    Attributes:
        by: What splits it, and the words for both sides.
        before: The logs.
        after: What came, of the same arms.
        shifts: By arm that is in both: how far its mean moved.
        law: Of the rewards that came.
        rewards: They themselves, or a sample, where they are drawn anew from.
        notes: What was left out, and how rewards are drawn.
        later: How many rewards came.
        provenance: How all rows were read, those of both sides.
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
        """The same with other logs; the shift of an arm counts only where it has logs."""
        logged = {x for x, n in zip(before.arms, before.n, strict=True) if n > 0}
        shifts = {label: shift for label, shift in self.shifts.items() if label in logged}
        return replace(self, before=before, shifts=shifts)

    @property
    def split(self) -> str:
        """The split as text: a time, or a filter."""
        return self.by.text

    @property
    def moved(self) -> Floats:
        """How far the mean of each arm moved; 0 for an arm without logs."""
        return np.array(
            [self.shifts[x].value if x in self.shifts else 0.0 for x in self.after.arms]
        )

    @property
    def largest(self) -> float:
        """The largest move, either way."""
        return float(np.abs(self.moved).max())

    def bandit(self, shift: float, given: Promise, logs: bool = True) -> Bandit:
        """What came, had the means moved `shift` times as far."""
        return self._moved_by(shift * self.moved, given, logs)

    def against_the_logs(
        self, given: Promise, promise: Promise, horizon: int, logs: bool
    ) -> Bandit:
        """What could have come: arms moved against the logs as far as a promise allows.

        Where arms may move together, they also move as far as they did in the mean.
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
    """A history as a truth: the same bandit in every run."""

    history: SplitLogs
    promise: Promise
    horizon: int
    runs: int

    def expected(self, given: Promise, logs: bool = True) -> Sequence[Bandit]:
        """What happened."""
        return self.moved(1.0, given, logs)

    def moved(self, shift: float, given: Promise, logs: bool = True) -> Sequence[Bandit]:
        """What would have happened, had the means moved this many times as far."""
        return [self.history.bandit(shift, given, logs)] * self.runs

    def worst(self, given: Promise, logs: bool = True) -> Sequence[Bandit]:
        """Two arms moved against the logs by the declared bounds."""
        bandit = self.history.against_the_logs(given, self.promise, self.horizon, logs)
        return [bandit] * self.runs
