"""The one-way model against numbers worked out by hand, and the bound for the next period."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import chdtr

from driftanchor.core.check import Floats
from driftanchor.shift.one_way import OneWay

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


def test_the_law_of_tau_is_a_law_around_the_estimate() -> None:
    mean = np.random.default_rng(3).normal(0, 0.5, (4, 9))
    periods = OneWay(mean, np.full((4, 9), 0.01))
    law = periods.law
    assert law.weight.sum() == pytest.approx(1.0)
    assert (np.diff(law.own) > 0).all()
    low, high = (math.sqrt(float(x[0])) for x in periods.interval(0.05))
    assert law.weight[(law.own >= low) & (law.own <= high)].sum() == pytest.approx(0.95, abs=0.03)
