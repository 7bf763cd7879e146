"""What past periods say of the next one when arms move together and on their own.

In the model of `two_way.py`, the true mean of arm k in a new period differs from the true mean
behind its logs, of which period e has the share w_ke, by::

    (c − Σ_e w_ke c_e)  +  (d_k − Σ_e w_ke d_ke)

V must cover this for all arms, and W what is left without the common move c of the new period. The
own part has the variance τ_d² (1 + |w_k|²). The common part is the same for arms with the same
shares. Where shares differ it is split into what arms have in common and a rest that is taken to
be independent, so that variances are right and covariances are so on average::

    V:  shared τ_c² (1 + ρ),  rest τ_c² (|w_k|² − ρ),  ρ the mean of w_k · w_l over pairs of arms
    W:  shared 0,             rest τ_c² |w_k − w̄|²,    w̄ the mean share of all arms

The rest of W is there because an arm that was logged in other periods than the others has their
common moves in its mean, and these do not cancel.

τ_c and τ_d are not known. As in `one_way_moves.py` their confidence distributions take their place:
P(τ_d² ≤ x) = P(χ² ≥ Q_d(x)) given that τ_d > 0, and for each τ_d P(τ_c² ≤ x) = P(χ² ≥ Q_c(x;
τ_d²)), where τ_c may be 0, as own moves are there already. The two chi-squares are independent, so
this is the joint law of which Weerahandi (1993) makes generalised confidence intervals. The
interval of τ_c averages over τ_d in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.core.stats.distributions import log_chi_square_cdf, normal_cdf
from driftanchor.shift.roots import fallen, where
from driftanchor.shift.two_way import Fit, TwoWay

STEPS = np.array([1.05, 1.2, 1.5, 2, 3, 6, 15, 40, 100, 300, 1e3, 1e4, 1e5, 1e6, 1e9])
NODES = (10, 36)  # values of τ_d, and of τ_c for each: at least and at most,
CLOSE = 0.1  # and not closer than that in their logarithms
RARE = 1e-5  # probability beyond the first and the last of them
MARGIN = 7.0  # standard deviations within which own moves decide
FAR = 9.0  # standard deviations beyond which a normal density counts as 0
FEW = 8  # kinds of arms; with more of them factors are rounded more
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)


@dataclass(frozen=True, eq=False)
class Fiducial:
    """Values of τ_d, and for each of them values of τ_c, with their probabilities.

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
        """One pair, for certain."""
        return cls(np.array([own]), np.array([common]), np.ones(1))


class Spread:
    """τ_c and τ_d of a table: estimates, intervals, and their fiducial law."""

    def __init__(self, table: TwoWay) -> None:
        self.table = table
        start, freedom = table.scale, float(table.freedom)
        self.own2 = fallen(table.own_q, freedom, start)
        self.fit = table.fit(self.own2)
        self.common2 = fallen(
            lambda x: float(self.fit.common_q(np.array([x]))[0]),
            float(table.common_freedom),
            self.fit.common_scale,
        )
        self._own = _spread(self._own_chance, math.sqrt(self.own2 or start))
        self._fits = [table.fit(tau**2) for tau in self._own[0].tolist()]

    def own_interval(self, miss: float) -> tuple[float, float]:
        """Of τ_d², as in `OneWay.interval`."""
        first, start = self._own_log(0.0), self.own2 or self.table.scale
        low = fallen(self._own_log, math.log1p(-miss / 2), start / 2)
        return low, where(self._own_log, first + math.log(miss / 2), 2 * start)

    def common_interval(self, miss: float) -> tuple[float, float]:
        """Of τ_c², averaged over what τ_d may be."""
        _, weight = self._own

        def logs(common2: float) -> Floats:
            q = np.array([fit.common_q(np.array([common2]))[0] for fit in self._fits])
            return log_chi_square_cdf(q, np.array([float(self.table.common_freedom)]))

        def chance(common2: float, given: Floats) -> float:
            return float(weight @ np.exp(logs(common2) - given)) / float(weight.sum())

        first = logs(0.0)

        start = self.common2 or self.fit.common_scale
        low = fallen(lambda x: chance(x, np.zeros_like(first)), 1 - miss / 2, start / 2)
        return low, where(lambda x: chance(x, first), miss / 2, 2 * start)

    @cached_property
    def law(self) -> Fiducial:
        """The fiducial law of both."""
        own, common, weight = [], [], []
        start = math.sqrt(self.common2 or self.fit.common_scale)
        for tau, share, fit in zip(*self._own, self._fits, strict=True):
            found, chance = _spread(self._common_chance(fit), start)
            own.append(np.full_like(found, tau))
            common.append(found)
            weight.append(share * chance)
        pairs = np.stack([np.concatenate(rows) for rows in (own, common, weight)])
        return Fiducial(*pairs[:, pairs[2] > RARE / 100])

    def _own_log(self, own2: float) -> float:
        q = np.array([self.table.own_q(own2)])
        return float(log_chi_square_cdf(q, np.array([float(self.table.freedom)]))[0])

    def _own_chance(self, tau: Floats) -> Floats:
        q = np.array([self.table.own_q(x) for x in (0.0, *(tau**2).tolist())])
        logs = log_chi_square_cdf(q, np.array([float(self.table.freedom)]))
        beyond: Floats = np.exp(logs[1:] - logs[0])
        return beyond

    def _common_log(self, fit: Fit, common2: Floats) -> Floats:
        return log_chi_square_cdf(
            fit.common_q(common2), np.array([float(self.table.common_freedom)])
        )

    def _common_chance(self, fit: Fit) -> Callable[[Floats], Floats]:
        return lambda tau: np.exp(self._common_log(fit, tau**2))


