"""The one-way model against numbers worked out by hand, and the bound for the next period."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import chdtr, stdtrit

from driftanchor.core.check import Floats
from driftanchor.shift.one_way import OneWay, OneWayMoves, TauLaw

NOISE = np.array([0.1, 0.2, 0.3])


def test_q_by_hand() -> None:
    mean = np.array([[1.0, 2.0, 4.0]])
    weight = 1 / (NOISE + 0.5)
    centre = (weight * mean).sum() / weight.sum()
    expected = (weight * (mean - centre) ** 2).sum()
    q = OneWay(mean, NOISE[None]).q(np.array([0.5]))
    assert q == pytest.approx([expected], rel=1e-12)


def test_equal_noise_has_the_textbook_estimate() -> None:
    mean, noise = np.array([[1.0, 2.0, 4.0, 3.0]]), np.full((1, 4), 0.2)
    between = OneWay(mean, noise)
    assert between.estimate() == pytest.approx([mean.var(ddof=1) - 0.2])
    low, high = between.interval(0.05)  # Q = 3 s²/(v + τ²) at the quantiles of χ² with 3 degrees
    squares = 3 * mean.var(ddof=1)
    assert low == pytest.approx([squares / 9.348404 - 0.2], rel=1e-6)
    lowest = chdtr(3, squares / 0.2)
    assert chdtr(3, squares / (0.2 + high[0])) == pytest.approx(0.025 * lowest)
    assert high == pytest.approx([squares / 0.2157953 - 0.2], rel=1e-3)


def test_pooled_and_single_arms_solve_the_same_equation() -> None:
    rng = np.random.default_rng(3)
    mean, noise = rng.normal(0, 1, (4, 6)), rng.uniform(0.01, 0.3, (4, 6))
    noise[0, 2] = noise[3, 5] = np.inf
    pooled, single = OneWay(mean, noise), OneWay(mean, noise, pooled=False)
    assert pooled.df.tolist() == [18.0]
    assert single.df.tolist() == [4.0, 5.0, 5.0, 4.0]
    assert pooled.q(pooled.estimate()) == pytest.approx(pooled.df)
    assert single.q(single.estimate()) == pytest.approx(single.df)
    alone = OneWay(mean[1:2], noise[1:2])
    assert single.estimate()[1] == pytest.approx(alone.estimate()[0])
    assert single.interval(0.05)[1][1] == pytest.approx(alone.interval(0.05)[1][0])


def test_what_is_not_seen_does_not_matter() -> None:
    mean, noise = np.array([[1.0, 2.0, 9.0]]), np.array([[0.1, 0.2, np.inf]])
    assert OneWay(mean, noise).estimate() == OneWay(mean[:, :2], noise[:, :2]).estimate()


def test_periods_that_are_alike_have_no_tau_and_still_an_upper_limit() -> None:
    between = OneWay(np.full((3, 4), 0.5), np.full((3, 4), 0.01))
    assert between.estimate() == [0.0]
    low, high = between.interval(0.05)
    assert low == [0.0]
    assert 0 < math.sqrt(high[0]) < 0.2
    many = OneWay(np.full((2_000, 8), 0.5), np.full((2_000, 8), 0.01))
    assert 0 < many.interval(0.05)[1][0] < high[0]


def moves(correlation: float, arms: int = 40, periods: int = 60) -> Floats:
    rng = np.random.default_rng(5)
    common, own = rng.normal(0, 1, periods), rng.normal(0, 1, (arms, periods))
    return math.sqrt(correlation) * common + math.sqrt(1 - correlation) * own


def test_arms_that_move_together_count_as_fewer() -> None:
    noise = np.full((40, 60), 1e-6)
    apart, some, same = (OneWay(moves(r), noise) for r in (0.0, 0.5, 1.0))
    # 60 periods: the standard error of a correlation is about 0.1 at most.
    assert abs(apart.correlation) < 0.05
    assert some.correlation == pytest.approx(0.5, abs=0.25)
    assert same.correlation == pytest.approx(1.0)
    assert same.inflation == pytest.approx(40.0)
    assert apart.inflation < 1.1
    one = OneWay(moves(1.0, arms=1), noise[:1])
    assert one.inflation == 1.0
    low, high = same.interval(0.05)
    assert np.concatenate(one.interval(0.05)) == pytest.approx(np.concatenate([low, high]))


@pytest.mark.parametrize("periods", [2, 3, 5, 12])
def test_without_noise_the_bound_is_students(periods: int) -> None:
    rng = np.random.default_rng(periods)
    mean = rng.normal(0, 2, (1, periods))
    law = TauLaw.from_periods(OneWay(mean, np.full((1, periods), 1e-20)))
    factor = math.ceil(math.sqrt(1 + 1 / periods) * 500) / 500
    bound = OneWayMoves(law, np.array([math.sqrt(1 + 1 / periods)])).bound(0.95)
    exact = stdtrit(periods - 1, 0.975) * mean.std(ddof=1) * factor
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
