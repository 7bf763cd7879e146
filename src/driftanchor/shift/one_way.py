"""One-way random-effects model: how much arm means vary between periods, beyond noise.

Let σ_k be the standard deviation of arm k's rewards. The mean of its n_ke rewards in period e is::

    y_ke = μ_k + δ_ke + noise,   δ_ke ~ N(0, τ²),   noise ~ N(0, v_ke),   v_ke = σ_k²/n_ke

τ is the standard deviation between periods. The generalised Q statistic yields an estimate and a
confidence interval for τ::

    Q_k(τ²) = Σ_e w_e (y_ke − ȳ_k)²,   w_e = 1/(v_ke + τ²),   ȳ_k = Σ w_e y_ke / Σ w_e

For an arm seen in E periods, Q at the true τ is chi-square with E − 1 degrees of freedom. Q
decreases as τ grows. The estimate is the τ at which Q equals its expectation. The ends of the
interval are the values of τ at which Q equals chi-square quantiles.

Sources: Paule & Mandel 1982 (the estimate); Viechtbauer 2007 (the interval, "Q-profile").

A bound for the next period averages over the confidence distribution of the unknown τ. The
Q-profile gives this distribution: P(τ² ≤ x) = P(χ² ≥ Q(x)). We condition it on τ > 0. Without
noise, and with the same number of rewards in every period, the bound is exactly Student's
prediction interval for a new mean (Higgins et al. 2009), with the degrees of freedom of all arms
together. With noise, the bound equals the result of Box & Tiao (1973, 5.2) for a variance component
under their reference prior. The bound is above 0 even if all periods are alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from driftanchor.core.check import Bools, Floats
from driftanchor.core.stats.distributions import log_chi_square_cdf
from driftanchor.shift.next_period import Fiducial

FLOOR = 1e-12  # min squared deviation / noise variance; keeps Q > 0 if all periods are equal
GRID = np.geomspace(1e-4, 1e9, 400)  # τ in units of √`scale`


@dataclass(frozen=True, eq=False)
class OneWay:
    """Estimates of τ, the standard deviation of an arm's moves between periods.

    Methods return arrays with one value per arm, or with a single value if `pooled`. Every arm must
    have been seen in at least two periods.

    Attributes:
        mean: Array of shape (arms, periods): the mean reward of an arm in a period.
        noise: Noise variance of `mean`; infinite if the arm was not seen in the period.
        pooled: Whether all arms share one τ.
    """

    mean: Floats
    noise: Floats
    pooled: bool = True

    @cached_property
    def seen(self) -> Bools:
        """Boolean array indexed by (arm, period): True if the arm was seen in that period."""
        return np.isfinite(self.noise)

    @cached_property
    def df(self) -> Floats:
        """Degrees of freedom of the Q statistic: one value per arm, or a single one if `pooled`."""
        return self._pool(self.seen.sum(axis=1) - 1.0)

    @cached_property
    def scale(self) -> Floats:
        """Order of magnitude of τ² + v, where v is the noise variance of a period's mean reward."""
        noise = np.where(self.seen, self.noise, 0.0)
        return self._pool((noise + self._squares(0.0)).sum(axis=1)) / self.df

    def q(self, tau2: Floats) -> Floats:
        """Return the Q statistic for the variance `tau2` between periods."""
        each = np.broadcast_to(tau2, self.mean.shape[:1])[:, None]
        return self._pool((self._squares(each) / (self.noise + each)).sum(axis=1))

    def log_tail(self, q: Floats) -> Floats:
        """Return the log probability that the Q statistic at the true τ is at most `q`.

        Arms that move together repeat the same information. The variance of Q is then larger than
        that of a chi-square variable, by the factor `inflation`. By Satterthwaite (1946),
        Q/inflation is approximately chi-square with df/inflation degrees of freedom.
        """
        return log_chi_square_cdf(q / self.inflation, self.df / self.inflation)

    def estimate(self) -> Floats:
        """Return Paule & Mandel's estimate of τ², at which Q equals its degrees of freedom."""
        return self._estimate

    @cached_property
    def _estimate(self) -> Floats:
        return self._root(self.q, self.df)

    def lower(self, alpha: float) -> Floats:
        """Return a lower limit that exceeds the true τ² with probability at most `alpha`."""
        return self._root(
            lambda x: self.log_tail(self.q(x)), np.full_like(self.df, np.log1p(-alpha))
        )

    def interval(self, alpha: float) -> tuple[Floats, Floats]:
        """Return a 1 − alpha confidence interval for τ², from the Q-profile.

        At the upper end, the probability is conditional on τ > 0. So the upper end is above 0 even
        if all periods are alike.
        """
        start = self.log_tail(self.q(np.zeros(1)))
        high = self._root(lambda x: self.log_tail(self.q(x)), start + np.log(alpha / 2))
        return self.lower(alpha / 2), high

    @cached_property
    def law(self) -> Fiducial:
        """Confidence distribution of τ, pooled over all arms; without common moves."""
        tau = GRID * math.sqrt(self.scale[0])
        start = self.log_tail(self.q(np.zeros(1)))
        q = np.array([self.q(square)[0] for square in tau**2])
        ends = np.concatenate([[1.0], np.exp(self.log_tail(q) - start), [0.0]])
        middle = np.concatenate([tau[:1], np.sqrt(tau[1:] * tau[:-1]), tau[-1:]])
        weight = -np.diff(ends)
        counts = weight > 1e-12
        return Fiducial(middle[counts], np.zeros(counts.sum()), weight[counts])

    @cached_property
    def correlation(self) -> float:
        """Average correlation between the moves of two arms in the same period.

        The moves include noise. The result is 0 if no two arms were seen in the same period.
        """
        tau2 = float(self.estimate().mean())
        z = self._centred(tau2) / np.sqrt(np.where(self.seen, self.noise, 1.0) + tau2)
        arms = self.seen.sum(axis=0)
        pairs = float((arms * (arms - 1)).sum())
        variance = float((z**2).sum() / arms.sum())
        if not pairs or not variance:
            return 0.0
        covariance = float((z.sum(axis=0) ** 2).sum() - (z**2).sum()) / pairs
        return float(np.clip(covariance / variance, -1.0, 1.0))

    @cached_property
    def inflation(self) -> float:
        """Ratio of the variance of the Q statistic to its variance for independent arms.

        If arms are pooled, the ratio is 1 + others · correlation², where `others` is the average
        number of other arms seen in the same period. Otherwise the ratio is 1.
        """
        arms = self.seen.sum(axis=0)
        others = float((arms * (arms - 1)).sum() / arms.sum())
        return 1.0 + others * self.correlation**2 if self.pooled else 1.0

    def _centred(self, tau2: float | Floats) -> Floats:
        """Return period means minus the arm's weighted mean; 0 if the arm was not seen."""
        weight = 1.0 / (self.noise + tau2)
        centre = (weight * self.mean).sum(axis=1) / weight.sum(axis=1)
        return np.where(self.seen, self.mean - centre[:, None], 0.0)

    def _squares(self, tau2: float | Floats) -> Floats:
        floor = np.where(self.seen, FLOOR * self.noise, 0.0)
        return np.maximum(self._centred(tau2) ** 2, floor)

    def _pool(self, per_arm: Floats) -> Floats:
        return per_arm.sum(keepdims=True) if self.pooled else per_arm

    def _root(self, falling: Callable[[Floats], Floats], target: Floats) -> Floats:
        """Return the τ² ≥ 0 at which the decreasing function `falling` equals `target`, or 0.

        Bisects for all arms at once, because there may be thousands of arms.
        """
        low, high = np.zeros_like(target), self.scale
        starts_above = falling(low) > target
        while (above := falling(high) > target).any():
            high = np.where(above, 4 * high, high)
        for _ in range(60):
            middle = (low + high) / 2
            above = falling(middle) > target
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        return np.where(starts_above, (low + high) / 2, 0.0)
