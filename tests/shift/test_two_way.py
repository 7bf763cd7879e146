"""The two-way model against dense matrices, and sizes of common and own moves."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from driftanchor.core.check import Floats
from driftanchor.shift.next_period import NextPeriod
from driftanchor.shift.one_way import OneWay
from driftanchor.shift.two_way import Spread, TwoWay


def table(arms: int, periods: int, *, seed: int = 1, gaps: float = 0.0) -> TwoWay:
    rng = np.random.default_rng(seed)
    noise = rng.uniform(0.02, 0.3, (arms, periods))
    common, own = rng.normal(0, 1.0, periods), rng.normal(0, 0.5, (arms, periods))
    mean = (
        rng.normal(10, 5, (arms, 1)) + common + own + np.sqrt(noise) * rng.normal(size=noise.shape)
    )
    gone = rng.random(noise.shape) < gaps
    gone[:2] = False
    gone[:, :2] = False
    noise[gone] = np.inf
    return TwoWay(mean, noise)


def naive(given: TwoWay, own2: float, common2: float) -> tuple[float, float, int, int]:
    """Q_d, Q_c and their degrees of freedom, by projections with dense matrices.

    Q_c + Q_d is the generalised sum of squares of all cells under the whole covariance, with the
    effects of arms alone taken out; Q_d is that with effects of periods taken out too.
    """
    arms, periods = np.nonzero(np.isfinite(given.noise))
    y, v = given.mean[arms, periods], given.noise[arms, periods]
    arm = np.eye(given.mean.shape[0])[arms]
    period = np.eye(given.mean.shape[1])[periods]
    both = np.hstack([arm, period])
    diagonal = np.diag(v + own2)
    whole = diagonal + common2 * period @ period.T
    own, rank_both = squares(y, both, diagonal)
    total, rank_arm = squares(y, arm, whole)
    return own, total - own, len(y) - rank_both, rank_both - rank_arm


def squares(y: Floats, design: Floats, covariance: Floats) -> tuple[float, int]:
    root = np.linalg.inv(np.linalg.cholesky(covariance))
    x, z = root @ design, root @ y
    left = z - x @ np.linalg.lstsq(x, z, rcond=None)[0]
    return float(left @ left), int(np.linalg.matrix_rank(design))


SHAPES = [(3, 5, 0.0), (6, 4, 0.3), (2, 2, 0.0), (12, 7, 0.4), (2, 60, 0.0), (3, 70, 0.3)]


@pytest.mark.parametrize(("arms", "periods", "gaps"), SHAPES)
@pytest.mark.parametrize("own2", [0.0, 0.04, 3.0])
def test_both_sums_of_squares_are_those_of_dense_matrices(
    arms: int, periods: int, gaps: float, own2: float
) -> None:
    given = table(arms, periods, gaps=gaps)
    fit = given.fit(own2)
    for common2 in (0.0, 0.1, 2.0, 50.0):
        own, common, own_df, common_df = naive(given, own2, common2)
        assert fit.own_q == pytest.approx(own, rel=1e-8)
        assert given.own_q(own2) == fit.own_q
        assert fit.common_q(np.array([common2])) == pytest.approx([common], rel=1e-7, abs=1e-9)
        assert (given.df, given.common_df) == (own_df, common_df)


def test_parts_without_a_common_arm_or_period() -> None:
    one, other = table(3, 4), table(4, 3, seed=2)
    mean, noise = np.zeros((7, 7)), np.full((7, 7), np.inf)
    mean[:3, :4], noise[:3, :4] = one.mean, one.noise
    mean[3:, 4:], noise[3:, 4:] = other.mean, other.noise
    given = TwoWay(mean, noise)
    assert given.components == 2
    assert given.df == one.df + other.df == 6 + 6
    assert given.common_df == 3 + 2
    assert given.own_q(0.3) == pytest.approx(one.own_q(0.3) + other.own_q(0.3))
    at = np.array([0.0, 0.7])
    expected = one.fit(0.3).common_q(at) + other.fit(0.3).common_q(at)
    assert given.fit(0.3).common_q(at) == pytest.approx(expected)


def test_a_chain_of_arms_is_one_part_without_own_moves() -> None:
    noise = np.full((4, 5), np.inf)
    for k in range(4):
        noise[k, k : k + 2] = 0.1
    chain = TwoWay(np.zeros((4, 5)), noise)
    assert (chain.components, chain.df, chain.common_df) == (1, 0, 4)


def test_common_moves_take_no_part_in_own_ones() -> None:
    given = table(4, 6, gaps=0.2)
    moved = TwoWay(given.mean + 100 * np.arange(6.0), given.noise)
    assert moved.own_q(0.2) == pytest.approx(given.own_q(0.2), rel=1e-8)
    effects = moved.fit(0.2).common - given.fit(0.2).common
    assert np.diff(effects) == pytest.approx(np.full(5, 100.0))


def test_at_the_true_sizes_both_are_chi_square() -> None:
    """500 tables with gaps: means and variances of Q, each within 4.5 standard errors (4e-5)."""
    rng = np.random.default_rng(9)
    noise = rng.uniform(0.1, 2.0, (4, 5))
    noise[1, 3] = noise[3, 0] = np.inf
    level = np.where(np.isfinite(noise), np.sqrt(noise), 0.0)
    own, common = [], []
    for _ in range(500):
        mean = (
            rng.normal(0, 1.5, 5) + 0.7 * rng.normal(size=(4, 5)) + level * rng.normal(size=(4, 5))
        )
        given = TwoWay(mean, noise)
        fit = given.fit(0.49)
        own.append(fit.own_q)
        common.append(fit.common_q(np.array([2.25]))[0])
    for q, df in (
        (np.array(own), given.df),
        (np.array(common), given.common_df),
    ):
        assert abs(q.mean() - df) < 4.5 * math.sqrt(2 * df / 500)
        error = math.sqrt((8 * df**2 + 48 * df) / 500)  # of a chi-square's variance
        assert abs(q.var() - 2 * df) < 4.5 * error
    assert abs(np.corrcoef(own, common)[0, 1]) < 4.5 / math.sqrt(500)


@pytest.mark.slow
def test_ten_thousand_arms_take_little_time() -> None:
    given = table(10_000, 50, gaps=0.2)
    start = time.process_time()
    assert given.own_q(0.25) == pytest.approx(given.df, rel=0.02)
    assert time.process_time() - start < 5


def made(arms: int, periods: int, common: float, own: float, noise: float, seed: int = 1) -> TwoWay:
    rng = np.random.default_rng(seed)
    shared, alone = rng.normal(0, common, periods), rng.normal(0, own, (arms, periods))
    mean = rng.normal(3, 2, (arms, 1)) + shared + alone
    mean += math.sqrt(noise) * rng.normal(size=mean.shape)
    return TwoWay(mean, np.full(mean.shape, noise))


def test_a_full_table_has_the_estimates_of_analysis_of_variance() -> None:
    given = made(6, 9, 1.0, 0.5, 0.04)
    y = given.mean
    left = y - y.mean(axis=0) - y.mean(axis=1, keepdims=True) + y.mean()
    own = (left**2).sum() / (5 * 8)
    periods = 6 * y.mean(axis=0).var(ddof=1)
    spread = Spread(given)
    assert spread.own2 == pytest.approx(own - 0.04, rel=1e-6)
    assert spread.common2 == pytest.approx((periods - own) / 6, rel=1e-6)


def likelihood(given: TwoWay, common2: float, own2: float) -> float:
    """Restricted log likelihood of a table, with dense matrices."""
    arms, periods = np.nonzero(np.isfinite(given.noise))
    y = given.mean[arms, periods]
    design = np.eye(given.mean.shape[0])[arms]
    period = np.eye(given.mean.shape[1])[periods]
    covariance = np.diag(given.noise[arms, periods] + own2) + common2 * period @ period.T
    inverse = np.linalg.inv(covariance)
    inner = design.T @ inverse @ design
    left = y - design @ np.linalg.solve(inner, design.T @ inverse @ y)
    logs = np.linalg.slogdet(covariance)[1] + np.linalg.slogdet(inner)[1]
    return -0.5 * float(logs + left @ inverse @ left)


def test_estimates_are_near_those_of_the_likelihood() -> None:
    given = made(8, 12, 0.6, 0.3, 0.05, seed=4)
    given.noise[2, 5] = given.noise[6, :4] = np.inf
    grid = np.linspace(0.04, 1.2, 30)
    values = np.array([[likelihood(given, c**2, d**2) for d in grid] for c in grid])
    best = np.unravel_index(values.argmax(), values.shape)
    spread = Spread(given)
    # They differ by a part of a standard error, which is 0.02 for own moves, 0.13 for common.
    assert math.sqrt(spread.own2) == pytest.approx(grid[best[1]], abs=0.04)
    assert math.sqrt(spread.common2) == pytest.approx(grid[best[0]], abs=0.06)


def test_the_interval_of_own_moves_is_the_q_profile() -> None:
    given = made(2, 5, 3.0, 0.5, 0.02)
    # The difference of two arms is one arm with twice the variances.
    difference = given.mean[:1] - given.mean[1:]
    one = OneWay(difference, np.full((1, 5), 0.04))
    spread = Spread(given)
    assert 2 * spread.own2 == pytest.approx(one.estimate()[0], rel=1e-6)
    low, high = spread.own_interval(0.05)
    assert (2 * low, 2 * high) == pytest.approx(
        tuple(float(x[0]) for x in one.interval(0.05)), rel=1e-6
    )


@pytest.mark.slow
def test_intervals_miss_one_in_twenty() -> None:
    """Of 60 tables 51 intervals or more hold: at 95 % fewer do with probability 0.0007."""
    own = common = 0
    for seed in range(60):
        spread = Spread(made(4, 6, 0.3, 0.2, 0.01, seed=seed))
        low, high = spread.own_interval(0.05)
        own += low <= 0.04 <= high
        low, high = spread.common_interval(0.05)
        common += low <= 0.09 <= high
    assert min(own, common) >= 51


def test_equal_periods_have_no_moves_and_still_upper_limits() -> None:
    spread = Spread(TwoWay(np.full((3, 4), 0.5), np.full((3, 4), 0.01)))
    assert (spread.own2, spread.common2) == (0.0, 0.0)
    for low, high in (spread.own_interval(0.05), spread.common_interval(0.05)):
        assert low == 0
        assert 0 < high < 0.1
    share = np.full((3, 4), 0.25)
    assert 0 < NextPeriod.relative(spread.law, share).bound(0.95) < 0.25
    assert 0 < NextPeriod.level(spread.law, share).bound(0.95) < 0.35
