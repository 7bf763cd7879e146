"""Two-way random-effects model: moves that all arms share, and each arm's own moves.

Let v_ke be the noise variance of the mean reward of arm k in period e. The mean is::

    y_ke = μ_k + c_e + d_ke + noise,   c_e ~ N(0, τ_c²),   d_ke ~ N(0, τ_d²),   noise ~ N(0, v_ke)

c_e is the move that all arms share in period e, and d_ke is the arm's own move. Fit arm *and*
period effects by least squares, with weights w_ke = 1/(v_ke + τ_d²). The residual sum of squares
is::

    Q_d(τ_d²) = min over μ, c of  Σ w_ke (y_ke − μ_k − c_e)²

The period effects absorb the common moves, so Q_d does not depend on them. At the true τ_d, Q_d is
exactly chi-square, even if the table has gaps. Its degrees of freedom are::

    cells − arms − periods + components

Cells are the (arm, period) pairs that were seen, and components are the connected components of
the arm–period table. Q_d decreases as τ_d grows. It yields an estimate of τ_d and an interval for
τ_d, as Q does for τ in `one_way.py`.

To estimate τ_c, hold τ_d fixed. Choose orthonormal contrasts of the period effects such that the
covariance matrix of their least-squares estimates ĉ_i is diagonal, and write the variances as
1/λ_i. The true contrasts are independent with variance τ_c². Define::

    Q_c(τ_c²; τ_d²) = Σ_i ĉ_i² / (τ_c² + 1/λ_i)

At the true τ_c and τ_d, Q_c is chi-square with (periods − components) degrees of freedom, and
independent of Q_d. This is the exact method of Wald (1947) for one variance component.

There is a second way to compute Q_c. To the sum of squares, add a penalty c_e²/τ_c² for each period
effect. The penalty follows from the normal distribution of c_e. Q_c is the amount by which it
raises the minimum::

    Q_c = min over μ, c of [ Σ w_ke (y_ke − μ_k − c_e)² + Σ c_e²/τ_c² ]  −  Q_d

To keep the linear systems small, we usually eliminate the arm effects. If there are many more
periods than arms, we eliminate the period effects instead.

Since τ_c and τ_d are unknown, we use their confidence distributions, as in `one_way.py`::

    P(τ_d² ≤ x)       = P(χ² ≥ Q_d(x)),        conditional on τ_d > 0
    P(τ_c² ≤ x | τ_d) = P(χ² ≥ Q_c(x; τ_d²)),  where τ_c may be 0

The two chi-square variables are independent, so this is the joint distribution from which
Weerahandi (1993) derives generalised confidence intervals. The interval for τ_c also averages over
the distribution of τ_d.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from driftanchor.core.check import Bools, Floats
from driftanchor.core.stats.distributions import log_chi_square_cdf
from driftanchor.core.stats.stratified import components
from driftanchor.shift.next_period import Fiducial, falling_root
from driftanchor.shift.one_way import FLOOR

STEPS = np.array([1.05, 1.2, 1.5, 2, 3, 6, 15, 40, 100, 300, 1e3, 1e4, 1e5, 1e6, 1e9])
NODES = (10, 36)  # min and max number of grid points for τ_d, and for τ_c at each τ_d
SPACING = 0.1  # target distance between the logarithms of grid points
RARE = 1e-5  # probability that may lie beyond either end of the grid


@dataclass(frozen=True, eq=False)
class Fit:
    """Least-squares fit of arm and period effects, for a given variance of own moves.

    Let τ_c be the standard deviation of common moves.

    Attributes:
        own_q: Q_d, the weighted sum of squared residuals.
        common: Effect of each period, determined only up to an additive constant per connected
            component of the arm–period table.
        common_q: Function that returns the statistic Q_c for an array of τ_c².
        common_scale: Order of magnitude of τ_c² + v, where v is the noise variance of a period
            effect.
    """

    own_q: float
    common: Floats
    common_q: Callable[[Floats], Floats]
    common_scale: float


@dataclass(frozen=True, eq=False)
class TwoWay:
    """Mean rewards by arm and period, and least-squares fits to them.

    Every arm must have been seen in at least two periods, and at least one arm in every period.

    Attributes:
        mean: Array of shape (arms, periods): the mean reward of an arm in a period.
        noise: Noise variance of `mean`; infinite if the arm was not seen in the period.
    """

    mean: Floats
    noise: Floats

    @cached_property
    def seen(self) -> Bools:
        """Boolean array indexed by (arm, period): True if the arm was seen in that period."""
        return np.isfinite(self.noise)

    @cached_property
    def components(self) -> int:
        """Number of connected components of the arm–period table."""
        return int(components(self.seen)[0].max()) + 1

    @cached_property
    def df(self) -> int:
        """Degrees of freedom of Q_d; 0 if own moves cannot be separated from common moves."""
        arms, periods = self.seen.shape
        return int(self.seen.sum() - arms - periods + self.components)

    @cached_property
    def common_df(self) -> int:
        """Degrees of freedom of Q_c, the statistic for the size of common moves."""
        return int(self.seen.shape[1] - self.components)

    @cached_property
    def scale(self) -> float:
        """Order of magnitude of τ_d² + v, where v is the noise variance of a mean reward."""
        noise = float(np.where(self.seen, self.noise, 0.0).sum())
        level = max(noise / float(self.seen.sum()), 1e-300)
        weight = np.where(self.seen, 1.0 / level, 0.0)
        residual = np.where(self.seen, self._solve(weight)[0], 0.0)
        return (noise + float((residual**2).sum())) / self.df

    def fit(self, own2: float) -> Fit:
        """Return the least-squares fit for own moves with variance `own2`."""
        weight = 1.0 / (self.noise + own2)
        residual, common, contrasts = self._solve(weight)
        floor = np.where(self.seen, FLOOR * self.noise, 0.0)
        own_q = float((weight * np.maximum(residual**2, floor)).sum())
        if contrasts is None:
            return self._fit_by_arms(weight, own_q, common)
        effect2, value = contrasts
        effect2 = np.maximum(effect2, FLOOR / value)

        def common_q(common2: Floats) -> Floats:
            rows: Floats = (effect2 / (common2[:, None] + 1.0 / value)).sum(axis=1)
            return rows

        scale = float((effect2 + 1.0 / value).sum()) / self.common_df
        return Fit(own_q, common, common_q, scale)

    def own_q(self, own2: float) -> float:
        """Return Q_d, the residual sum of squares, for own moves with variance `own2`."""
        return self.fit(own2).own_q

    @cached_property
    def _centred(self) -> Floats:
        """Period means minus the arm's unweighted mean, which reduces rounding errors."""
        centre = np.where(self.seen, self.mean, 0.0).sum(axis=1) / self.seen.sum(axis=1)
        return np.where(self.seen, self.mean - centre[:, None], 0.0)

    def _solve(self, weight: Floats) -> tuple[Floats, Floats, tuple[Floats, Floats] | None]:
        """Return the residuals, the period effects, and contrasts of the period effects.

        The contrasts are a pair of arrays: the square of each estimated contrast, and the inverse
        of its estimation variance. The estimates are independent. Computing them requires a linear
        system with one row per period. With many more periods than arms, the contrasts are None,
        because solving systems with one row per arm is cheaper, even many times.
        """
        arms, periods = self.seen.shape
        by_periods = periods <= max(2 * arms, 50)
        y = self._centred
        w, y = (weight, y) if by_periods else (weight.T, y.T)  # eliminate the rows
        total, sums = w.sum(axis=1), (w * y).sum(axis=1)
        inner = -(w.T @ (w / total[:, None]))
        inner[np.diag_indices_from(inner)] += w.sum(axis=0)
        right = (w * y).sum(axis=0) - (sums / total) @ w
        value, basis = np.linalg.eigh(inner)
        value, basis = value[self.components :], basis[:, self.components :]
        contrast = (basis.T @ right) / value
        columns = basis @ contrast
        rows = (sums - w @ columns) / total
        residual = y - columns - rows[:, None]
        if by_periods:
            return residual, columns, (contrast**2, value)
        return residual.T, rows, None

    def _fit_by_arms(self, weight: Floats, own_q: float, common: Floats) -> Fit:
        """Return a fit that computes Q_c from linear systems with one row per arm."""
        y = self._centred
        arm_weight, period_weight = weight.sum(axis=1), weight.sum(axis=0)
        by_arm, by_period = (weight * y).sum(axis=1), (weight * y).sum(axis=0)

        def penalised(common2: float) -> float:
            shrunk = common2 / (common2 * period_weight + 1.0)
            inner = np.diag(arm_weight) - (weight * shrunk) @ weight.T
            inner[np.diag_indices_from(inner)] *= 1 + FLOOR  # nearly singular if τ_c is large
            arm = np.linalg.solve(inner, by_arm - weight @ (shrunk * by_period))
            residual = y - arm[:, None]
            sums = (weight * residual).sum(axis=0)
            return float((weight * residual**2).sum() - (shrunk * sums**2).sum())

        def common_q(common2: Floats) -> Floats:
            least = FLOOR * self.common_df
            return np.array([max(penalised(float(x)) - own_q, least) for x in common2])

        centred = common - common.mean()
        scale = float((centred**2 + 1.0 / period_weight).sum()) / self.common_df
        return Fit(own_q, common, common_q, scale)


