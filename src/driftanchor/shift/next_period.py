"""Distribution of the arms' moves in a new period, and the bound that covers them.

Let w_ke be the share of arm k's logged rewards that come from period e. In the model of
`two_way.py`, period e moves all arms by c_e, and arm k by a further d_ke. In a new period the
common move is c and the own move d_k. The arm's true mean then differs from the true mean behind
its logs by::

    (c − Σ_e w_ke c_e)  +  (d_k − Σ_e w_ke d_ke)

The first bracket is the common part, the second the own part. V must cover their sum for every
arm. W must cover the sum after subtracting the part that all arms share, c − Σ_e w̄_e c_e, where w̄
is the mean of w_k over the arms.

The own part has variance τ_d² (1 + |w_k|²). The common part is identical for arms with the same
shares. If the shares differ, we split the common part into a part that all arms share and a rest
that we treat as independent between arms::

    V:  shared τ_c² (1 + ρ),  rest τ_c² (|w_k|² − ρ),  ρ the mean of w_k · w_l over pairs of arms
    W:  shared 0,             rest τ_c² |w_k − w̄|²

This keeps each arm's variance exact, except that a negative rest counts as 0. For V, the
covariances are right on average.

W needs the rest for arms that were logged in different periods. The logged mean of each arm
contains the common moves of its own periods, and these do not cancel.

In the model of `one_way.py` all moves are own moves. The bounds leave out the sampling noise of the
logged means: policies account for it, because they know the number of rewards. The unknown τ_c and
τ_d are averaged over their confidence distributions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.shift.numerics import falling_root

MARGIN = 7.0  # integrate shared moves over this many standard deviations around the bound
FAR = 9.0  # standard deviations beyond which normal probabilities are ignored
MAX_KINDS = 8  # max number of distinct (own, rest) pairs; beyond it, round more coarsely
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)


@dataclass(frozen=True, eq=False)
class Fiducial:
    """Joint confidence distribution of τ_d and τ_c, as a list of weighted pairs.

    Attributes:
        own: τ_d of each pair.
        common: τ_c of each pair.
        weight: Probability of each pair.
    """

    own: Floats
    common: Floats
    weight: Floats

    @classmethod
    def known(cls, own: float, common: float) -> Fiducial:
        """Return the distribution that puts all probability on one pair."""
        return cls(np.array([own]), np.array([common]), np.ones(1))


@dataclass(frozen=True, eq=False)
class NextPeriod:
    """Distribution of the arms' moves in a new period.

    Attributes:
        law: Confidence distribution of τ_c and τ_d.
        own: Variance of each arm's own part, in units of τ_d².
        rest: Variance of the rest of each arm's common part, in units of τ_c².
        shared: Variance of the part that all arms share, in units of τ_c².
        exact: Use these variances as they are. Otherwise they are rounded up, so that few differ.
    """

    law: Fiducial
    own: Floats
    rest: Floats
    shared: float
    exact: bool = False

    @classmethod
    def one_way(cls, law: Fiducial, factors: Floats) -> NextPeriod:
        """Return the distribution if all moves are own moves, given the factors √(1 + |w_k|²).

        Rounds the factors up to multiples of 0.002, so that few differ.
        """
        own = (np.ceil(factors * 500 - 1e-9) / 500) ** 2
        return cls(law, own, np.zeros_like(own), 0.0, exact=True)

    @classmethod
    def level(cls, law: Fiducial, share: Floats) -> NextPeriod:
        """Return the distribution of the moves that V must cover, given the shares w_ke."""
        square = (share**2).sum(axis=1)
        arms = len(share)
        products = float((share.sum(axis=0) ** 2).sum() - square.sum())
        overlap = products / (arms * (arms - 1)) if arms > 1 else float(square[0])
        return cls(law, 1.0 + square, np.maximum(square - overlap, 0.0), 1.0 + overlap)

    @classmethod
    def relative(cls, law: Fiducial, share: Floats) -> NextPeriod:
        """Return the distribution of the moves that W must cover, given the shares w_ke."""
        apart = ((share - share.mean(axis=0)) ** 2).sum(axis=1)
        return cls(law, 1.0 + (share**2).sum(axis=1), apart, 0.0)

    def chance(self, bound: float) -> float:
        """Return the probability that no arm moves further than the bound.

        Treats own moves as independent. That is conservative: if they are correlated, all arms
        stay within the bound at least as often (Šidák 1967).
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
        certain = erf(low / math.sqrt(2))  # for draws below `low`, all arms stay within the bound
        return float(self.law.weight @ (certain + (high - low) / 2 * (density @ _WEIGHTS)))

    def bound(self, coverage: float) -> float:
        """Return the smallest bound within which all arms stay with probability `coverage`."""
        law = self.law
        variance = law.own**2 * self.own.max() + law.common**2 * (self.rest.max() + self.shared)
        middle = math.exp(float(law.weight @ np.log(variance)) / 2)
        return falling_root(lambda x: -self.chance(x), -coverage, 2 * middle)

    @cached_property
    def _kinds(self) -> tuple[Floats, Floats, Floats]:
        """Distinct own and rest, rounded up unless `exact`, and the number of arms with each."""
        both = np.stack([self.own, self.rest])
        kinds, arms = np.unique(both, axis=1, return_counts=True)
        for steps in () if self.exact else (500, 100, 50, 20):
            rounded = np.ceil(both * steps - 1e-9) / steps
            kinds, arms = np.unique(rounded, axis=1, return_counts=True)
            if len(arms) <= MAX_KINDS:
                break
        return kinds[0], kinds[1], arms.astype(np.float64)
