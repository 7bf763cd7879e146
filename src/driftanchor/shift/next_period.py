"""Distribution of the arms' moves in a new period, and the bound that covers them.

Let w_ke be the share of arm k's logged rewards that comes from period e. In the model of
`two_way.py`, period e moves all arms by c_e, and arm k by a further d_ke. In a new period, the
common move is c, and arm k's own move is d_k. The arm's true mean in the new period minus the true
mean behind its logs is then::

    (c − Σ_e w_ke c_e)  +  (d_k − Σ_e w_ke d_ke)

The first bracket is the common part, the second the own part. For every arm, V must cover the sum
of both. W must cover this sum minus the part that all arms share, which is c − Σ_e w̄_e c_e. Here
w̄_e is the mean of w_ke over the arms.

Let τ_c and τ_d be the standard deviations of common and own moves, and w_k the vector of arm k's
shares. The own part has variance τ_d² (1 + |w_k|²). The common part is identical for arms with the
same shares. If the shares differ, we split the common part into a part that all arms share and a
rest that we treat as independent between arms. Their variances are::

    V:  shared τ_c² (1 + ρ),  rest τ_c² (|w_k|² − ρ)
    W:  shared 0,             rest τ_c² |w_k − w̄|²

Here ρ is the mean of w_k · w_l over pairs of arms. The split keeps each arm's variance exact,
except that a negative variance of the rest is replaced by 0. For V, the covariances are right on
average.

W needs the rest for arms that were logged in different periods. The logged mean of each arm
contains the common moves of its own periods, and these do not cancel.

In the model of `one_way.py` all moves are own moves. The bounds leave out the sampling noise of the
logged means: policies account for it, because they know the number of rewards. τ_c and τ_d are
unknown, so the bounds average over their confidence distributions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from driftanchor.core.check import Floats

MARGIN = 7.0  # integrate shared moves over this many standard deviations around the bound
FAR = 9.0  # standard deviations beyond which normal probabilities are ignored
MAX_KINDS = 8  # if there are more distinct (own, rest) pairs, they are rounded more coarsely
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)


@dataclass(frozen=True, eq=False)
class Fiducial:
    """Joint confidence distribution of the standard deviations of own and common moves.

    Attributes:
        own: τ_d of each pair, the standard deviation of own moves.
        common: τ_c of each pair, the standard deviation of common moves.
        weight: Probability of each pair.
    """

    own: Floats
    common: Floats
    weight: Floats

    @classmethod
    def known(cls, own: float, common: float) -> Fiducial:
        """Return the distribution that puts all probability on one pair of standard deviations."""
        return cls(np.array([own]), np.array([common]), np.ones(1))


@dataclass(frozen=True, eq=False)
class NextPeriod:
    """Distribution of the arms' moves from their logs to a new period.

    Let τ_c and τ_d be the standard deviations of common and own moves between periods. Given both,
    an arm's move is the sum of three independent normal parts: own, rest and shared.

    Attributes:
        law: Confidence distribution of τ_c and τ_d.
        own: For each arm, the variance of the part due to the arm's own moves, divided by τ_d².
        rest: For each arm, the variance of the part due to common moves that the arms do not share,
            divided by τ_c². Arms that were logged in different periods have such a part.
        shared: Variance of the part due to common moves that all arms share, divided by τ_c².
        exact: Whether to use the variances as given. If not, they are rounded up, so that fewer
            distinct values remain.
    """

    law: Fiducial
    own: Floats
    rest: Floats
    shared: float
    exact: bool = False

    @classmethod
    def one_way(cls, law: Fiducial, factors: Floats) -> NextPeriod:
        """Return the distribution of moves if there are own moves but no common moves.

        `factors` are the standard deviations of the arms' moves to the new period, divided by τ.
        They are rounded up to multiples of 0.002, so that fewer distinct values remain.
        """
        own = (np.ceil(factors * 500 - 1e-9) / 500) ** 2
        return cls(law, own, np.zeros_like(own), 0.0, exact=True)

    @classmethod
    def level(cls, law: Fiducial, share: Floats) -> NextPeriod:
        """Return the distribution of the moves that the bias bound V must cover.

        `share` has shape (arms, periods): the share of an arm's rewards that comes from a period.
        """
        square = (share**2).sum(axis=1)
        arms = len(share)
        products = float((share.sum(axis=0) ** 2).sum() - square.sum())
        overlap = products / (arms * (arms - 1)) if arms > 1 else float(square[0])
        return cls(law, 1.0 + square, np.maximum(square - overlap, 0.0), 1.0 + overlap)

    @classmethod
    def relative(cls, law: Fiducial, share: Floats) -> NextPeriod:
        """Return the distribution of the moves that the bound W must cover: see `level`."""
        apart = ((share - share.mean(axis=0)) ** 2).sum(axis=1)
        return cls(law, 1.0 + (share**2).sum(axis=1), apart, 0.0)

    def chance(self, bound: float) -> float:
        """Return the probability that no arm moves further than the bound.

        Treats the arms' own moves as independent of each other. This is conservative: if they are
        correlated, the probability is at least as large (Šidák 1967).
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
        """The distinct pairs of `own` and `rest`, and the number of arms with each pair.

        Unless `exact`, values are first rounded up.
        """
        both = np.stack([self.own, self.rest])
        kinds, arms = np.unique(both, axis=1, return_counts=True)
        for steps in () if self.exact else (500, 100, 50, 20):
            rounded = np.ceil(both * steps - 1e-9) / steps
            kinds, arms = np.unique(rounded, axis=1, return_counts=True)
            if len(arms) <= MAX_KINDS:
                break
        return kinds[0], kinds[1], arms.astype(np.float64)


def falling_root(function: Callable[[float], float], target: float, start: float) -> float:
    """Return the x ≥ 0 at which a decreasing function equals `target`; 0 if it starts below.

    `start` is the first upper bracket, quadrupled until it contains the root. Raises
    FloatingPointError if the function never reaches the target.

    Example:
        >>> round(falling_root(lambda x: 1 / (1 + x), 0.125, 1.0), 9)
        7.0
    """
    from scipy.optimize import brentq

    def above(x: float) -> float:
        return function(x) - target

    if above(0.0) <= 0:
        return 0.0
    low, high = 0.0, start
    while above(high) > 0:
        low, high = high, 4 * high
        if math.isinf(high):
            raise FloatingPointError("the function does not reach its target")
    return float(brentq(above, low, high, xtol=1e-300, rtol=1e-12, maxiter=1_000))