class Spread:
    """Estimates, intervals and a joint confidence distribution of τ_c and τ_d."""

    def __init__(self, table: TwoWay) -> None:
        self.table = table
        self.own2 = falling_root(table.own_q, float(table.df), table.scale)
        self.fit = table.fit(self.own2)
        self.common2 = falling_root(
            lambda x: float(self.fit.common_q(np.array([x]))[0]),
            float(table.common_df),
            self.fit.common_scale,
        )
        self._own = _discretise(self._own_tail, math.sqrt(self.own2 or table.scale))
        self._fits = [table.fit(tau**2) for tau in self._own[0].tolist()]

    def own_interval(self, alpha: float) -> tuple[float, float]:
        """Return a 1 − alpha interval for τ_d²; the upper end is conditional on τ_d > 0."""
        start = self.own2 or self.table.scale
        low = falling_root(self._own_log_tail, math.log1p(-alpha / 2), start / 2)
        target = self._own_log_tail(0.0) + math.log(alpha / 2)
        return low, falling_root(self._own_log_tail, target, 2 * start)

    def common_interval(self, alpha: float) -> tuple[float, float]:
        """Return a 1 − alpha confidence interval for τ_c², the variance of common moves.

        Tail probabilities are averaged over the distribution of τ_d. At the upper end they are
        conditional on τ_c > 0, so it is always above 0.
        """
        _, weight = self._own

        def log_tails(common2: float) -> Floats:
            q = np.array([fit.common_q(np.array([common2]))[0] for fit in self._fits])
            return log_chi_square_cdf(q, self.table.common_df)

        def tail(common2: float, given: Floats) -> float:
            return float(weight @ np.exp(log_tails(common2) - given)) / float(weight.sum())

        first, start = log_tails(0.0), self.common2 or self.fit.common_scale
        low = falling_root(lambda x: tail(x, np.zeros_like(first)), 1 - alpha / 2, start / 2)
        return low, falling_root(lambda x: tail(x, first), alpha / 2, 2 * start)

    @cached_property
    def law(self) -> Fiducial:
        """Joint confidence distribution of the standard deviations of common and own moves."""
        rows = []
        start = math.sqrt(self.common2 or self.fit.common_scale)
        for own, weight, fit in zip(*self._own, self._fits, strict=True):
            common, share = _discretise(self._common_tail(fit), start)
            rows.append(np.stack([np.full_like(common, own), common, weight * share]))
        pairs = np.concatenate(rows, axis=1)
        return Fiducial(*pairs[:, pairs[2] > RARE / 100])

    def _own_log_tail(self, own2: float) -> float:
        return float(log_chi_square_cdf(np.array([self.table.own_q(own2)]), self.table.df)[0])

    def _own_tail(self, tau: Floats) -> Floats:
        logs = np.array([self._own_log_tail(x) for x in (0.0, *(tau**2).tolist())])
        above: Floats = np.exp(logs[1:] - logs[0])
        return above

    def _common_tail(self, fit: Fit) -> Callable[[Floats], Floats]:
        return lambda tau: np.exp(log_chi_square_cdf(fit.common_q(tau**2), self.table.common_df))


