"""The interval of a difference of coins: by brute force, by simulation, and how long it is."""

import math

import numpy as np
import pytest

from driftanchor.core.check import Floats
from driftanchor.core.stats.anytime import coin_interval, log_beta, prior_weight, sample_interval
from driftanchor.core.stats.coin_difference import coin_difference, product_limit

CASES = [
    (1_000.0, 180.0, 2_000.0, 200.0),
    (40.0, 0.0, 2_000.0, 200.0),
    (40.0, 40.0, 500.0, 500.0),
    (5.0, 2.5, 10.0, 0.0),
    (100_000.0, 9_000.0, 300.0, 31.0),
]


@pytest.mark.parametrize("power", [1.0, 0.5, 0.25])
@pytest.mark.parametrize("case", CASES)
def test_it_is_the_widest_difference_that_the_p_values_allow(
    case: tuple[float, float, float, float], power: float
) -> None:
    n, hits, logged, old = case
    centre, weight, miss = 0.1, 20.0, 0.01
    p = (np.arange(4_000) + 0.5) / 4_000
    best = _log(old, logged - old, np.array([old / logged]))[0]
    first = log_beta(hits + 2.0, n - hits + 18.0) - log_beta(2.0, 18.0) - _log(hits, n - hits, p)
    second = best - _log(old, logged - old, p) - math.log(2)
    limit = product_limit(miss, power)
    allowed = np.maximum(first, 0)[:, None] + power * np.maximum(second, 0) <= limit
    difference = (p[:, None] - p)[allowed]
    low, high = coin_difference(n, hits, logged, old, miss, centre, weight, power)
    assert [low, high] == pytest.approx([difference.min(), difference.max()], abs=6e-4)


def _log(hits: float, misses: float, p: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        one = np.where(hits > 0, hits * np.log(p), 0.0)
        return np.asarray(one + np.where(misses > 0, misses * np.log1p(-p), 0.0))


@pytest.mark.parametrize("power", [1.0, 0.5])
def test_the_limit_of_a_product_of_p_values(power: float) -> None:
    """10 million products: 10,000 expected below; wrong at a rate of 1e-6."""
    limit = product_limit(0.001, power)
    if power == 1.0:
        assert math.exp(-limit) * (1 + limit) == pytest.approx(0.001)
    else:
        assert 2 * math.exp(-limit) - math.exp(-2 * limit) == pytest.approx(0.001)
    rng = np.random.default_rng(1)
    below = sum(
        int((rng.random(10**6) * rng.random(10**6) ** power <= math.exp(-limit)).sum())
        for _ in range(10)
    )
    assert abs(below - 10_000) < 4.9 * 100


@pytest.mark.parametrize("look_fixed", [False, True])
def test_it_holds_at_all_looks(look_fixed: bool) -> None:
    """At most 0.2 of 300 walks are missed, at a rate of 1e-6; an interval for one look is not."""
    rng, miss, looks = (
        np.random.default_rng(5),
        0.2,
        np.unique(np.geomspace(5, 3_000, 25).astype(int)),
    )
    out = 0
    for _ in range(300):
        old, walk = float(rng.binomial(400, 0.1)), np.cumsum(rng.random(3_000) < 0.12)
        for n in looks.tolist():
            hits = float(walk[n - 1])
            if look_fixed:  # a normal interval at the same level, right for one look
                half = 1.2816 * math.sqrt(0.1056 / n + 0.09 / 400)
                low, high = hits / n - old / 400 - half, hits / n - old / 400 + half
            else:
                weight = prior_weight(miss, 300.0)
                low, high = coin_difference(n * 1.0, hits, 400.0, old, miss, 0.1, weight)
            if not low <= 0.02 <= high:
                out += 1
                break
    assert (out > 300 * miss + 4.8 * math.sqrt(300 * 0.16)) == look_fixed


def test_it_is_shorter_than_two_intervals_added() -> None:
    n, hits, logged, old = CASES[0]
    low, high = coin_difference(n, hits, logged, old, 0.001, 0.1, 20.0)
    one = coin_interval(n, hits, 0.0005, 0.1, 20.0)
    two = sample_interval(logged, old / logged, math.nan, 0.0005)
    assert high - low < 0.9 * (np.ptp(one) + np.ptp(two))


def test_without_values_the_difference_may_be_anything() -> None:
    assert coin_difference(0.0, 0.0, 5.0, 2.0, 0.1, 0.5, 1.0) == (-1.0, 1.0)
