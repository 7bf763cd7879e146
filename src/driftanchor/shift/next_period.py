"""The moves of arms in a new period, and the bound that covers them.

In the model of `two_way.py`, the true mean of arm k in a new period differs from the true mean
behind its logs, of which period e has the share w_ke, by::

    (c − Σ_e w_ke c_e)  +  (d_k − Σ_e w_ke d_ke)

V must cover this for all arms, and W the same without the common move c of the new period. The own
part has the variance τ_d² (1 + |w_k|²). The common part is the same for arms with the same shares.
If shares differ, it is split into a part that all arms share and a rest that counts as independent.
Variances are then exact and covariances are right on average::

    V:  shared τ_c² (1 + ρ),  rest τ_c² (|w_k|² − ρ),  ρ the mean of w_k · w_l over pairs of arms
    W:  shared 0,             rest τ_c² |w_k − w̄|²,    w̄ the mean share of all arms

W needs its rest because an arm that was logged in other periods than the others has the common
moves of these periods in its mean, and they do not cancel.

In the model of `one_way.py` all moves are own moves. The noise of the logged means is left to the
policies, which know how many rewards they have. The unknown τ_c and τ_d are replaced by their
confidence distributions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.shift.numerics import falling_root

MARGIN = 7.0  # standard deviations around the bound within which own moves decide
FAR = 9.0  # standard deviations beyond which a normal law has no probability left
MAX_KINDS = 8  # of arms; with more of them variances are rounded more
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)


@dataclass(frozen=True, eq=False)
class Fiducial:
    """Pairs of τ_d and τ_c with their probabilities: the confidence distribution of both.

    Attributes:
        own: τ_d.
        common: τ_c.
        weight: Their probabilities; all three are arrays of the same length.
    """

    own: Floats
    common: Floats
    weight: Floats

    @classmethod
    def known(cls, own: float, common: float) -> Fiducial:
        """Return the law of a known pair."""
        return cls(np.array([own]), np.array([common]), np.ones(1))


@dataclass(frozen=True, eq=False)
class NextPeriod:
    """The law of the arms' moves in a new period.

    Attributes:
        law: Of τ_c and τ_d.
        own: Variance of each arm's own part, in units of τ_d².
        rest: Variance of each arm's independent share of the common part, in units of τ_c².
        shared: Variance of the part that all arms share, in units of τ_c².
        exact: Whether to use these variances without rounding them up.
    """

    law: Fiducial
    own: Floats
    rest: Floats
    shared: float
    exact: bool = False

    @classmethod
    def one_way(cls, law: Fiducial, factors: Floats) -> NextPeriod:
        """Return moves that are all the arm's own, with factors √(1 + |w_k|²).

        Factors are rounded up to 1.000, 1.002, …, so that few differ.
        """
        own = (np.ceil(factors * 500 - 1e-9) / 500) ** 2
        return cls(law, own, np.zeros_like(own), 0.0, exact=True)

    @classmethod
    def level(cls, law: Fiducial, share: Floats) -> NextPeriod:
        """Return the moves that V must cover, given the shares w by (arm, period)."""
        square = (share**2).sum(axis=1)
        arms = len(share)
        products = float((share.sum(axis=0) ** 2).sum() - square.sum())
        overlap = products / (arms * (arms - 1)) if arms > 1 else float(square[0])
        return cls(law, 1.0 + square, np.maximum(square - overlap, 0.0), 1.0 + overlap)

    @classmethod
    def relative(cls, law: Fiducial, share: Floats) -> NextPeriod:
        """Return the moves that W must cover."""
        apart = ((share - share.mean(axis=0)) ** 2).sum(axis=1)
        return cls(law, 1.0 + (share**2).sum(axis=1), apart, 0.0)

    def chance(self, bound: float) -> float:
        """Return the probability that no arm moves further than the bound.

        Own moves count as independent. That is conservative: arms that move together stay within a
        bound more often (Šidák 1967).
        """
        from scipy.special import erf, ndtr

        own, rest, arms = self._kinds
        deviations = [
            np.sqrt(self.law.own**2 * x + self.law.common**2 * y)
            for x, y in zip(own, rest, strict=True)
        ]
        if not self.shared:
            within = np.ones_like(self.law.own)
            for deviation, count in zip(deviations, arms, strict=True):
                within *= erf(bound / deviation / math.sqrt(2)) ** count
            return float(self.law.weight @ within)
        common = self.law.common * math.sqrt(self.shared)
        widest = np.max(deviations, axis=0)
        low = np.clip((bound - MARGIN * widest) / common, 0.0, FAR)
        high = np.clip((bound + MARGIN * widest) / common, 0.0, FAR)
        draw = low[:, None] + (high - low)[:, None] * (_NODES + 1) / 2
        density = np.exp(-(draw**2) / 2) * math.sqrt(2 / math.pi)
        centre = common[:, None] * draw
        for deviation, count in zip(deviations, arms, strict=True):
            width = deviation[:, None]
            inside = ndtr((bound - centre) / width) - ndtr((-bound - centre) / width)
            density *= np.maximum(inside, 0.0) ** count
        certain = erf(low / math.sqrt(2))  # below `low` every arm stays within the bound
        return float(self.law.weight @ (certain + (high - low) / 2 * (density @ _WEIGHTS)))

    def bound(self, coverage: float) -> float:
        """Return the smallest bound that no arm moves beyond with probability `coverage`."""
        law = self.law
        variance = law.own**2 * self.own.max() + law.common**2 * (self.rest.max() + self.shared)
        middle = math.exp(float(law.weight @ np.log(variance)) / 2)
        return falling_root(lambda x: -self.chance(x), -coverage, 2 * middle)

    @cached_property
    def _kinds(self) -> tuple[Floats, Floats, Floats]:
        """Distinct (own, rest) after rounding up, and the number of arms with each."""
        both = np.stack([self.own, self.rest])
        kinds, arms = np.unique(both, axis=1, return_counts=True)
        for steps in () if self.exact else (500, 100, 50, 20):
            rounded = np.ceil(both * steps - 1e-9) / steps
            kinds, arms = np.unique(rounded, axis=1, return_counts=True)
            if len(arms) <= MAX_KINDS:
                break
        return kinds[0], kinds[1], arms.astype(np.float64)
