"""PeriodTable: the rewards of arms in past periods, and the moves to expect in the next one."""

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

SMALLEST = 1e-90  # of the largest mean or standard deviation: their squares must not vanish
TINY = 1e-24  # of the squared spread of all means: the noise of rewards without variance


@dataclass(frozen=True, eq=False)
class PeriodTable:
    """Rewards of arms in periods.

    Attributes:
        arms: All arms of all periods.
        periods: Their labels, in order.
        n: By (arm, period); 0 if the arm was not seen.
        mean: By (arm, period); 0 if the arm was not seen.
        squares: Sum of squared deviations from the mean; NaN if unknown.
    """

    arms: Arms
    periods: tuple[str, ...]
    n: Floats
    mean: Floats
    squares: Floats

    @classmethod
    def of(cls, periods: object) -> PeriodTable:
        """Return the table of a mapping from labels to offline data."""
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
            with np.errstate(over="ignore"):  # refused below
                spread = offline.variance * (offline.n - 1.0)
            squares[rows, e] = np.where(offline.n > 1, spread, 0.0)
        table = cls(arms, tuple(periods), n, mean, squares)
        table._check_size()
        return table

    def _check_size(self) -> None:
        """Refuse rewards whose squares overflow or vanish."""
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
        """Whether an arm was seen in a period, by (arm, period)."""
        return np.asarray(self.n > 0)

    @cached_property
    def logged(self) -> Bools:
        """Arms with rewards."""
        return np.asarray(self.seen.any(axis=1))

    @cached_property
    def repeated(self) -> Bools:
        """Arms that were seen in more than one period."""
        return np.asarray(self.seen.sum(axis=1) > 1)

    @cached_property
    def share(self) -> Floats:
        """Each period's share of an arm's rewards; 0 for arms without rewards."""
        return np.asarray(self.n / np.maximum(self.n.sum(axis=1, keepdims=True), 1.0))

    @cached_property
    def centre(self) -> Floats:
        """The mean of all rewards of each arm."""
        return np.asarray((self.share * self.mean).sum(axis=1))

    @cached_property
    def factors(self) -> Floats:
        """√(1 + Σ w²) of each logged arm: a new period against the past ones together."""
        return np.asarray(np.sqrt(1.0 + (self.share[self.logged] ** 2).sum(axis=1)))

    @cached_property
    def variance(self) -> Floats:
        """Variance of each arm's rewards within periods; that of all arms if its own is 0.

        NaN if no variance is known at all.
        """
        known = (self.n > 1) & ~np.isnan(self.squares)
        squares = np.where(known, self.squares, 0.0).sum(axis=1)
        df = np.where(known, self.n - 1.0, 0.0).sum(axis=1)
        pooled = squares.sum() / df.sum() if df.any() else np.nan
        own = np.divide(squares, df, out=np.zeros_like(squares), where=df > 0)
        return np.where(own > 0, own, pooled)

    @cached_property
    def noise(self) -> Floats:
        """Variance of the mean of each arm in each period; infinite if it was not seen."""
        spread = float(np.ptp(self.mean[self.seen]))
        variance = np.fmax(self.variance, TINY * spread**2)[:, None]  # fmax ignores NaN
        return np.where(self.seen, variance / np.maximum(self.n, 1.0), np.inf)

    @cached_property
    def error(self) -> Floats:
        """Standard error of the mean of all rewards of each arm; NaN if unknown."""
        return np.asarray(np.sqrt(self.variance / np.where(self.logged, self.n.sum(1), np.nan)))

    @property
    def is_binary(self) -> bool:
        """Whether all rewards seem to be 0 or 1."""
        n, mean, squares = self.n[self.seen], self.mean[self.seen], self.squares[self.seen]
        return bool(is_binary(n, mean, squares / np.maximum(n - 1.0, 1.0)).all())

    def moves(self) -> Floats:
        """Return each arm's mean in a period minus its mean in all others; NaN if it has none."""
        others = self.n.sum(axis=1, keepdims=True) - self.n
        rest = (self.n * self.mean).sum(axis=1, keepdims=True) - self.n * self.mean
        fine = self.seen & (others > 0)
        return np.where(fine, self.mean - rest / np.where(fine, others, 1.0), np.nan)

    def one_way(self, *, pooled: bool) -> OneWay:
        """Return the one-way model of the repeated arms."""
        return self._one_ways[pooled]

    @cached_property
    def _one_ways(self) -> tuple[OneWay, OneWay]:
        mean, noise = self.mean[self.repeated], self.noise[self.repeated]
        return OneWay(mean, noise, pooled=False), OneWay(mean, noise, pooled=True)

    @cached_property
    def spread(self) -> Spread | None:
        """Sizes of common and own moves; None if they cannot be separated."""
        if not self.repeated.any():
            return None
        cells = np.ix_(self.repeated, self._columns)
        two_way = TwoWay(self.mean[cells], self.noise[cells])
        return Spread(two_way) if two_way.df else None

    @cached_property
    def _columns(self) -> Bools:
        """Periods in which a repeated arm was seen."""
        return np.asarray(self.seen[self.repeated].any(axis=0))

    @cached_property
    def level(self) -> NextPeriod:
        """The moves that V must cover."""
        if self.spread is None:
            return NextPeriod.one_way(self.one_way(pooled=True).law, self.factors)
        return NextPeriod.level(self.spread.law, self.share[self.logged])

    @cached_property
    def relative(self) -> NextPeriod | None:
        """The moves that W must cover; None if unknown."""
        if self.spread is None:
            return None
        return NextPeriod.relative(self.spread.law, self.share[self.logged])

    @cached_property
    def relative_if_aligned(self) -> NextPeriod | None:
        """The moves that W would have to cover if all arms had been logged in the same periods."""
        if self.spread is None:
            return None
        own = self.factors**2
        return NextPeriod(self.spread.law, own, np.zeros_like(own), 0.0)

    @cached_property
    def common_moves(self) -> Floats:
        """Common move of each period against the average log; NaN if unknown."""
        moves = np.full(len(self.periods), np.nan)
        if self.spread is not None:
            moves[self._columns] = self.spread.fit.common
            weight = self.share[self.logged].mean(axis=0)[self._columns]
            moves -= weight @ moves[self._columns] / weight.sum()
        return moves

    def own_moves(self) -> Floats:
        """Return `moves` without the common moves."""
        n = np.where(np.isnan(self.common_moves), 0.0, self.n)
        common = np.nan_to_num(self.common_moves)
        others = n.sum(axis=1, keepdims=True) - n
        rest = (n * common).sum(axis=1, keepdims=True) - n * common
        moves: Floats = self.moves() - common + rest / np.where(others > 0, others, 1.0)
        return moves
