"""The bound that covers the moves of a new period, where all moves are of one kind."""

from __future__ import annotations

import math

import numpy as np
import pytest

from driftanchor.core.stats.distributions import critical_t
from driftanchor.shift.one_way import OneWay
from driftanchor.shift.one_way_moves import OneWayMoves, TauLaw


@pytest.mark.parametrize("periods", [2, 3, 5, 12])
def test_without_noise_the_bound_is_students(periods: int) -> None:
    rng = np.random.default_rng(periods)
    mean = rng.normal(0, 2, (1, periods))
    law = TauLaw.from_periods(OneWay(mean, np.full((1, periods), 1e-20)))
    factor = math.ceil(math.sqrt(1 + 1 / periods) * 500) / 500
    bound = OneWayMoves(law, np.array([math.sqrt(1 + 1 / periods)])).bound(0.95)
    exact = critical_t(0.05, periods - 1) * mean.std(ddof=1) * factor
    assert bound == pytest.approx(exact, rel=2e-3)


def test_the_bound_and_its_chance_are_inverse_and_grow_with_the_arms() -> None:
    law = TauLaw.known(2.0)
    one, ten = (OneWayMoves(law, np.ones(arms)) for arms in (1, 10))
    assert one.bound(0.95) == pytest.approx(2 * 1.959964, rel=1e-6)
    assert ten.bound(0.95) == pytest.approx(2 * 2.799, rel=1e-3)  # Šidák
    assert ten.chance(ten.bound(0.8)) == pytest.approx(0.8)


def test_the_law_of_tau_is_a_law_around_the_estimate() -> None:
    mean = np.random.default_rng(3).normal(0, 0.5, (4, 9))
    periods = OneWay(mean, np.full((4, 9), 0.01))
    law = TauLaw.from_periods(periods)
    assert law.weight.sum() == pytest.approx(1.0)
    assert (np.diff(law.tau) > 0).all()
    low, high = (math.sqrt(float(x[0])) for x in periods.interval(0.05))
    assert law.weight[(law.tau >= low) & (law.tau <= high)].sum() == pytest.approx(0.95, abs=0.03)


def test_periods_that_are_exactly_alike_leave_what_noise_may_hide() -> None:
    law = TauLaw.from_periods(OneWay(np.zeros((2, 5)), np.full((2, 5), 0.04)))
    bound = OneWayMoves(law, np.ones(2)).bound(0.95)
    assert 0 < bound < 2 * 0.2


def test_arms_with_other_factors_are_rounded_up() -> None:
    law = TauLaw.known(1.0)
    exact, rounded = (OneWayMoves(law, np.full(3, x)) for x in (1.002, 1.0011))
    assert rounded.bound(0.9) == exact.bound(0.9)
