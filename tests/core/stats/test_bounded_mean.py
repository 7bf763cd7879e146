"""The interval of a bounded mean: equal to a search over all bets, and right for rare ruin."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest

from driftanchor.core.stats.bounded_mean import bounded_mean_interval, hedged_mean_interval

RNG = np.random.default_rng(1)
SAMPLES = {
    "spread out": RNG.random(60),
    "near the lower end": 0.1 * RNG.random(60),
    "near the upper end": 1 - 0.1 * RNG.random(60),
    "binary": (RNG.random(200) < 0.03).astype(np.float64),
    "one value at the end": np.array([0.0] * 20 + [1.0]),
    "all at the lower end": np.zeros(30),
    "all at the upper end": np.ones(30),
    "all the same": np.full(10, 0.5),
    "both ends": np.array([0.0, 1.0]),
    "one": np.array([0.3]),
}


def searched(x: npt.NDArray[np.float64], alpha: float) -> tuple[float, float]:
    """The same interval by trying bets and means on grids, as the definition says."""
    bets = np.linspace(0, 1, 401)[:, None]
    limit = math.log(2 * math.sqrt(len(x) + 1) / alpha)
    means = np.linspace(0.002, 0.998, 499)
    x, times = np.unique(x, return_counts=True)
    with np.errstate(divide="ignore"):
        capital = [
            (np.log(bets * x / m + (1 - bets) * (1 - x) / (1 - m)) @ times).max() for m in means
        ]
    allowed = means[np.array(capital) <= limit]
    return float(allowed[0]), float(allowed[-1])


@pytest.mark.parametrize("name", SAMPLES)
def test_it_is_what_a_search_over_all_bets_finds(name: str) -> None:
    x = SAMPLES[name]
    low, high = bounded_mean_interval(x, 0.0, 1.0, 0.05)
    assert 0.0 <= low <= x.mean() <= high <= 1.0
    assert (low, high) == pytest.approx(searched(x, 0.05), abs=0.005)


def test_units_do_not_matter() -> None:
    x = SAMPLES["spread out"]
    low, high = bounded_mean_interval(x, 0.0, 1.0, 0.01)
    scaled = bounded_mean_interval(300 * x - 200, -200.0, 100.0, 0.01)
    assert scaled == pytest.approx((300 * low - 200, 300 * high - 200))
    assert bounded_mean_interval(np.full(3, 7.0), 7.0, 7.0, 0.05) == (7.0, 7.0)


def test_it_covers_where_students_interval_flatters() -> None:
    """One run in 250 loses 3,000, the others about 20: the mean is 32.

    Of 300 samples of 500, so many must cover that a rate of misses of 5 % would show it with a
    chance of 1e-6: at most 37 misses. Student's interval misses 14 % of such samples.
    """
    rng, misses = np.random.default_rng(2), 0
    for _ in range(300):
        runs = np.where(rng.random(500) < 1 / 250, 3000.0, rng.normal(20, 5, 500).clip(0))
        low, high = bounded_mean_interval(runs, 0.0, 3000.0, 0.05)
        misses += not low <= 20 + 2980 / 250 <= high
    assert misses <= 37


def test_looking_again_after_every_run_does_no_harm() -> None:
    """The interval is right at all sample sizes together: 100 sequences, each looked at 8 times.

    A rate of 5 % would give 5 misses; more than 18 has a chance below 1e-6.
    """
    rng, misses = np.random.default_rng(3), 0
    for _ in range(100):
        values = (rng.random(2048) < 0.02).astype(np.float64)
        looks = [bounded_mean_interval(values[: 2**k], 0.0, 1.0, 0.05) for k in range(4, 12)]
        misses += not all(low <= 0.02 <= high for low, high in looks)
    assert misses <= 18


def test_values_with_ranges_of_their_own_are_covered_whatever_their_law() -> None:
    """One value in 100 is as large as its hedge, which has a heavy tail; the others are near 0.

    300 samples of 400 at 95 %: at most 37 misses, as above. The mean is 0.01 times the mean hedge.
    """
    rng, misses, widths = np.random.default_rng(4), 0, []
    for _ in range(300):
        range_of_each = rng.pareto(3.0, 400) + 1.0  # from 1 on, of mean 1.5
        hedges = np.maximum(range_of_each, 4.0)
        mean = 4.0 + 4.0**-2 / 2  # ∫ P(range > x) dx from 4 on, with P = x⁻³
        values = np.where(rng.random(400) < 0.01, range_of_each, 0.0)
        low, high = hedged_mean_interval(values, hedges[None], np.array([mean]), 0.05)
        misses += not low <= 0.015 <= high
        widths.append(high - low)
    assert misses <= 37
    assert np.mean(widths) < 0.2 * 2 * 4


def test_a_constant_hedge_is_a_range() -> None:
    x = 2 * SAMPLES["spread out"] - 1
    constant = np.ones((1, 60))
    hedged = hedged_mean_interval(x, constant, np.ones(1), 0.1)
    assert hedged == pytest.approx(bounded_mean_interval(x, -1.0, 1.0, 0.05))
