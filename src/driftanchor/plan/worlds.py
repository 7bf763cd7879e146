"""The worlds that logs and a bias bound leave possible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.noise import key
from driftanchor.core.offline import OfflineData
from driftanchor.plan.law import Law, draw_means
from driftanchor.simulate.bandit import Bandit


@dataclass(frozen=True, eq=False)
class Worlds:
    """Draws of the means behind the logs, and the directions in which they may have moved.

    Attributes:
        offline: The logs, which are the same in all worlds.
        law: Of rewards.
        bounds: How far each arm's mean may have moved.
        scale: What a shift of 1 is for each arm: its bound, if there is any.
        means: Offline means, (world, arm).
        anyhow: Independent and uniform on ±1, (world, arm): nothing but the bound is known.
    """

    offline: OfflineData
    law: Law
    bounds: Floats
    scale: Floats
    means: Floats
    anyhow: Floats

    @classmethod
    def draw(cls, offline: OfflineData, law: Law, bounds: Floats, worlds: int, seed: int) -> Worlds:
        """So many of them."""
        means = draw_means(law, offline, worlds, seed)
        rng = np.random.default_rng(int(key(seed, "plan/shifts")))
        anyhow = rng.uniform(-1, 1, means.shape)
        return cls(offline, law, bounds, scale_of(offline, law, bounds), means, anyhow)

    def expected(self, bounds: Floats, *, logs: bool = True) -> list[Bandit]:
        """Each mean anywhere within its bound; policies are told `bounds`."""
        return self._bandits(self.anyhow * self.bounds, bounds, logs)

    def moved(self, shift: float, bounds: Floats, *, logs: bool = True) -> list[Bandit]:
        """The means moved against the logs, by so many times the scale: see `against`."""
        return self._bandits(against(self.offline, shift * self.scale), bounds, logs)

    def _bandits(self, shift: Floats, bounds: Floats, logs: bool) -> list[Bandit]:
        """One for each world; a rate goes no further than 0 and 1."""
        online = self.means + shift
        if self.law.name == "bernoulli":
            online = np.clip(online, 0.0, 1.0)
        logged = np.where(self.offline.n > 0, self.offline.mean, self.offline.pooled_mean())
        n = self.offline.n if logs else 0
        return [
            Bandit(row, logged, n, bounds, self.law.name, self.law.noise, logs="given")
            for row in online
        ]


def scale_of(offline: OfflineData, law: Law, bounds: Floats) -> Floats:
    """The bounds; where all are 0, for each arm how far the logged means are apart."""
    if bounds.any():
        return bounds
    means = offline.mean[offline.n > 0]
    return np.full(len(bounds), float(np.ptp(means)) or law.noise / 10)


def against(offline: OfflineData, reach: Floats) -> Floats:
    """The shift of each arm by at most `reach` that misleads whoever follows the logs.

    The arm that leads in the logs goes down. The arm furthest behind that can overtake it so goes
    up: it is better now, and looks as bad as can be. If none can, the next one goes up.

    Example:
        >>> logs = OfflineData.from_summary({"A": (9, 0.1), "B": (9, 0.5), "C": (9, 0.4)})
        >>> against(logs, np.full(3, 0.1)).tolist(), against(logs, np.full(3, 0.3)).tolist()
        ([0.0, -0.1, 0.1], [0.3, -0.3, 0.0])
    """
    means = np.where(offline.n > 0, offline.mean, -np.inf)
    lead, second, *_ = np.argsort(-means, kind="stable")
    behind = means[lead] - means
    overtakes = np.isfinite(behind) & (reach + reach[lead] > behind)
    overtakes[lead] = False
    up = int(np.argmax(np.where(overtakes, behind, -1.0))) if overtakes.any() else second
    shift = np.zeros(len(reach))
    shift[lead], shift[up] = -reach[lead], reach[up]
    return shift
