"""How much arm means move between periods beyond noise: a random-effects model.

The mean of arm k in period e is, with n rewards of standard deviation σ::

    y_ke = μ_k + δ_ke + noise,   δ_ke ~ N(0, τ²),   noise ~ N(0, v_ke),   v_ke = σ_k²/n_ke

τ is the between-period standard deviation. What it can be is read off the generalised Q statistic
of an arm seen in E periods, which at the true τ has the chi-square law with E − 1 degrees of
freedom and falls as τ grows::

    Q_k(τ²) = Σ_e w_e (y_ke − ȳ_k)²,   w_e = 1/(v_ke + τ²),   ȳ_k = Σ w_e y_ke / Σ w_e

Sources: Paule & Mandel 1982 (the estimate); Viechtbauer 2007 (the interval, "Q-profile").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from driftanchor.core.check import Bools, Floats
from driftanchor.core.stats.distributions import log_chi_square_cdf

LEAST = 1e-12  # of the noise: what periods that are exactly alike are taken to differ by


@dataclass(frozen=True, eq=False)
class OneWay:
    """Means of arms in periods, and what they say of τ: for each arm, or for all together.

    Attributes:
        mean: By (arm, period); anything where the arm was not seen.
        noise: v, the variance of that mean; infinite where the arm was not seen.
        pooled: Whether all arms have one τ. All numbers here are arrays: of one value then, and of
            one for each arm otherwise. Every arm must have been seen in two periods.
    """

    mean: Floats
    noise: Floats
    pooled: bool = True

    @cached_property
    def seen(self) -> Bools:
        """Which arms were seen in which periods."""
        return np.isfinite(self.noise)

    @cached_property
    def freedom(self) -> Floats:
        """Degrees of freedom of Q."""
        return self._gathered(self.seen.sum(axis=1) - 1.0)

    @cached_property
    def scale(self) -> Floats:
        """The order of size of τ² and noise together."""
        noise = np.where(self.seen, self.noise, 0.0)
        return self._gathered((noise + self._squares(0.0)).sum(axis=1)) / self.freedom

    def q(self, tau2: Floats) -> Floats:
        """Q at given τ²."""
        each = np.broadcast_to(tau2, self.mean.shape[:1])[:, None]
        return self._gathered((self._squares(each) / (self.noise + each)).sum(axis=1))

    def log_chance(self, tau2: Floats) -> Floats:
        """Log P(χ² ≤ Q(τ²)): how likely so little dispersion is when τ is that large."""
        return self.log_chance_of(self.q(tau2))

    def log_chance_of(self, q: Floats) -> Floats:
        """Log P(χ² ≤ Q).

        Arms that move together say the same thing several times: Q then varies `together` times as
        much as the chi-square law. By Satterthwaite (1946), Q/together is near chi-square with so
        many times fewer degrees of freedom.
        """
        return log_chi_square_cdf(q / self.together, self.freedom / self.together)

    def estimate(self) -> Floats:
        """τ² by Paule & Mandel: where Q equals its expectation; 0 if it is below that anyway."""
        return self._estimate

    @cached_property
    def _estimate(self) -> Floats:
        return self._where(OneWay.q, self.freedom)

    def lower(self, miss: float) -> Floats:
        """What τ² is surely above, but for a probability of at most `miss`; often 0."""
        return self._where(OneWay.log_chance, np.full_like(self.freedom, np.log1p(-miss)))

    def interval(self, miss: float) -> tuple[Floats, Floats]:
        """Where τ² may be, missed with probability `miss` at most.

        Both ends are those of the Q-profile, P(χ² ≤ Q) = 1 − miss/2 and miss/2, but that the
        upper one is found given that τ > 0: it is then never 0, however alike the periods are.
        """
        lowest = self.log_chance(np.zeros(1))
        high = self._where(OneWay.log_chance, lowest + np.log(miss / 2))
        return self.lower(miss / 2), high

    @cached_property
    def correlation(self) -> float:
        """Between the moves of two arms in one period, noise included; 0 for a single arm."""
        tau2 = float(self.estimate().mean())
        z = self._apart(tau2) / np.sqrt(np.where(self.seen, self.noise, 1.0) + tau2)
        arms = self.seen.sum(axis=0)
        pairs = float((arms * (arms - 1)).sum())
        alone = float((z**2).sum() / arms.sum())
        if not pairs or not alone:
            return 0.0
        both = float((z.sum(axis=0) ** 2).sum() - (z**2).sum()) / pairs
        return float(np.clip(both / alone, -1.0, 1.0))

    @cached_property
    def together(self) -> float:
        """The variance of Q over that of independent arms: 1 + (arms − 1) correlation²."""
        arms = self.seen.sum(axis=0)
        others = float((arms * (arms - 1)).sum() / arms.sum())
        return 1.0 + others * self.correlation**2 if self.pooled else 1.0

    def _apart(self, tau2: float | Floats) -> Floats:
        """Means minus the weighted mean of their arm."""
        weight = 1.0 / (self.noise + tau2)
        centre = (weight * self.mean).sum(axis=1) / weight.sum(axis=1)
        return np.where(self.seen, self.mean - centre[:, None], 0.0)

    def _squares(self, tau2: float | Floats) -> Floats:
        floor = np.where(self.seen, LEAST * self.noise, 0.0)
        return np.maximum(self._apart(tau2) ** 2, floor)

    def _gathered(self, per_arm: Floats) -> Floats:
        return per_arm.sum(keepdims=True) if self.pooled else per_arm

    def _where(self, falling: Callable[[OneWay, Floats], Floats], target: Floats) -> Floats:
        """τ² at which a falling function reaches a target; 0 where it starts below."""
        starts = falling(self, np.zeros_like(target)) > target
        found = np.zeros_like(target)
        if self.pooled or starts.all():
            return np.where(starts, self._crossing(falling, target), 0.0)
        if starts.any():
            some = OneWay(self.mean[starts], self.noise[starts], pooled=False)
            found[starts] = some._crossing(falling, target[starts])
        return found

    def _crossing(self, falling: Callable[[OneWay, Floats], Floats], target: Floats) -> Floats:
        low, high = np.zeros_like(target), self.scale
        while (above := falling(self, high) > target).any():
            high = np.where(above, 4 * high, high)
        for _ in range(60):
            middle = (low + high) / 2
            above = falling(self, middle) > target
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        return (low + high) / 2
