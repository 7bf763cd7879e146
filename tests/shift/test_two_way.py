"""Two-way sums of squares against dense matrices that are written down as the model has them."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from driftanchor.core.check import Floats
from driftanchor.shift.two_way import TwoWay


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
        own, common, own_freedom, common_freedom = naive(given, own2, common2)
        assert fit.own_q == pytest.approx(own, rel=1e-8)
        assert given.own_q(own2) == fit.own_q
        assert fit.common_q(np.array([common2])) == pytest.approx([common], rel=1e-7, abs=1e-9)
        assert (given.freedom, given.common_freedom) == (own_freedom, common_freedom)


def test_parts_without_a_common_arm_or_period() -> None:
    one, other = table(3, 4), table(4, 3, seed=2)
    mean, noise = np.zeros((7, 7)), np.full((7, 7), np.inf)
    mean[:3, :4], noise[:3, :4] = one.mean, one.noise
    mean[3:, 4:], noise[3:, 4:] = other.mean, other.noise
    given = TwoWay(mean, noise)
    assert given.components == 2
    assert given.freedom == one.freedom + other.freedom == 6 + 6
    assert given.common_freedom == 3 + 2
    assert given.own_q(0.3) == pytest.approx(one.own_q(0.3) + other.own_q(0.3))
    at = np.array([0.0, 0.7])
    expected = one.fit(0.3).common_q(at) + other.fit(0.3).common_q(at)
    assert given.fit(0.3).common_q(at) == pytest.approx(expected)


def test_a_chain_of_arms_is_one_part_without_own_moves() -> None:
    noise = np.full((4, 5), np.inf)
    for k in range(4):
        noise[k, k : k + 2] = 0.1
    chain = TwoWay(np.zeros((4, 5)), noise)
    assert (chain.components, chain.freedom, chain.common_freedom) == (1, 0, 4)


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
    for found, freedom in (
        (np.array(own), given.freedom),
        (np.array(common), given.common_freedom),
    ):
        assert abs(found.mean() - freedom) < 4.5 * math.sqrt(2 * freedom / 500)
        error = math.sqrt((8 * freedom**2 + 48 * freedom) / 500)  # of a chi-square's variance
        assert abs(found.var() - 2 * freedom) < 4.5 * error
    assert abs(np.corrcoef(own, common)[0, 1]) < 4.5 / math.sqrt(500)


@pytest.mark.slow
def test_ten_thousand_arms_take_little_time() -> None:
    given = table(10_000, 50, gaps=0.2)
    start = time.process_time()
    assert given.own_q(0.25) == pytest.approx(given.freedom, rel=0.02)
    assert time.process_time() - start < 5
