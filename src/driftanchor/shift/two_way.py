"""Moves that all arms share and moves of their own: a random-effects model with two ways.

The mean of arm k in period e is, with v_ke the variance of its noise::

    y_ke = μ_k + c_e + d_ke + noise,   c_e ~ N(0, τ_c²),   d_ke ~ N(0, τ_d²),   noise ~ N(0, v_ke)

c_e is common to all arms of a period, d_ke is the arm's own. Least squares with the weights
w_ke = 1/(v_ke + τ_d²) and with effects of arms *and* periods leaves the sum of squares::

    Q_d(τ_d²) = min over μ, c of  Σ w_ke (y_ke − μ_k − c_e)²

Common moves are part of the period effects, so Q_d does not depend on them: at the true τ_d it is
chi-square with (cells − arms − periods + components) degrees of freedom, exactly, in tables with
gaps too. It falls as τ_d grows, and is read as the Q of one way in `one_way.py`.

For the common moves τ_d is held fixed. The least-squares period effects ĉ, in the basis of
orthonormal contrasts in which their covariance is diagonal, have the noise 1/λ_i, and the true
contrasts are independent with the variance τ_c²::

    Q_c(τ_c²; τ_d²) = Σ_i ĉ_i² / (τ_c² + 1/λ_i)

is chi-square with (periods − components) degrees of freedom and independent of Q_d. This is the
exact method of Wald (1947) for one variance component. The same number is what the sum of squares
rises by when period effects cost c_e²/τ_c² each, as they do under their normal law::

    Q_c = min over μ, c of [ Σ w_ke (y_ke − μ_k − c_e)² + Σ c_e²/τ_c² ]  −  Q_d

Whichever side of the table is longer is eliminated first, so that the linear systems have the size
of the shorter one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from driftanchor.core.check import Bools, Floats
from driftanchor.shift.one_way import LEAST


@dataclass(frozen=True, eq=False)
class Fit:
    """Least squares at one τ_d².

    Attributes:
        own_q: Q_d.
        common: The effect of each period; those of a component are known up to a constant.
        common_q: Q_c as a function of an array of τ_c².
        common_scale: The order of size of τ_c² and the noise of the effects together.
    """

    own_q: float
    common: Floats
    common_q: Callable[[Floats], Floats]
    common_scale: float


@dataclass(frozen=True, eq=False)
class TwoWay:
    """Means of arms in periods.

    Attributes:
        mean: By (arm, period); anything where the arm was not seen.
        noise: v, the variance of that mean; infinite where the arm was not seen. Every arm must
            have been seen in two periods, every period must have an arm.
    """

    mean: Floats
    noise: Floats

    @cached_property
    def seen(self) -> Bools:
        """Which arms were seen in which periods."""
        return np.isfinite(self.noise)

    @cached_property
    def components(self) -> int:
        """Parts of the table that share neither an arm nor a period."""
        arms = len(self.seen)
        label = np.arange(arms)
        while True:
            by_period = np.where(self.seen, label[:, None], arms).min(axis=0)
            new = np.where(self.seen, by_period, arms).min(axis=1)
            if (new == label).all():
                return len(np.unique(label))
            label = new

    @cached_property
    def freedom(self) -> int:
        """Degrees of freedom of Q_d; 0 if own moves cannot be separated from common ones."""
        arms, periods = self.seen.shape
        return int(self.seen.sum() - arms - periods + self.components)

    @cached_property
    def common_freedom(self) -> int:
        """Degrees of freedom of Q_c."""
        return int(self.seen.shape[1] - self.components)

    @cached_property
    def scale(self) -> float:
        """The order of size of τ_d² and noise together."""
        noise = float(np.where(self.seen, self.noise, 0.0).sum())
        level = max(noise / float(self.seen.sum()), 1e-300)
        weight = np.where(self.seen, 1.0 / level, 0.0)
        left = np.where(self.seen, self._least(weight)[0], 0.0)
        return (noise + float((left**2).sum())) / self.freedom

    def fit(self, own2: float) -> Fit:
        """Least squares at a τ_d²."""
        weight = 1.0 / (self.noise + own2)
        left, common, parts = self._least(weight)
        own_q = float((weight * np.maximum(left**2, self._floor)).sum())
        if parts is None:
            return self._by_arms(weight, own_q, common)
        effect2, value = parts
        effect2 = np.maximum(effect2, LEAST / value)

        def common_q(common2: Floats) -> Floats:
            rows: Floats = (effect2 / (common2[:, None] + 1.0 / value)).sum(axis=1)
            return rows

        scale = float((effect2 + 1.0 / value).sum()) / self.common_freedom
        return Fit(own_q, common, common_q, scale)

    def own_q(self, own2: float) -> float:
        """Q_d alone; asked for the same τ_d² again it is not computed again."""
        if own2 not in self._known:
            self._known[own2] = self.fit(own2).own_q
        return self._known[own2]

    @cached_property
    def _known(self) -> dict[float, float]:
        return {}

    @cached_property
    def _apart(self) -> Floats:
        """Means minus the plain mean of their arm: nothing depends on it, and rounding is less."""
        centre = np.where(self.seen, self.mean, 0.0).sum(axis=1) / self.seen.sum(axis=1)
        return np.where(self.seen, self.mean - centre[:, None], 0.0)

    @cached_property
    def _floor(self) -> Floats:
        return np.where(self.seen, LEAST * self.noise, 0.0)

    @property
    def _few_periods(self) -> bool:
        """Whether a system of their size, solved once, costs less than many of the arms' size."""
        arms, periods = self.seen.shape
        return bool(periods <= max(2 * arms, 50))

    def _least(self, weight: Floats) -> tuple[Floats, Floats, tuple[Floats, Floats] | None]:
        """What is left of the means, the period effects, and these squared with their 1/noise.

        The last is None if there are fewer arms than periods: it needs a system of their size.
        """
        short = self._few_periods
        w, t = (weight, self._apart) if short else (weight.T, self._apart.T)  # rows go first
        both = w * t
        total, sums = w.sum(axis=1), both.sum(axis=1)
        inner = -(w.T @ (w / total[:, None]))
        inner.flat[:: len(inner) + 1] += w.sum(axis=0)  # its diagonal
        right = both.sum(axis=0) - (sums / total) @ w
        value, basis = np.linalg.eigh(inner)
        value, basis = value[self.components :], basis[:, self.components :]
        part = (basis.T @ right) / value
        columns = basis @ part
        rows = (sums - w @ columns) / total
        left = t - columns
        left -= rows[:, None]
        if short:
            return left, columns, (part**2, value)
        return left.T, rows, None

    def _by_arms(self, weight: Floats, own_q: float, common: Floats) -> Fit:
        """Q_c with the periods eliminated."""
        y = self._apart
        arm_weight, period_weight = weight.sum(axis=1), weight.sum(axis=0)
        by_arm, by_period = (weight * y).sum(axis=1), (weight * y).sum(axis=0)

        def total(common2: float) -> float:
            shrunk = common2 / (common2 * period_weight + 1.0)
            inner = np.diag(arm_weight) - (weight * shrunk) @ weight.T
            inner[np.diag_indices_from(inner)] *= 1 + LEAST  # singular as τ_c grows
            arm = np.linalg.solve(inner, by_arm - weight @ (shrunk * by_period))
            left = y - arm[:, None]
            rest = (weight * left).sum(axis=0)
            return float((weight * left**2).sum() - (shrunk * rest**2).sum())

        def common_q(common2: Floats) -> Floats:
            least = LEAST * self.common_freedom
            return np.array([max(total(float(x)) - own_q, least) for x in common2])

        centred = common - common.mean()
        scale = float((centred**2 + 1.0 / period_weight).sum()) / self.common_freedom
        return Fit(own_q, common, common_q, scale)
