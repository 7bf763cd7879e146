"""PeriodModel: what the periods say of common and own moves, and of the next period."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.shift.one_way_moves import OneWayMoves, TauLaw
from driftanchor.shift.period_table import PeriodTable
from driftanchor.shift.suggestion import Tau
from driftanchor.shift.two_way_moves import Spread, TwoWayMoves

MISS = 0.05  # intervals of τ miss it with this probability


class Coming(Protocol):
    """The moves of the next period."""

    def chance(self, bound: float) -> float:
        """Probability that no arm moves further than the bound."""

    def bound(self, coverage: float) -> float:
        """The least bound that no arm moves beyond with probability `coverage`."""


@dataclass(frozen=True, eq=False)
class PeriodModel:
    """What the periods say of common and own moves, and of the next period."""

    history: PeriodTable

    @cached_property
    def spread(self) -> Spread | None:
        """None if common moves cannot be separated from own ones."""
        table = self.history.two_way
        return None if table is None else Spread(table)

    @cached_property
    def share(self) -> Floats:
        """The part of an arm's rewards that each period has, of arms with rewards."""
        return self.history.share[self.history.seen.any(axis=1)]

    @cached_property
    def level(self) -> Coming:
        """What V must cover."""
        if self.spread is None:
            law = TauLaw.from_periods(self.history.one_way(pooled=True))
            return OneWayMoves(law, self.history.factors[self.history.seen.any(axis=1)])
        return TwoWayMoves.level(self.spread.law, self.share)

    @cached_property
    def relative(self) -> Coming | None:
        """What W must cover; None if it is not known."""
        return None if self.spread is None else TwoWayMoves.relative(self.spread.law, self.share)

    @cached_property
    def alike(self) -> Coming | None:
        """What W would have to cover if all arms had been logged in the same periods."""
        if self.spread is None:
            return None
        return TwoWayMoves(
            self.spread.law, 1.0 + (self.share**2).sum(1), np.zeros(len(self.share)), 0.0
        )

    @cached_property
    def common_sd(self) -> Tau | None:
        """τ_c."""
        if self.spread is None:
            return None
        return _tau(self.spread.common2, *self.spread.common_interval(MISS))

    @cached_property
    def own_sd(self) -> Tau | None:
        """τ_d."""
        return (
            None if self.spread is None else _tau(self.spread.own2, *self.spread.own_interval(MISS))
        )

    @cached_property
    def common_moves(self) -> Floats:
        """How far all arms moved in each period, from what their logs have on average."""
        found = np.full(len(self.history.periods), np.nan)
        if self.spread is not None:
            columns = (self.history.seen & self.history.repeated[:, None]).any(axis=0)
            found[columns] = self.spread.fit.common
            weight = self.share.mean(axis=0)[columns]
            found -= weight @ found[columns] / weight.sum()
        return found

    def own_moves(self) -> Floats:
        """`PeriodTable.moves` without the common moves."""
        history = self.history
        n = np.where(np.isnan(self.common_moves), 0.0, history.n)
        common = np.nan_to_num(self.common_moves)
        others = n.sum(axis=1, keepdims=True) - n
        rest = (n * common).sum(axis=1, keepdims=True) - n * common
        moves: Floats = history.moves() - common + rest / np.where(others > 0, others, 1.0)
        return moves


def _tau(*squares: float) -> Tau:
    return Tau(*(math.sqrt(x) for x in squares))