def _discretise(tail: Callable[[Floats], Floats], start: float) -> tuple[Floats, Floats]:
    """Approximate the distribution of τ ≥ 0: return a few values and their probabilities.

    `tail` returns P(τ > x) for an array of x, and `start` is a guess of τ. The values lie on a
    geometric grid, whose ends get all probability beyond them, including P(τ = 0).
    """
    coarse = start * np.concatenate([[0.0], 1 / STEPS[::-1], STEPS])
    above = np.minimum.accumulate(np.minimum(tail(coarse), 1.0))  # only rounding makes it rise
    if above[0] < RARE:  # nearly all probability is at τ = 0
        return coarse[1:2], np.ones(1)
    first = min(max(1, int((above > above[0] - RARE).sum()) - 1), len(coarse) - 2)
    last = min(max(first + 1, int((above >= RARE).sum())), len(coarse) - 1)
    low, high = coarse[first], coarse[last]
    tau = np.geomspace(low, high, int(np.clip(math.log(high / low) / SPACING, *NODES)))
    ends = np.minimum.accumulate(np.concatenate([[1.0], tail(tau), [0.0]]))
    middle = np.concatenate([tau[:1], np.sqrt(tau[1:] * tau[:-1]), tau[-1:]])
    weight = -np.diff(ends)
    counts = weight > RARE / 10
    return middle[counts], weight[counts]