def _spread(beyond: Callable[[Floats], Floats], start: float) -> tuple[Floats, Floats]:
    """Values of a τ, with their probabilities, where P(above x) = `beyond`(x).

    The values are a constant factor apart, from where next to nothing is below to where next to
    nothing is above.
    """
    coarse = start * np.concatenate([[0.0], 1 / STEPS[::-1], STEPS])
    chance = np.minimum.accumulate(np.minimum(beyond(coarse), 1.0))  # rises by rounding at most
    if chance[0] < RARE:  # τ is 0, as far as one can tell
        return coarse[1:2], np.ones(1)
    first = min(max(1, int((chance > chance[0] - RARE).sum()) - 1), len(coarse) - 2)
    last = min(max(first + 1, int((chance >= RARE).sum())), len(coarse) - 1)
    low, high = coarse[first], coarse[last]
    nodes = int(np.clip(math.log(high / low) / CLOSE, *NODES))
    tau = np.geomspace(low, high, nodes)
    ends = np.minimum.accumulate(np.concatenate([[1.0], beyond(tau), [0.0]]))
    middle = np.concatenate([tau[:1], np.sqrt(tau[1:] * tau[:-1]), tau[-1:]])
    weight = -np.diff(ends)
    counts = weight > RARE / 10
    return middle[counts], weight[counts]


@dataclass(frozen=True, eq=False)
class TwoWayMoves:
    """The moves of some arms in a new period.

    Attributes:
        law: Of τ_c and τ_d.
        own: Variance of each arm's own part, in units of τ_d².
        rest: Variance of the common part that the arm has for itself, in units of τ_c².
        shared: Variance of the part that all arms have in common, in units of τ_c².
    """

    law: Fiducial
    own: Floats
    rest: Floats
    shared: float

    @classmethod
    def level(cls, law: Fiducial, share: Floats) -> TwoWayMoves:
        """What V must cover, by the shares w of (arm, period)."""
        square = (share**2).sum(axis=1)
        arms = len(share)
        products = float((share.sum(axis=0) ** 2).sum() - square.sum())
        alike = products / (arms * (arms - 1)) if arms > 1 else float(square[0])
        return cls(law, 1.0 + square, np.maximum(square - alike, 0.0), 1.0 + alike)

    @classmethod
    def relative(cls, law: Fiducial, share: Floats) -> TwoWayMoves:
        """What W must cover."""
        apart = ((share - share.mean(axis=0)) ** 2).sum(axis=1)
        return cls(law, 1.0 + (share**2).sum(axis=1), apart, 0.0)

    def chance(self, bound: float) -> float:
        """Probability that no arm moves further than the bound."""
        common = self.law.common * math.sqrt(self.shared)
        own, rest, arms = self._kinds
        deviations = [
            np.sqrt(self.law.own**2 * x + self.law.common**2 * y)
            for x, y in zip(own, rest, strict=True)
        ]
        if not self.shared:
            within = np.ones_like(common)
            for deviation, count in zip(deviations, arms, strict=True):
                within *= (2 * normal_cdf(bound / deviation) - 1) ** count
            return float(self.law.weight @ within)
        widest = np.max(deviations, axis=0)
        low = np.clip((bound - MARGIN * widest) / common, 0.0, FAR)
        high = np.clip((bound + MARGIN * widest) / common, 0.0, FAR)
        draw = low[:, None] + (high - low)[:, None] * (_NODES + 1) / 2
        inside = np.exp(-(draw**2) / 2) * math.sqrt(2 / math.pi)
        for deviation, count in zip(deviations, arms, strict=True):
            centre = common[:, None] * draw
            width = deviation[:, None]
            between = normal_cdf((bound - centre) / width) - normal_cdf((-bound - centre) / width)
            inside *= np.maximum(between, 0.0) ** count
        sure = 2 * normal_cdf(low) - 1
        return float(self.law.weight @ (sure + (high - low) / 2 * (inside @ _WEIGHTS)))

    def bound(self, coverage: float) -> float:
        """The least bound that no arm moves beyond with probability `coverage`."""
        law = self.law
        variance = law.own**2 * self.own.max() + law.common**2 * (self.rest.max() + self.shared)
        middle = math.exp(float(law.weight @ np.log(variance)) / 2)
        return where(self.chance, coverage, 2 * middle)

    @cached_property
    def _kinds(self) -> tuple[Floats, Floats, Floats]:
        """Different arms, rounded up so that they are few, and how many there are of each."""
        for steps in (500, 100, 50, 20):
            rounded = np.ceil(np.stack([self.own, self.rest]) * steps - 1e-9) / steps
            kinds, arms = np.unique(rounded, axis=1, return_counts=True)
            if len(arms) <= FEW:
                break
        return kinds[0], kinds[1], arms.astype(np.float64)
