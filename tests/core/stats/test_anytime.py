"""Intervals that are right at all times: by hand, by simulation, and against a fault."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from driftanchor.core.check import Floats
from driftanchor.core.stats.anytime import (
    coin_interval,
    log_beta,
    mixture_radius,
    prior_weight,
    sample_interval,
    spread_interval,
    stake_for,
)
from driftanchor.core.stats.intervals import wilson

LOOKS = np.unique(np.geomspace(5, 3_000, 25).astype(int)).tolist()
WALKS, MISS = 400, 0.2
MOST = WALKS * MISS + 4.8 * math.sqrt(WALKS * MISS * (1 - MISS))  # a right one exceeds it: 1e-6


@pytest.mark.parametrize("aim", [100.0, 3_000.0])
def test_nearly_no_radius_is_smaller_at_its_aim(aim: float) -> None:
    cost, here = 2 * math.log(20), mixture_radius(aim, 0.05, aim)
    rhos = np.geomspace(aim / 1000, aim * 10, 2_000)
    least = np.sqrt((aim + rhos) * (np.log((aim + rhos) / rhos) + cost)).min() / aim
    assert least <= here < 1.001 * least


def left(radius: Callable[[float], float], logged: int, rng: np.random.Generator) -> int:
    """How many of 4,000 walks are ever further from their logs than a radius, of 2,000 steps."""
    n = np.arange(1, 2_001)
    wide = np.array([radius(1 / (1 / k + 1 / logged)) for k in n.tolist()])
    count = 0
    for _ in range(10):
        logs = rng.normal(size=(400, 1)) / math.sqrt(logged)
        means = rng.normal(size=(400, n.size)).cumsum(axis=1) / n
        count += int((np.abs(means - logs) > wide).any(axis=1).sum())
    return count


@pytest.mark.parametrize("logged", [30, 10**12])
def test_the_mixture_holds_in_all_rounds_at_once_beside_noisy_logs(logged: int) -> None:
    """4,000 walks leave at α = 0.2 at most 0.2 of the time; the test is wrong at a rate of 1e-6."""
    found = left(lambda n: mixture_radius(n, 0.2, 100.0), logged, np.random.default_rng(1))
    assert 100 < found < 4_000 * 0.2 + 4.8 * math.sqrt(4_000 * 0.2 * 0.8)


def test_a_radius_for_one_look_would_be_noticed() -> None:
    found = left(lambda n: 1.2816 / math.sqrt(n), 10**12, np.random.default_rng(1))
    assert found > 4_000 * 0.2 + 4.8 * math.sqrt(4_000 * 0.2 * 0.8)


def values(law: str, rng: np.random.Generator) -> Floats:
    size = (WALKS, LOOKS[-1])
    if law == "coins":
        return np.array(rng.random(size) < 0.1, np.float64)
    return np.array(rng.beta(20.0, 180.0, size), np.float64)


class Look(NamedTuple):
    """What is known of a walk after n values: their sum, and the squares of what was not foreseen.

    A value is foreseen to be the mean of those before it, and of one more that is a half.
    """

    n: int
    total: float
    squares: float


Ends = Callable[[Look], tuple[float, float]]


def looks_of(law: str, rng: np.random.Generator) -> list[list[Look]]:
    """All looks at each walk."""
    walks = values(law, rng)
    totals = walks.cumsum(axis=1)
    before = (totals - walks + 0.5) / np.arange(1, LOOKS[-1] + 1)
    squares = ((walks - before) ** 2).cumsum(axis=1)
    known = (part[:, np.array(LOOKS) - 1].tolist() for part in (totals, squares))
    return [list(map(Look, LOOKS, *walk)) for walk in zip(*known, strict=True)]


def coin_ends(at: Look) -> tuple[float, float]:
    return coin_interval(float(at.n), at.total, MISS, 0.12, prior_weight(MISS, 300.0))


def spread_ends(at: Look) -> tuple[float, float]:
    stake = stake_for(MISS, 300.0, 0.01)
    return spread_interval(float(at.n), at.total, at.squares, MISS, stake)


def fixed_ends(at: Look) -> tuple[float, float]:
    return wilson(at.total / at.n, at.n, MISS)


def missed(ends: Ends, law: str) -> int:
    """How many walks leave their interval at one of many looks; the mean is 0.1."""
    count = 0
    for walk in looks_of(law, np.random.default_rng(2)):
        count += any(not low <= 0.1 <= high for low, high in map(ends, walk))
    return count


@pytest.mark.parametrize("law", ["coins", "beta"])
@pytest.mark.parametrize("ends", [coin_ends, spread_ends])
def test_bounded_intervals_hold_at_all_looks(ends: Ends, law: str) -> None:
    """At most the stated share of walks is missed; the test is wrong at a rate of 1e-6."""
    assert missed(ends, law) < MOST


def test_an_interval_for_one_look_would_be_noticed() -> None:
    assert missed(fixed_ends, "coins") > MOST


def test_each_interval_is_the_shorter_one_where_it_is_made_for() -> None:
    coins, beta = (looks_of(law, np.random.default_rng(3))[0][-1] for law in ("coins", "beta"))
    assert np.ptp(coin_ends(coins)) < np.ptp(spread_ends(coins)) < 0.1
    assert np.ptp(spread_ends(beta)) < 0.6 * np.ptp(coin_ends(beta))


def test_the_coin_interval_by_its_definition() -> None:
    a, b, n, hits, miss = 2.0, 6.0, 50.0, 20.0, 0.05
    for m in coin_interval(n, hits, miss, a / (a + b), a + b):
        gain = log_beta(hits + a, n - hits + b) - log_beta(a, b)
        assert gain - hits * math.log(m) - (n - hits) * math.log(1 - m) == pytest.approx(
            math.log(1 / miss)
        )


@pytest.mark.parametrize("total", [0.0, 10.0])
def test_values_at_the_ends_of_the_range(total: float) -> None:
    low, high = coin_interval(10.0, total, 0.05, 0.5, 1.0)
    assert (low, high) == ((0.0, high) if total == 0 else (low, 1.0))
    assert 0.2 < high - low < 1.0
    assert sample_interval(10.0, total / 10, math.nan, 0.05) == pytest.approx(
        (0.0, 1 - 40**-0.1) if total == 0 else (40**-0.1, 1.0)
    )


def test_without_values_the_mean_may_be_anything() -> None:
    assert coin_interval(0.0, 0.0, 0.05, 0.5, 1.0) == (0.0, 1.0)
    assert spread_interval(0.0, 0.0, 0.0, 0.05, 0.5) == (0.0, 1.0)


@pytest.mark.parametrize("law", ["coins", "beta"])
def test_samples_of_a_fixed_size(law: str) -> None:
    """Of 2,000 samples at most the stated share is missed; wrong at a rate of 1e-6."""
    rng = np.random.default_rng(4)
    samples = (
        (rng.random((2_000, 100)) < 0.1) * 1.0
        if law == "coins"
        else rng.beta(2.0, 18.0, (2_000, 100))
    )
    out = 0
    for x in samples:
        low, high = sample_interval(100.0, float(x.mean()), float(x.var(ddof=1)), 0.2)
        out += not low <= 0.1 <= high
    assert out < 2_000 * 0.2 + 4.8 * math.sqrt(2_000 * 0.16)
