"""The periods of the past as arrays: how often each arm was seen in each, its mean, its noise."""

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
from driftanchor.shift.one_way import OneWay
from driftanchor.shift.two_way import TwoWay

SMALLEST = 1e-90  # of the largest of them: their squares must not vanish
TINY = 1e-24  # of the squared spread of all means: noise where there seems to be none at all


@dataclass(frozen=True, eq=False)
class PeriodTable:
    """Rewards of arms in periods.

    Attributes:
        arms: All arms of all periods.
        periods: Their labels, in order.
        n: By (arm, period); 0 where an arm was not seen.
        mean: 0 there.
        squares: Sum of squared deviations from the mean; NaN where it is not known.
    """

    arms: Arms
    periods: tuple[str, ...]
    n: Floats
    mean: Floats
    squares: Floats

    @classmethod
    def of(cls, periods: object) -> PeriodTable:
        """From a mapping of labels to offline data."""
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
        shape = len(arms), len(periods)
        n, mean, squares = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        for e, offline in enumerate(periods.values()):
            rows = [arms.column(arm) for arm in offline.arms]
            n[rows, e] = offline.n
            mean[rows, e] = np.where(offline.n > 0, offline.mean, 0.0)
            with np.errstate(over="ignore"):  # refused below
                spread = offline.variance * (offline.n - 1.0)
            squares[rows, e] = np.where(offline.n > 1, spread, 0.0)
        if not n.any():
            raise InvalidInput(
                "have no rewards at all: nothing can be learned from them", argument="periods"
            )
        for k, e in np.argwhere((np.abs(mean) > LARGEST) | (squares > LARGEST**2 * n)).tolist():
            raise InvalidInput(
                f"rewards of arm {arms[k]!r} in period {list(periods)[e]!r} are too large: their "
                f"mean is {mean[k, e]:g}, and mean and standard deviation must be at most "
                f"{LARGEST:g}; use a larger unit of rewards"
            )
        spread = np.sqrt(np.nan_to_num(squares) / np.fmax(n, 1.0))  # unknown: as if none
        size = float(np.fmax(np.abs(mean), spread).max())
        if 0 < size < SMALLEST:
            raise InvalidInput(
                f"rewards are too small: no mean or standard deviation is above {size:g}, and one "
                f"must be at least {SMALLEST:g}; use a smaller unit of rewards"
            )
        return cls(arms, tuple(periods), n, mean, squares)

    @cached_property
    def seen(self) -> Bools:
        """Which arms were seen in which periods."""
        return np.asarray(self.n > 0)

    @cached_property
    def repeated(self) -> Bools:
        """The arms that were seen in more than one period."""
        return np.asarray(self.seen.sum(axis=1) > 1)

    @cached_property
    def share(self) -> Floats:
        """The part of an arm's rewards that each period has; 0 for arms without rewards."""
        return np.asarray(self.n / np.maximum(self.n.sum(axis=1, keepdims=True), 1.0))

    @cached_property
    def centre(self) -> Floats:
        """The mean of all rewards of each arm."""
        return np.asarray((self.share * self.mean).sum(axis=1))

    @cached_property
    def factors(self) -> Floats:
        """√(1 + Σ w²) of each arm: a new period against the past ones together."""
        return np.asarray(np.sqrt(1.0 + (self.share**2).sum(axis=1)))

    @cached_property
    def variance(self) -> Floats:
        """Of a reward of each arm, within periods; that of all arms where it has none or 0.

        NaN where no variance is known at all.
        """
        known = (self.n > 1) & ~np.isnan(self.squares)
        squares = np.where(known, self.squares, 0.0).sum(axis=1)
        freedom = np.where(known, self.n - 1.0, 0.0).sum(axis=1)
        pooled = squares.sum() / freedom.sum() if freedom.any() else np.nan
        own = np.divide(squares, freedom, out=np.zeros_like(squares), where=freedom > 0)
        return np.where(own > 0, own, pooled)

    @cached_property
    def noise(self) -> Floats:
        """Variance of the mean of each arm in each period; infinite where it was not seen."""
        spread = float(np.ptp(self.mean[self.seen]))
        variance = np.fmax(self.variance, TINY * spread**2)[:, None]  # unknown: as if none
        return np.where(self.seen, variance / np.maximum(self.n, 1.0), np.inf)

    def one_way(self, *, pooled: bool) -> OneWay:
        """The model of the arms that were seen more than once; it keeps what it has estimated."""
        return self._one_ways[pooled]

    @cached_property
    def _one_ways(self) -> tuple[OneWay, OneWay]:
        """By whether arms are pooled."""
        mean, noise = self.mean[self.repeated], self.noise[self.repeated]
        return OneWay(mean, noise, pooled=False), OneWay(mean, noise, pooled=True)

    @cached_property
    def error(self) -> Floats:
        """Standard error of the mean of all rewards of each arm; NaN where it is not known."""
        return np.asarray(
            np.sqrt(self.variance / np.where(self.seen.any(1), self.n.sum(1), np.nan))
        )

    @property
    def coins(self) -> bool:
        """Whether all rewards seem to be 0 or 1."""
        n, mean, squares = self.n[self.seen], self.mean[self.seen], self.squares[self.seen]
        return bool(is_binary(n, mean, squares / np.maximum(n - 1.0, 1.0)).all())

    @cached_property
    def two_way(self) -> TwoWay | None:
        """The model of common and own moves; None if these cannot be separated."""
        seen = self.seen & self.repeated[:, None]
        if not seen.any():
            return None
        rows, columns = np.ix_(self.repeated, seen.any(axis=0))
        table = TwoWay(self.mean[rows, columns], self.noise[rows, columns])
        return table if table.freedom else None

    def moves(self) -> Floats:
        """Each arm's mean in a period minus its mean in all others; NaN where there are none."""
        others = self.n.sum(axis=1, keepdims=True) - self.n
        rest = (self.n * self.mean).sum(axis=1, keepdims=True) - self.n * self.mean
        fine = self.seen & (others > 0)
        return np.where(fine, self.mean - rest / np.where(fine, others, 1.0), np.nan)
