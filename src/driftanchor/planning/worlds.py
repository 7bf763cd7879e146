"""The worlds that logs and a promise leave possible."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.noise import key
from driftanchor.core.offline import OfflineData
from driftanchor.planning.promise import Promise
from driftanchor.planning.reward_law import RewardLaw, draw_means
from driftanchor.simulation.alike import with_means
from driftanchor.simulation.bandit import Bandit

CLOSE, WIDE = 1.3, 2.0  # neighbours on the grid of shifts are this many times apart
DOUBLINGS = 3  # of the shift at which every arm can overtake
MOST_SHIFTS = 11
TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Worlds:
    """Draws of the means behind the logs, and the directions in which they may have moved.

    Attributes:
        offline: The logs, which are the same in all worlds.
        law: Of rewards.
        promise: How far means may have moved.
        means: Offline means, (world, arm).
        own: Uniform on ±1, (world, arm): of own moves nothing but the bound is known.
        common: Uniform on ±1, (world,): where in its range the common move is.
    """

    offline: OfflineData
    law: RewardLaw
    promise: Promise
    means: Floats
    own: Floats
    common: Floats

    @classmethod
    def draw(
        cls, offline: OfflineData, law: RewardLaw, promise: Promise, worlds: int, seed: int
    ) -> Worlds:
        """Draw this many worlds; more worlds leave the first ones as they are."""
        means = draw_means(law, offline, worlds, seed)
        own, common = (
            np.random.default_rng(int(key(seed, f"plan/{name}"))) for name in ("shifts", "common")
        )
        return cls(
            offline,
            law,
            promise,
            means,
            own.uniform(-1, 1, means.shape),
            common.uniform(-1, 1, worlds),
        )

    def part(self, worlds: slice) -> Worlds:
        """Some of the worlds."""
        return dataclasses.replace(
            self, means=self.means[worlds], own=self.own[worlds], common=self.common[worlds]
        )

    def expected(self, given: Promise, logs: bool = True) -> list[Bandit]:
        """Each arm moved by anything within its bound, and all together where they may."""
        return self._bandits(self.own * self.promise.reach, given, logs)

    def moved(self, shift: float, given: Promise, logs: bool = True) -> list[Bandit]:
        """Arms moved against the logs by so much: see `against`."""
        reach = np.full(len(self.offline.arms), shift)
        return self._bandits(against(self.offline, reach), given, logs)

    def bad(self, given: Promise, logs: bool = True) -> list[Bandit]:
        """Arms moved against the logs as far as the promise allows."""
        return self._bandits(against(self.offline, self.promise.reach), given, logs)

    def allows(self, shift: float) -> bool:
        """Whether the promise allows the move against the logs by so much."""
        move = against(self.offline, np.full(len(self.offline.arms), shift))
        return bool((np.abs(move) <= self.promise.reach).all())

    def _bandits(self, own: Floats, given: Promise, logs: bool) -> list[Bandit]:
        """One for each world; a rate goes no further than 0 and 1."""
        online = self.means + own
        if self.law.name == "bernoulli":
            online = np.clip(online, 0.0, 1.0)
        if self.promise.is_relative:
            online = online + self._together(online, own)[:, None]
        if self.law.name == "bernoulli":
            online = np.clip(online, 0.0, 1.0)  # what is left of rounding
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
        """How far all arms move in each world, after their own moves.

        Within what V leaves, uniformly; without V normal, with the standard deviation of
        `common_scale`. Rates move only so far that all stay between 0 and 1: a common move never
        changes their order.
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
    """Shifts to try, ascending from 0: in units of the logs, whatever is declared.

    The move against the logs (see `against`) is worst for those who follow them just before the
    next arm can overtake the leader, at half of its gap. The shifts are these halves, or half of
    the gap's standard error where that is more; then twice the largest up to 8 times; thinned where
    they are close together and filled in where they are far apart.

    Example:
        >>> logs = OfflineData.from_summary({"A": (9999, 0.5), "B": (9999, 0.4), "C": (9999, 0.1)})
        >>> [round(x, 3) for x in shifts_of(logs, RewardLaw("gaussian", 1.0, ""))]
        [0.0, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6]
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
    points = _spaced(sorted(map(float, halves)))
    if law.name == "bernoulli":
        points = [x for x in points if x < 1.0]
    return [0.0, *points]


def _spaced(halves: list[float]) -> list[float]:
    """Points from the first to 8 times the last, neither too close together nor too far apart."""
    first, last = halves[0], halves[-1]
    close = CLOSE
    while True:
        points = [first]
        for x in [*halves[1:], *(last * 2.0**i for i in range(1, DOUBLINGS + 1))]:
            if x < close * points[-1]:
                continue
            between = int(np.ceil(np.log(x / points[-1]) / np.log(max(WIDE, close)) - 1e-9))
            points += np.geomspace(points[-1], x, between + 1)[1:].tolist()
        if len(points) < MOST_SHIFTS:
            return points
        close *= 1.2


def against(offline: OfflineData, reach: Floats) -> Floats:
    """The shift of each arm by at most `reach` that misleads a rule that follows the logs.

    The arm that leads in the logs goes down. The arm furthest behind that can overtake it this way
    goes up: it is better now, and looks as bad as can be. If none can, the next one goes up.

    Example:
        >>> logs = OfflineData.from_summary({"A": (9, 0.1), "B": (9, 0.5), "C": (9, 0.4)})
        >>> against(logs, np.full(3, 0.1)).tolist(), against(logs, np.full(3, 0.3)).tolist()
        ([0.0, -0.1, 0.1], [0.3, -0.3, 0.0])
    """
    means = np.where(offline.n > 0, offline.mean, -np.inf)
    lead, second, *_ = np.argsort(-means, kind="stable")
    behind = means[lead] - means
    # At half of its gap an arm does not overtake yet, whatever rounding makes of the half.
    overtakes = np.isfinite(behind) & (reach + reach[lead] > behind * (1 + 1e-9))
    overtakes[lead] = False
    up = int(np.argmax(np.where(overtakes, behind, -1.0))) if overtakes.any() else second
    shift = np.zeros(len(reach))
    shift[lead], shift[up] = -reach[lead], reach[up]
    return shift
