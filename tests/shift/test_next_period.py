"""The bounds for the next period, where moves are of one kind and where some are common."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import stdtrit

from driftanchor.core.check import Floats
from driftanchor.shift.next_period import Fiducial, NextPeriod, falling_root
from driftanchor.shift.one_way import OneWay
from driftanchor.shift.two_way import Spread, TwoWay


@pytest.mark.parametrize("periods", [2, 3, 5, 12])
def test_without_noise_the_bound_is_students(periods: int) -> None:
    rng = np.random.default_rng(periods)
    mean = rng.normal(0, 2, (1, periods))
    law = OneWay(mean, np.full((1, periods), 1e-20)).law
    factor = math.ceil(math.sqrt(1 + 1 / periods) * 500) / 500
    bound = NextPeriod.one_way(law, np.array([math.sqrt(1 + 1 / periods)])).bound(0.95)
    exact = stdtrit(periods - 1, 0.975) * mean.std(ddof=1) * factor
    assert bound == pytest.approx(exact, rel=2e-3)


def test_the_bound_and_its_chance_are_inverse_and_grow_with_the_arms() -> None:
    law = Fiducial.known(2.0, 0.0)
    one, ten = (NextPeriod.one_way(law, np.ones(arms)) for arms in (1, 10))
    assert one.bound(0.95) == pytest.approx(2 * 1.959964, rel=1e-6)
    assert ten.bound(0.95) == pytest.approx(2 * 2.799, rel=1e-3)  # Šidák
    assert ten.chance(ten.bound(0.8)) == pytest.approx(0.8)


def test_periods_that_are_exactly_alike_leave_what_noise_may_hide() -> None:
    law = OneWay(np.zeros((2, 5)), np.full((2, 5), 0.04)).law
    bound = NextPeriod.one_way(law, np.ones(2)).bound(0.95)
    assert 0 < bound < 2 * 0.2


def test_arms_with_other_factors_are_rounded_up() -> None:
    law = Fiducial.known(1.0, 0.0)
    exact, rounded = (NextPeriod.one_way(law, np.full(3, x)) for x in (1.002, 1.0011))
    assert rounded.bound(0.9) == exact.bound(0.9)


@pytest.mark.parametrize("periods", [2, 3, 5, 12])
def test_where_all_moves_are_common_v_is_students(periods: int) -> None:
    rng = np.random.default_rng(periods)
    mean = rng.normal(3, 2, (5, 1)) + rng.normal(0, 2.0, periods)
    mean += rng.normal(0, 1e-7, mean.shape)
    given = TwoWay(mean, np.full(mean.shape, 1e-20))
    law = Spread(given).law
    bound = NextPeriod.level(law, np.full((5, periods), 1 / periods)).bound(0.95)
    s = given.mean.mean(axis=0).std(ddof=1)
    exact = stdtrit(periods - 1, 0.975) * s * math.sqrt(1 + 1 / periods)
    assert bound == pytest.approx(exact, rel=0.01)


def drawn(law: Fiducial, share: Floats, runs: int) -> tuple[Floats, Floats]:
    """The largest move and the largest own move of new periods, by drawing all of them."""
    rng = np.random.default_rng(6)
    arms, periods = share.shape
    common = law.common[0] * rng.normal(size=(runs, periods + 1))
    own = law.own[0] * rng.normal(size=(runs, arms, periods + 1))
    alone = own[:, :, -1] - np.einsum("ke,rke->rk", share, own[:, :, :-1])
    past = common[:, :-1] @ share.T
    level = alone + common[:, -1:] - past
    relative = alone - past + (common[:, :-1] @ share.mean(axis=0))[:, None]
    return np.abs(level).max(axis=1), np.abs(relative).max(axis=1)


@pytest.mark.parametrize(("own", "common"), [(1.0, 0.01), (1.0, 1.0), (0.05, 1.0), (0.3, 1.0)])
def test_the_chance_is_that_of_draws(own: float, common: float) -> None:
    """40,000 draws: a share has a standard error of 0.0025 at most, and 4 of them are allowed.

    Shares that differ bring an error of 0.02 or less at 0.95; lower down the chance is too low.
    """
    law = Fiducial.known(own, common)
    share = np.array([[0.25, 0.25, 0.25, 0.25], [0.3, 0.2, 0.25, 0.25], [0.2, 0.3, 0.25, 0.25]])
    level, relative = drawn(law, share, 40_000)
    for moves, largest in (
        (NextPeriod.level(law, share), level),
        (NextPeriod.relative(law, share), relative),
    ):
        for bound in np.quantile(largest, [0.3, 0.8, 0.95]):
            share_within = float((largest <= bound).mean())
            assert moves.chance(float(bound)) < share_within + 0.02
        assert moves.chance(float(bound)) > share_within - 0.03


def test_bound_and_chance_are_inverse() -> None:
    law = Fiducial.known(0.5, 2.0)
    share = np.full((4, 8), 1 / 8)
    for moves in (NextPeriod.level(law, share), NextPeriod.relative(law, share)):
        for coverage in (0.5, 0.95, 0.999):
            assert moves.chance(moves.bound(coverage)) == pytest.approx(coverage, abs=1e-7)
    one = NextPeriod(law, np.ones(1), np.zeros(1), 0.0)
    assert one.bound(0.95) == pytest.approx(0.5 * 1.959964, rel=1e-5)
    ten = NextPeriod(law, np.ones(10), np.zeros(10), 0.0)
    assert ten.bound(0.95) == pytest.approx(0.5 * 2.799, rel=1e-3)  # Šidák


def test_arms_of_many_kinds_are_rounded_up() -> None:
    rng = np.random.default_rng(2)
    share = rng.dirichlet(np.ones(6), 300)
    law = Fiducial.known(1.0, 0.2)
    moves = NextPeriod.relative(law, share)
    variance = moves.own + 0.04 * moves.rest
    bound = moves.bound(0.95)
    exact = math.prod(math.erf(bound / math.sqrt(2 * x)) for x in variance)
    assert 0.95 <= exact < 0.97


# Roots of falling functions.


@pytest.mark.parametrize("start", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("root", [1e-9, 1e-3, 1.0, 12_345.678])
def test_roots_of_any_size(start: float, root: float) -> None:
    assert falling_root(lambda x: 1 / (1 + x / root), 0.5, start) == pytest.approx(root, rel=1e-11)
    assert falling_root(lambda x: -math.atan(x / root), -math.pi / 4, start) == pytest.approx(
        root, rel=1e-11
    )


def test_a_function_that_starts_below_has_its_root_at_zero() -> None:
    assert falling_root(lambda x: 1 / (1 + x), 2.0, 1.0) == 0.0
    assert falling_root(lambda x: 1 / (1 + x), 1.0, 1.0) == 0.0


@pytest.mark.parametrize("function", [lambda _: 1.0, lambda x: math.nan * x])
def test_a_function_without_a_root_is_an_error(function: Callable[[float], float]) -> None:
    with pytest.raises((FloatingPointError, ValueError)):
        falling_root(function, 0.5, 1.0)
