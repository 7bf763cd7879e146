"""Worlds that are possible given the logs and a promise."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from driftanchor.core.check import LARGEST, Floats
from driftanchor.core.noise import key
from driftanchor.core.offline import OfflineData
from driftanchor.planning.promise import Promise
from driftanchor.planning.reward_law import RewardLaw, draw_means
from driftanchor.simulation.bandit import Bandit, with_means

SHIFTS = 8  # on the grid, besides 0
FARTHEST = 4.0  # last grid point, relative to the shift at which every logged arm can overtake
TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Worlds:
    """Draws of the means behind the logs, and the directions in which they may have moved.

    Attributes:
        offline: The logs, the same in all worlds.
        law: The reward law.
        promise: How far means may have moved.
        horizon: Rounds.
        means: Offline means, (world, arm).
        own: Own moves, relative to the bound: uniform on ±1, (world, arm).
        common: Position of the common move in its range: uniform on ±1, (world,).
    """

    offline: OfflineData
    law: RewardLaw
    promise: Promise
    horizon: int
    means: Floats
    own: Floats
    common: Floats

    @classmethod
    def draw(
        cls,
        offline: OfflineData,
        law: RewardLaw,
        promise: Promise,
        horizon: int,
        worlds: int,
        seed: int,
    ) -> Worlds:
        """Draw worlds; asking for more does not change the first ones."""
        means = draw_means(law, offline, worlds, seed)
        own, common = (
            np.random.default_rng(int(key(seed, f"plan/{name}"))) for name in ("shifts", "common")
        )
        return cls(
            offline,
            law,
            promise,
            horizon,
            means,
            own.uniform(-1, 1, means.shape),
            common.uniform(-1, 1, worlds),
        )

    def expected(self, given: Promise, logs: bool = True) -> list[Bandit]:
        """Return worlds with random moves within the bounds, common moves included."""
        return self._bandits(self.own * self.promise.reach, given, logs)

    def moved(self, shift: float, given: Promise, logs: bool = True) -> list[Bandit]:
        """Return the worlds with two arms moved against the logs by a shift: see `against`."""
        reach = np.full(len(self.offline.arms), shift)
        return self._bandits(against(self.offline, reach, self.horizon), given, logs)

    def worst(self, given: Promise, logs: bool = True) -> list[Bandit]:
        """Return the worlds with two arms moved against the logs by the declared bounds."""
        return self._bandits(against(self.offline, self.promise.reach, self.horizon), given, logs)

    def _bandits(self, own: Floats, given: Promise, logs: bool) -> list[Bandit]:
        """Return one bandit per world; rates stay between 0 and 1."""
        online = self.means + own
        if self.law.name == "bernoulli":
            online = np.clip(online, 0.0, 1.0)
        if self.promise.is_relative:
            online = online + self._together(online, own)[:, None]
        if self.law.name == "bernoulli":
            online = np.clip(online, 0.0, 1.0)  # rounding error
        logged = np.where(self.offline.n > 0, self.offline.mean, self.offline.pooled_mean())
        first = Bandit(
            online[0],
            logged,
            self.offline.n if logs else 0,
            given.levels,
            self.law.name,
            self.law.noise,
            logs="given",
            relative_bound=given.apart if logs and given.is_relative else None,
        )
        return [*with_means(first, online)]

    def _together(self, online: Floats, own: Floats) -> Floats:
        """Return the common move of all arms in each world, after their own moves.

        With V it is uniform within the range that V leaves; without V it is normal, with the
        standard deviation of `common_scale`. The move is limited so that all rates stay between 0
        and 1, and never changes their order.
        """
        many = len(online)
        room = np.full(many, -np.inf), np.full(many, np.inf)
        if self.law.name == "bernoulli":
            room = -online.min(axis=1), 1.0 - online.max(axis=1)
        if self.promise.has_levels:
            low = (-self.promise.levels - own).max(axis=-1)
            high = (self.promise.levels - own).min(axis=-1)
            half = np.maximum(high - low, 0.0) / 2
            together: Floats = (low + high) / 2 + self.common * half
            return np.clip(together, *room)
        normal = NormalDist(0.0, common_scale(self.offline, self.law))
        chances = ((normal.cdf(a), normal.cdf(b)) for a, b in zip(*room, strict=True))
        within = [a + (1 + u) / 2 * (b - a) for u, (a, b) in zip(self.common, chances, strict=True)]
        drawn = [normal.inv_cdf(float(p)) for p in np.clip(within, TINY, 1 - TINY)]
        return np.clip(drawn, *room)


def common_scale(offline: OfflineData, law: RewardLaw) -> float:
    """How far all arms may move together where no level is promised: a standard deviation.

    The noise of a reward, or how far the logged means are apart if that is more. For a rate p the
    noise is replaced by p (1 − p), about one unit of log-odds, so that rates stay rates.

    Example:
        >>> logs = OfflineData.from_summary({"A": (90, 0.2), "B": (90, 0.3)})
        >>> round(common_scale(logs, RewardLaw("bernoulli", 0.5, "")), 4)
        0.1875
    """
    noise = law.noise
    if law.name == "bernoulli":
        rate = offline.pooled_mean()
        noise = rate * (1 - rate)
    return max(noise, spread(offline), TINY)


def spread(offline: OfflineData) -> float:
    """How far the logged means are apart."""
    return float(np.ptp(offline.mean[offline.n > 0]))


def shifts_of(offline: OfflineData, law: RewardLaw) -> list[float]:
    """Return the shifts to try, ascending from 0; they depend on the logs, not on the bounds.

    Two arms that each move by half of their gap meet. The shifts form a geometric grid, from half
    of the smallest gap to the leader up to twice the largest gap. A gap smaller than its standard
    error is replaced by the standard error.

    Example:
        >>> logs = OfflineData.from_summary({"A": (9999, 0.5), "B": (9999, 0.4), "C": (9999, 0.1)})
        >>> [round(x, 3) for x in shifts_of(logs, RewardLaw("gaussian", 1.0, ""))]
        [0.0, 0.05, 0.074, 0.11, 0.164, 0.244, 0.362, 0.538, 0.8]
    """
    n, means = offline.n, offline.mean
    logged = np.flatnonzero(n > 0)
    lead = int(logged[np.argmax(means[logged])])
    variance = np.full(len(n), law.noise**2)
    if law.name == "bernoulli":
        variance = np.clip(means * (1 - means), 1.0 / (4 * np.maximum(n, 1)), None)
    halves = [
        max(means[lead] - means[i], np.sqrt(variance[lead] / n[lead] + variance[i] / n[i])) / 2
        for i in logged
        if i != lead
    ] or [law.noise / np.sqrt(n[lead])]
    points = np.geomspace(min(halves), FARTHEST * max(halves), SHIFTS).tolist()
    if law.name == "bernoulli":
        points = [x for x in points if x < 1.0]
    return [0.0, *points]


def against(offline: OfflineData, reach: Floats, horizon: int) -> Floats:
    """Return the move of each arm, at most `reach`, that hurts log-trusting rules most.

    The arm that leads in the logs goes down, and one other arm goes up. A rule that pools logs and
    live rewards then plays the leader until its pooled mean has fallen below the logged mean of the
    other arm: after N g/(r − g) rounds, where N is the number of the leader's logged rewards, r its
    fall and g the logged gap, and never if r ≤ g. Each of these rounds costs the true difference
    between the two arms. The arm that goes up is the one for which the total cost is largest, or
    the one that comes closest if none overtakes.

    Example:
        >>> logs = OfflineData.from_summary({"A": (9, 0.1), "B": (9, 0.5), "C": (9, 0.4)})
        >>> [against(logs, np.full(3, reach), 900).tolist() for reach in (0.1, 0.3)]
        [[0.0, -0.1, 0.1], [0.3, -0.3, 0.0]]
    """
    means = np.where(offline.n > 0, offline.mean, -np.inf)
    lead = int(np.argmax(means))
    gap = means[lead] - means
    better = reach + reach[lead] - gap
    with np.errstate(divide="ignore", invalid="ignore"):
        hidden = np.where(reach[lead] > gap, offline.n[lead] * gap / (reach[lead] - gap), np.inf)
    cost = np.where(better > 0, better * np.minimum(hidden, horizon), better)
    cost = np.maximum(cost, -LARGEST)  # an arm without logs never overtakes
    cost[lead] = -np.inf
    up = int(np.argmax(cost))
    shift = np.zeros(len(reach))
    shift[lead], shift[up] = -reach[lead], reach[up]
    return shift
