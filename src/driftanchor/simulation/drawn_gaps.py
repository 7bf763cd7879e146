"""How far apart the best and the worst arm of each run are, where runs draw their means.

A run loses at most its own gap in each round. Its largest gap is the largest minus the smallest of
K independent draws of a known law, so quantiles and means of gaps are known.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.legendre import POINTS, WEIGHTS
from driftanchor.simulation.bandit import Bandit
from driftanchor.simulation.world import drawn_means
from driftanchor.simulation.law import Law

RARE = (0.1, 0.003)  # chances that a run's best arm, or its worst, is beyond a cap
NEVER = 1e-15
PANELS = 20


class DrawnGaps(NamedTuple):
    """The largest and the smallest online mean of each run, and the law of all means."""

    law: Law
    arms: int
    best: Floats
    worst: Floats

    def quantile(self, q: float) -> float:
        """A number that the largest gap of a run exceeds with probability 1 − q at most."""
        low, high = self._caps((1.0 - q) / 2.0)
        return high - low

    @property
    def reach_far(self) -> bool:
        """Whether gaps often come near the largest one possible, so that this alone will do."""
        low, high = self.law.ends
        return self.quantile(1.0 - RARE[0]) > 0.5 * (high - low)

    def hedges(self) -> tuple[Floats, Floats]:
        """Numbers of each run that are at least its largest gap, by (cap, run), and their means.

        The gap itself varies from run to run, which would widen an interval. Each cap keeps its
        number constant in all but rare runs.
        """
        caps = [self._caps(rare) for rare in RARE]
        known = [np.maximum(self.best, high) - np.minimum(self.worst, low) for low, high in caps]
        means = [high - low + self._beyond(low, high) for low, high in caps]
        return np.stack(known), np.array(means)

    def _caps(self, rare: float) -> tuple[float, float]:
        """What the worst arm is seldom below, and the best one seldom above."""
        alone = -math.expm1(math.log1p(-rare) / self.arms)  # 1 − (1 − rare)^(1/K)
        return self.law.quantile(alone), self.law.quantile(1.0 - alone)

    def _beyond(self, low: float, high: float) -> float:
        """How far the best arm is above one cap and the worst below the other, both expected."""
        bottom, top = self.law.quantile(NEVER), self.law.quantile(1.0 - NEVER)
        above, weights = _panels(high, max(high, top))
        under, others = _panels(min(low, bottom), low)
        over = [1.0 - self.law.below(x) ** self.arms for x in above]
        below = [1.0 - (1.0 - self.law.below(x)) ** self.arms for x in under]
        return float(weights @ over + others @ below)


def drawn_gaps(bandit: Bandit, seed: int, runs: int, *, compiled: bool) -> DrawnGaps | None:
    """The gaps of the first runs of a random bandit; `None` where all runs have the same means."""
    if bandit.means is None:
        return None
    means = drawn_means(bandit, seed, 0, runs, compiled=compiled)[:, 0] - bandit.common_shift
    return DrawnGaps(bandit.means, len(bandit.online), means.max(axis=1), means.min(axis=1))


def _panels(left: float, right: float) -> tuple[Floats, Floats]:
    """Points and weights of a rule that integrates from left to right."""
    edges = np.linspace(left, right, PANELS + 1)
    half = np.diff(edges)[:, None] / 2.0
    points = edges[:-1, None] + half * (1.0 + POINTS)
    return points.ravel(), (half * WEIGHTS).ravel()
