"""What the past periods say of the next one: the law of its moves, and the bound that covers them.

The offline mean of an arm is that of all its past rewards. Its true counterpart is μ + Σ w_e δ_e
with w_e the share of the rewards that period e has, and the mean in a new period is μ + δ, so the
move that a bias bound must cover is::

    δ − Σ w_e δ_e  ~  N(0, τ² (1 + Σ w_e²))

(the noise of the logged mean itself is the policies' business: they know how many rewards it is
of). τ is not known. Its confidence distribution by the Q-profile, P(τ² ≤ x) = P(χ² ≥ Q(x)), given
that τ > 0, takes its place. Without noise and with equally many rewards in every period this is
Student's t, exactly: the prediction interval of a new mean, as in Higgins et al. 2009, with the
degrees of freedom of all arms together. With noise it is what Box & Tiao (1973, 5.2) have for a
variance component under their reference prior, and it covers something however alike the periods.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.shift.one_way import OneWay

GRID = np.geomspace(1e-4, 1e9, 400)  # τ in units of τ and noise together
STEPS = 500  # factors are rounded up to 1.000, 1.002, …, so that few differ

_erf = np.vectorize(math.erf, otypes=[float])


@dataclass(frozen=True, eq=False)
class TauLaw:
    """Values of τ with their probabilities."""

    tau: Floats
    weight: Floats

    @classmethod
    def from_periods(cls, periods: OneWay) -> TauLaw:
        """From the periods in which arms were seen."""
        tau = GRID * math.sqrt(periods.scale[0])
        start = periods.log_chance(np.zeros(1))
        q = np.array([periods.q(square)[0] for square in tau**2])
        beyond = np.exp(periods.log_chance_of(q) - start)
        ends = np.concatenate([[1.0], beyond, [0.0]])
        middle = np.concatenate([tau[:1], np.sqrt(tau[1:] * tau[:-1]), tau[-1:]])
        weight = -np.diff(ends)
        counts = weight > 1e-12
        return cls(middle[counts], weight[counts])

    @classmethod
    def known(cls, tau: float) -> TauLaw:
        """One value, for certain."""
        return cls(np.array([tau]), np.ones(1))


@dataclass(frozen=True, eq=False)
class OneWayMoves:
    """The moves of some arms in a new period.

    Attributes:
        law: Of τ.
        factors: √(1 + Σ w_e²) of each arm.
    """

    law: TauLaw
    factors: Floats

    def chance(self, bound: float) -> float:
        """Probability that no arm moves further than the bound.

        Arms are taken to move independently. That is the careful way: of arms that move together
        more stay within a bound (Šidák 1967).
        """
        factor, arms = self._kinds
        within = _erf(bound / (math.sqrt(2) * self.law.tau[:, None] * factor)) ** arms
        return float(self.law.weight @ within.prod(axis=1))

    def bound(self, coverage: float) -> float:
        """The least bound that no arm moves beyond with probability `coverage`."""
        low, high = 0.0, float(self.law.tau[0])
        while self.chance(high) < coverage:
            low, high = high, 4 * high
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self.chance(middle) < coverage else (low, middle)
        return high

    @cached_property
    def _kinds(self) -> tuple[Floats, Floats]:
        """Different factors, rounded up so that they are few, and how many arms have each."""
        factor, arms = np.unique(np.ceil(self.factors * STEPS - 1e-9) / STEPS, return_counts=True)
        return factor, arms.astype(np.float64)
