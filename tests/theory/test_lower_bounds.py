"""Lai & Robbins, and the pure online rates beside it."""

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from driftanchor import InvalidInput
from driftanchor.core.check import Floats
from driftanchor.theory import (
    kl_bernoulli,
    lai_robbins,
    lai_robbins_bernoulli,
    online_anchor_pulls,
    online_ts_pulls,
)

SHARES = st.floats(0, 1)


def test_lai_robbins_by_hand() -> None:
    assert lai_robbins([0.5, 0.1], [1.0, 2.0]).round(9).tolist() == [8.0, 800.0]
    assert float(lai_robbins(1e-300)) == math.inf


@pytest.mark.parametrize(
    ("p", "q", "divergence"),
    [
        (0.5, 0.25, 0.5 * math.log(4 / 3)),
        (0.25, 0.5, 0.25 * math.log(0.5) + 0.75 * math.log(1.5)),
        (0.0, 0.5, math.log(2)),
        (1.0, 0.5, math.log(2)),
        (0.0, 0.0, 0.0),
        (1.0, 1.0, 0.0),
        (0.3, 0.0, math.inf),
        (0.3, 1.0, math.inf),
        (1.0, 0.0, math.inf),
        (0.0, 1.0, math.inf),
        (5e-324, 0.5, math.log(2)),
        (0.5, 5e-324, 0.5 * (math.log(0.5) - math.log(5e-324)) + 0.5 * math.log(0.5)),
    ],
)
def test_kl_by_hand_and_at_the_ends(p: float, q: float, divergence: float) -> None:
    assert float(kl_bernoulli(p, q)) == pytest.approx(divergence, rel=1e-14)


@given(SHARES, SHARES)
def test_kl_obeys_pinsker_and_symmetry(p: float, q: float) -> None:
    divergence = float(kl_bernoulli(p, q))
    assert divergence >= 2 * (p - q) ** 2 * (1 - 1e-9) - 1e-16
    if 1e-3 < p < 0.999 and 1e-3 < q < 0.999:
        assert float(kl_bernoulli(1 - p, 1 - q)) == pytest.approx(divergence, rel=1e-6, abs=1e-15)


def test_kl_of_nearby_laws_keeps_its_digits() -> None:
    gap = 2.0**-20
    exact = gap**2 / (2 * 0.25)  # the next term is of relative order gap²
    assert float(kl_bernoulli(0.5, 0.5 + gap)) == pytest.approx(exact, rel=1e-8)


@given(SHARES, SHARES)
def test_bernoulli_arms_need_no_more_than_gaussian_ones_of_noise_one_half(
    p: float, q: float
) -> None:
    assume(q - p > 1e-6)
    gaussian = lai_robbins(q - p, noise=0.5)
    assert 0 <= lai_robbins_bernoulli(p, q) <= gaussian * (1 + 1e-6)


def test_a_best_arm_that_never_fails_needs_no_exploration() -> None:
    assert float(lai_robbins_bernoulli(0.9, 1.0)) == 0.0


def test_online_pulls_by_hand() -> None:
    horizon = math.e**3
    ts = online_ts_pulls(horizon, [0.5, 0.1], noise=[1.0, 2.0], posterior_scale=[1.0, 0.5])
    np.testing.assert_allclose(ts, [24.0, 1200.0])
    assert online_ts_pulls(1, [0.5, 1e-300]).tolist() == [0.0, 0.0]


@given(st.floats(2, 1e12), st.floats(0.01, 2), st.floats(0.1, 3))
def test_anchor_ts_without_logs_is_half_of_lai_robbins_and_meets_it_at_scale_two(
    horizon: float, gap: float, noise: float
) -> None:
    needed = float(lai_robbins(gap, noise)) * math.log(horizon)
    assert float(online_ts_pulls(horizon, gap, noise=noise)) == pytest.approx(needed)
    for scale, share in ((1.0, 0.5), (2.0, 1.0), (4.0, 2.0)):
        pulls = online_anchor_pulls(horizon, gap, noise=noise, posterior_scale=scale)
        assert float(pulls) == pytest.approx(share * needed)


@pytest.mark.parametrize("pulls", [online_ts_pulls, online_anchor_pulls])
def test_online_pulls_broadcast(pulls: Callable[..., Floats]) -> None:
    table = pulls([[10], [100]], [0.1, 0.2, 0.3], posterior_scale=2)
    assert table.shape == (2, 3)
    assert table[1, 2] == pulls(100, 0.3, posterior_scale=2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lai_robbins(0), "gap must be greater than 0, got 0"),
        (lambda: lai_robbins(0.3, -1), "noise must be greater than 0, got -1"),
        (lambda: kl_bernoulli(1.5, 0.5), "p must be between 0 and 1, got 1.5"),
        (lambda: kl_bernoulli(0.5, [0.5, -1]), "q of element 1 must be between 0 and 1, got -1.0"),
        (
            lambda: lai_robbins_bernoulli([0.1, 0.5], 0.5),
            "best_mean must be greater than mean 0.5, got 0.5",
        ),
        (lambda: online_ts_pulls(0, 0.3), "horizon must be at least 1, got 0"),
        (
            lambda: online_anchor_pulls(10, 0.3, posterior_scale=0),
            "posterior_scale must be greater than 0, got 0",
        ),
        (
            lambda: online_ts_pulls([1, 2], [0.1] * 3),
            "shapes do not fit together: horizon (2,), gap (3,)",
        ),
    ],
)
def test_unusable_arguments_are_named(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        call()
