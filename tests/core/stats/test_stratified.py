"""Arms compared within strata: against plain least squares, and in simulation."""

from __future__ import annotations

import numpy as np
import pytest

from driftanchor.core.check import Floats
from driftanchor.core.stats.stratified import components, stratified


def tables(many: int, seen: float = 0.7) -> list[tuple[Floats, Floats]]:
    """Random tables of counts and means with gaps; every arm and stratum has rewards."""
    rng = np.random.default_rng(5)
    made: list[tuple[Floats, Floats]] = []
    while len(made) < many:
        shape = rng.integers(2, 6), rng.integers(2, 8)
        n = rng.integers(1, 60, shape) * (rng.random(shape) < seen).astype(float)
        if n.any(axis=0).all() and n.any(axis=1).all():
            made.append((n, rng.normal(1000.0, 1.0, shape)))
    return made


def by_least_squares(n: Floats, mean: Floats) -> tuple[Floats, Floats]:
    """The means at the mix of all arms and their covariance, from one dense system."""
    arms, strata = n.shape
    cells = np.argwhere(n > 0)
    root = np.sqrt([n[k, s] for k, s in cells])
    design = np.zeros((len(cells), arms + strata))
    for i, (k, s) in enumerate(cells):
        design[i, [k, arms + s]] = root[i]
    inverse = np.linalg.pinv(design)
    report = np.hstack([np.eye(arms), np.tile(n.sum(axis=0) / n.sum(), (arms, 1))])
    fitted = report @ inverse @ (root * np.array([mean[k, s] for k, s in cells]))
    return fitted, report @ inverse @ inverse.T @ report.T


def test_it_is_least_squares_and_understates_no_variance_of_a_difference() -> None:
    compared = 0
    for n, mean in tables(200):
        fit = stratified(n, mean)
        assert (fit.n <= n.sum(axis=1) * (1 + 1e-12)).all()
        if fit.component.max() > 0:
            continue
        fitted, covariance = by_least_squares(n, mean)
        np.testing.assert_allclose(fit.mean, fitted, rtol=1e-9)
        own = covariance.diagonal()
        difference = own[:, None] + own - 2 * covariance
        claimed = 1 / fit.n[:, None] + 1 / fit.n
        assert (claimed >= difference * (1 - 1e-9) - np.eye(len(own))).all()
        compared += 1
    assert compared > 100


def test_two_arms_with_as_many_rewards_have_exactly_the_noise_of_their_difference() -> None:
    n = np.array([[900.0, 100.0], [100.0, 900.0]])
    fit = stratified(n, np.array([[0.1, 0.5], [0.2, 0.6]]))
    np.testing.assert_allclose(fit.mean, [0.3, 0.4])
    overlap = (n[0] * n[1] / n.sum(axis=0)).sum()
    assert (1 / fit.n).sum() == pytest.approx(1 / overlap)


def test_equal_shares_leave_means_and_numbers_as_they_are() -> None:
    n = np.outer([1.0, 2.0, 5.0], [40.0, 10.0, 300.0])
    mean = np.random.default_rng(1).normal(size=n.shape)
    fit = stratified(n, mean)
    np.testing.assert_allclose(fit.mean, (n * mean).sum(axis=1) / n.sum(axis=1))
    np.testing.assert_allclose(fit.n, n.sum(axis=1))
    assert not fit.shares_differ


def test_each_component_is_fitted_at_its_own_mix() -> None:
    left = np.array([[90.0, 10.0], [10.0, 90.0]])
    n = np.block([[left, np.zeros((2, 1))], [np.zeros((1, 2)), np.array([[50.0]])]])
    mean = np.array([[0.1, 0.5, 9.0], [0.1, 0.5, 9.0], [9.0, 9.0, 0.8]])
    fit = stratified(n, mean)
    np.testing.assert_allclose(fit.mean, [0.3, 0.3, 0.8])
    assert fit.component.tolist() == [0, 0, 1]
    assert fit.n[2] == pytest.approx(50)
    chain = np.array([[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 1], [0, 1, 0, 0]], dtype=bool)
    assert [labels.tolist() for labels in components(chain)] == [[0, 1, 0, 1], [0, 1, 0, 0]]


def test_differences_are_covered_and_equal_shares_look_equal() -> None:
    """Equal arms, three strata with other rates.

    Of 2,000 logs with other shares, the 95 % interval of the difference must miss 0 in 3 % to 7 %:
    the binomial probability of leaving that by chance is below 1e-4. Of 2,000 logs with equal
    shares at most 2 % may seem to differ, where 1 % is expected: the same holds.
    """
    rng = np.random.default_rng(3)
    rates = np.array([0.1, 0.3, 0.5])
    misses = seeming = 0
    for _ in range(2_000):
        n = np.array([[800.0, 400.0, 200.0], [200.0, 400.0, 800.0]])
        mean = rng.binomial(n.astype(int), rates) / n
        fit = stratified(n, mean)
        assert fit.shares_differ
        noise2 = (n * mean * (1 - mean)).sum() / n.sum()
        z = (fit.mean[0] - fit.mean[1]) / np.sqrt(noise2 * (1 / fit.n).sum())
        misses += abs(z) > 1.96
        fair = rng.multinomial(2_800, np.outer([0.3, 0.7], [0.2, 0.5, 0.3]).ravel())
        seeming += stratified(fair.reshape(2, 3).astype(float), mean).shares_differ
    assert 0.03 < misses / 2_000 < 0.07
    assert seeming / 2_000 < 0.02
