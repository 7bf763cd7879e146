"""PeriodTable: the rewards of each arm in each past period, and the moves to expect next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from driftanchor.core.arms import Arms
from driftanchor.core.check import LARGEST, Bools, Floats
from driftanchor.core.offline import OfflineData
from driftanchor.core.stats.summary import is_binary
from driftanchor.errors import InvalidInput, shown
from driftanchor.shift.next_period import NextPeriod
from driftanchor.shift.one_way import OneWay
from driftanchor.shift.two_way import Spread, TwoWay

SMALLEST = 1e-90  # if no mean or standard deviation reaches this, their squares may underflow
TINY = 1e-24  # min variance of rewards, as a fraction of the squared range of all means


@dataclass(frozen=True, eq=False)
class PeriodTable:
    """Summary of the rewards of each arm in each period.

    The arrays have shape (arms, periods).

    Attributes:
        arms: All arms that appear in any period.
        periods: Labels of the periods, in order.
        n: Number of rewards; 0 if the arm was not seen in the period.
        mean: Mean reward; 0 if the arm was not seen in the period.
        squares: Sum of squared deviations of the rewards from `mean`; NaN if unknown.
    """

    arms: Arms
    periods: tuple[str, ...]
    n: Floats
    mean: Floats
    squares: Floats

    @classmethod
    def of(cls, periods: object) -> PeriodTable:
        """Build the table from a mapping of period labels to the `OfflineData` of each period."""
        if not isinstance(periods, Mapping) or not periods:
            raise InvalidInput(
                f"must map labels to OfflineData, in order, got {shown(periods)}",
                argument="periods",
            )
        for label, offline in periods.items():
            if not isinstance(label, str) or not isinstance(offline, OfflineData):
                raise InvalidInput(
                    f"must map labels to OfflineData, got {shown(label)}: {shown(offline)}",
                    argument="periods",
                )
        arms = Arms(dict.fromkeys(arm for offline in periods.values() for arm in offline.arms))
        n, mean, squares = np.zeros((3, len(arms), len(periods)))
        for e, offline in enumerate(periods.values()):
            rows = [arms.column(arm) for arm in offline.arms]
            n[rows, e] = offline.n
            mean[rows, e] = np.where(offline.n > 0, offline.mean, 0.0)
            with np.errstate(over="ignore"):  # `_check_size` rejects overflow
                spread = offline.variance * (offline.n - 1.0)
            squares[rows, e] = np.where(offline.n > 1, spread, 0.0)
        table = cls(arms, tuple(periods), n, mean, squares)
        table._check_size()
        return table

    def _check_size(self) -> None:
        """Reject tables without rewards, and rewards whose squares overflow or underflow."""
        n, mean, squares = self.n, self.mean, self.squares
        if not n.any():
            raise InvalidInput(
                "have no rewards at all: nothing can be learned from them", argument="periods"
            )
        for k, e in np.argwhere((np.abs(mean) > LARGEST) | (squares > LARGEST**2 * n)).tolist():
            raise InvalidInput(
                f"rewards of arm {self.arms[k]!r} in period {self.periods[e]!r} are too large: "
                f"their mean is {mean[k, e]:g}, and mean and standard deviation must be at most "
                f"{LARGEST:g}; use a larger unit of rewards"
            )
        deviation = np.sqrt(np.nan_to_num(squares) / np.fmax(n, 1.0))
        size = float(np.fmax(np.abs(mean), deviation).max())
        if 0 < size < SMALLEST:
            raise InvalidInput(
                f"rewards are too small: no mean or standard deviation is above {size:g}, and one "
                f"must be at least {SMALLEST:g}; use a smaller unit of rewards"
            )

    @cached_property
    def seen(self) -> Bools:
        """Boolean array indexed by (arm, period): True if the arm was seen in that period."""
        return np.asarray(self.n > 0)

    @cached_property
    def logged(self) -> Bools:
        """Boolean array with one entry per arm: True if the arm has any rewards."""
        return np.asarray(self.seen.any(axis=1))

    @cached_property
    def repeated(self) -> Bools:
        """Boolean array with one entry per arm: True if the arm was seen in several periods."""
        return np.asarray(self.seen.sum(axis=1) > 1)

    @cached_property
    def share(self) -> Floats:
        """Share of an arm's rewards that comes from a period, of shape (arms, periods)."""
        return np.asarray(self.n / np.maximum(self.n.sum(axis=1, keepdims=True), 1.0))

    @cached_property
    def centre(self) -> Floats:
        """Mean reward of each arm over all periods; 0 for arms without rewards."""
        return np.asarray((self.share * self.mean).sum(axis=1))

    @cached_property
    def factors(self) -> Floats:
        """Standard deviation of each logged arm's move to a new period over τ: √(1 + Σ_e w_e²)."""
        return np.asarray(np.sqrt(1.0 + (self.share[self.logged] ** 2).sum(axis=1)))

    @cached_property
    def variance(self) -> Floats:
        """Variance of each arm's rewards within periods: its own, else the pooled one, else NaN."""
        known = (self.n > 1) & ~np.isnan(self.squares)
        squares = np.where(known, self.squares, 0.0).sum(axis=1)
        df = np.where(known, self.n - 1.0, 0.0).sum(axis=1)
        pooled = squares.sum() / df.sum() if df.any() else np.nan
        own = np.divide(squares, df, out=np.zeros_like(squares), where=df > 0)
        return np.where(own > 0, own, pooled)

    @cached_property
    def noise(self) -> Floats:
        """Noise variance of an arm's mean in a period; infinite if the arm was not seen there."""
        spread = float(np.ptp(self.mean[self.seen]))
        variance = np.fmax(self.variance, TINY * spread**2)[:, None]  # fmax ignores NaN
        return np.where(self.seen, variance / np.maximum(self.n, 1.0), np.inf)

    @cached_property
    def error(self) -> Floats:
        """Standard error of each arm's mean reward over all periods; NaN if unknown."""
        return np.asarray(np.sqrt(self.variance / np.where(self.logged, self.n.sum(1), np.nan)))

    @property
    def is_binary(self) -> bool:
        """Whether all rewards seem to be 0 or 1."""
        n, mean, squares = self.n[self.seen], self.mean[self.seen], self.squares[self.seen]
        return bool(is_binary(n, mean, squares / np.maximum(n - 1.0, 1.0)).all())

    def moves(self) -> Floats:
        """Return each arm's mean reward in a period minus its mean over its other periods.

        NaN unless the arm was seen both in that period and in another one.
        """
        others = self.n.sum(axis=1, keepdims=True) - self.n
        rest = (self.n * self.mean).sum(axis=1, keepdims=True) - self.n * self.mean
        fine = self.seen & (others > 0)
        return np.where(fine, self.mean - rest / np.where(fine, others, 1.0), np.nan)

    def one_way(self, *, pooled: bool) -> OneWay:
        """Return the one-way model of the arms seen in several periods, with one τ if `pooled`."""
        return self._one_ways[pooled]

    @cached_property
    def _one_ways(self) -> tuple[OneWay, OneWay]:
        mean, noise = self.mean[self.repeated], self.noise[self.repeated]
        return OneWay(mean, noise, pooled=False), OneWay(mean, noise, pooled=True)

    @cached_property
    def spread(self) -> Spread | None:
        """Estimated sizes of common and own moves; None if the logs cannot separate the two."""
        if not self.repeated.any():
            return None
        cells = np.ix_(self.repeated, self._columns)
        two_way = TwoWay(self.mean[cells], self.noise[cells])
        return Spread(two_way) if two_way.df else None

    @cached_property
    def _columns(self) -> Bools:
        """Whether some arm was seen in the period and in at least one other."""
        return np.asarray(self.seen[self.repeated].any(axis=0))

    @cached_property
    def level(self) -> NextPeriod:
        """Distribution of the moves that the bias bound V must cover."""
        if self.spread is None:
            return NextPeriod.one_way(self.one_way(pooled=True).law, self.factors)
        return NextPeriod.level(self.spread.law, self.share[self.logged])

    @cached_property
    def relative(self) -> NextPeriod | None:
        """Distribution of the moves that the relative bound W must cover; None if unknown."""
        if self.spread is None:
            return None
        return NextPeriod.relative(self.spread.law, self.share[self.logged])

    @cached_property
    def relative_if_aligned(self) -> NextPeriod | None:
        """`relative` as it would be if all arms were logged in the same periods, if known."""
        if self.spread is None:
            return None
        own = self.factors**2
        return NextPeriod(self.spread.law, own, np.zeros_like(own), 0.0)

    @cached_property
    def common_moves(self) -> Floats:
        """Common move of each period minus their weighted average; NaN if unknown.

        The weight of a period is its share of an arm's rewards, averaged over the logged arms.
        """
        moves = np.full(len(self.periods), np.nan)
        if self.spread is not None:
            moves[self._columns] = self.spread.fit.common
            weight = self.share[self.logged].mean(axis=0)[self._columns]
            moves -= weight @ moves[self._columns] / weight.sum()
        return moves

    def own_moves(self) -> Floats:
        """Return each arm's own moves: the result of `moves` minus the part due to common moves."""
        n = np.where(np.isnan(self.common_moves), 0.0, self.n)
        common = np.nan_to_num(self.common_moves)
        others = n.sum(axis=1, keepdims=True) - n
        rest = (n * common).sum(axis=1, keepdims=True) - n * common
        moves: Floats = self.moves() - common + rest / np.where(others > 0, others, 1.0)
        return moves
