"""Anytime-valid intervals: by brute force, by simulation, and against intervals for one look."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from driftanchor.core.check import Floats
from driftanchor.core.stats.anytime import (
    bernoulli_difference,
    empirical_bernstein_interval,
    fixed_sample_interval,
    log_beta,
    mixture_radius,
    prior_weight,
    product_limit,
    target_stake,
)
from driftanchor.core.stats.intervals import wilson

LOOKS = np.unique(np.geomspace(5, 3_000, 25).astype(int))
ALPHA = 0.2
CASES = [  # live values, their sum, logged values, their sum
    (1_000.0, 180.0, 2_000.0, 200.0),
    (40.0, 0.0, 2_000.0, 200.0),
    (40.0, 40.0, 500.0, 500.0),
    (5.0, 2.5, 10.0, 0.0),
    (100_000.0, 9_000.0, 300.0, 31.0),
]


def most_misses(walks: int) -> float:
    """Return the number of misses that a valid interval exceeds with a probability of 1e-6."""
    return walks * ALPHA + 4.8 * math.sqrt(walks * ALPHA * (1 - ALPHA))


@pytest.mark.parametrize("target", [100.0, 3_000.0])
def test_nearly_no_radius_is_smaller_at_its_target(target: float) -> None:
    penalty, here = 2 * math.log(20), mixture_radius(target, 0.05, target)
    rhos = np.geomspace(target / 1000, target * 10, 2_000)
    smallest = np.sqrt((target + rhos) * (np.log((target + rhos) / rhos) + penalty)).min() / target
    assert smallest <= here < 1.001 * smallest


def walks_outside(radius: Callable[[float], float], logged: int, rng: np.random.Generator) -> int:
    """Count the walks, of 4,000 with 2,000 steps, that ever leave a radius around their logs."""
    n = np.arange(1, 2_001)
    radii = np.array([radius(1 / (1 / k + 1 / logged)) for k in n.tolist()])
    count = 0
    for _ in range(10):
        logs = rng.normal(size=(400, 1)) / math.sqrt(logged)
        means = rng.normal(size=(400, n.size)).cumsum(axis=1) / n
        count += int((np.abs(means - logs) > radii).any(axis=1).sum())
    return count


@pytest.mark.parametrize("logged", [30, 10**12])
def test_the_mixture_radius_holds_at_all_times_beside_noisy_logs(logged: int) -> None:
    """4,000 walks leave at α = 0.2 at most 0.2 of the time; the test is wrong at a rate of 1e-6."""
    outside = walks_outside(
        lambda n: mixture_radius(n, ALPHA, 100.0), logged, np.random.default_rng(1)
    )
    assert 100 < outside < most_misses(4_000)


def test_a_radius_for_one_look_would_be_noticed() -> None:
    outside = walks_outside(lambda n: 1.2816 / math.sqrt(n), 10**12, np.random.default_rng(1))
    assert outside > most_misses(4_000)


def sample(law: str, shape: tuple[int, int], rng: np.random.Generator) -> Floats:
    """Draw values in [0, 1] with mean 0.1."""
    if law == "bernoulli":
        return (rng.random(shape) < 0.1).astype(np.float64)
    return rng.beta(20.0, 180.0, shape)


Ends = Callable[[int, float, float], tuple[float, float]]  # of n, total, squared errors


def bernstein_ends(n: int, total: float, squares: float) -> tuple[float, float]:
    stake = target_stake(ALPHA, 300.0, 0.01)
    return empirical_bernstein_interval(float(n), total, squares, ALPHA, stake)


def one_look_ends(n: int, total: float, _: float) -> tuple[float, float]:
    return wilson(total / n, n, ALPHA)


def misses(ends: Ends, law: str) -> int:
    """Count the walks, of 400, whose interval misses the mean at one of many looks.

    Each value is predicted by the mean of earlier values and one value of a half.
    """
    walks = sample(law, (400, int(LOOKS[-1])), np.random.default_rng(2))
    totals = walks.cumsum(axis=1)
    predictions = (totals - walks + 0.5) / np.arange(1, LOOKS[-1] + 1)
    squares = ((walks - predictions) ** 2).cumsum(axis=1)
    count = 0
    for total, square in zip(totals[:, LOOKS - 1], squares[:, LOOKS - 1], strict=True):
        looks = map(ends, LOOKS.tolist(), total.tolist(), square.tolist())
        count += any(not low <= 0.1 <= high for low, high in looks)
    return count


@pytest.mark.parametrize("law", ["bernoulli", "beta"])
def test_the_empirical_bernstein_interval_holds_at_all_looks(law: str) -> None:
    """At most the stated share of walks is missed; the test is wrong at a rate of 1e-6."""
    assert misses(bernstein_ends, law) < most_misses(400)


def test_an_interval_for_one_look_would_be_noticed() -> None:
    assert misses(one_look_ends, "bernoulli") > most_misses(400)


def test_without_values_the_mean_may_be_anything() -> None:
    assert empirical_bernstein_interval(0.0, 0.0, 0.0, 0.05, 0.5) == (0.0, 1.0)
    assert bernoulli_difference(0.0, 0.0, 5.0, 2.0, 0.1, 0.5, 1.0) == (-1.0, 1.0)


@pytest.mark.parametrize("total", [0.0, 10.0])
def test_values_at_the_ends_of_the_range(total: float) -> None:
    assert fixed_sample_interval(10.0, total / 10, math.nan, 0.05) == pytest.approx(
        (0.0, 1 - 40**-0.1) if total == 0 else (40**-0.1, 1.0)
    )


@pytest.mark.parametrize("law", ["bernoulli", "beta"])
def test_samples_of_a_fixed_size(law: str) -> None:
    """Of 2,000 samples at most the stated share is missed; wrong at a rate of 1e-6."""
    missed = 0
    for x in sample(law, (2_000, 100), np.random.default_rng(4)):
        low, high = fixed_sample_interval(100.0, float(x.mean()), float(x.var(ddof=1)), ALPHA)
        missed += not low <= 0.1 <= high
    assert missed < most_misses(2_000)


@pytest.mark.parametrize("power", [1.0, 0.5, 0.25])
@pytest.mark.parametrize("case", CASES)
def test_it_is_the_widest_difference_that_the_p_values_allow(
    case: tuple[float, float, float, float], power: float
) -> None:
    n, successes, logged, old = case
    centre, weight, alpha = 0.1, 20.0, 0.01
    p = (np.arange(4_000) + 0.5) / 4_000
    live = log_beta(successes + 2.0, n - successes + 18.0) - log_beta(2.0, 18.0)
    live_p = np.maximum(live - log_likelihood(successes, n - successes, p), 0)
    best = log_likelihood(old, logged - old, np.array([old / logged]))[0]
    logged_p = np.maximum(best - log_likelihood(old, logged - old, p) - math.log(2), 0)
    allowed = live_p[:, None] + power * logged_p <= product_limit(alpha, power)
    differences = (p[:, None] - p)[allowed]
    ends = bernoulli_difference(n, successes, logged, old, alpha, centre, weight, power)
    assert ends == pytest.approx((differences.min(), differences.max()), abs=6e-4)


def log_likelihood(successes: float, failures: float, p: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        one = np.where(successes > 0, successes * np.log(p), 0.0)
        return np.asarray(one + np.where(failures > 0, failures * np.log1p(-p), 0.0))


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


@pytest.mark.parametrize("one_look", [False, True])
def test_the_difference_holds_at_all_looks(one_look: bool) -> None:
    """At most 0.2 of 300 walks are missed, at a rate of 1e-6; an interval for one look is not."""
    rng = np.random.default_rng(5)
    missed = 0
    for _ in range(300):
        old, walk = float(rng.binomial(400, 0.1)), np.cumsum(rng.random(3_000) < 0.12)
        for n in LOOKS.tolist():
            successes = float(walk[n - 1])
            if one_look:  # a normal interval at the same level
                half_width = 1.2816 * math.sqrt(0.1056 / n + 0.09 / 400)
                difference = successes / n - old / 400
                low, high = difference - half_width, difference + half_width
            else:
                weight = prior_weight(ALPHA, 300.0)
                low, high = bernoulli_difference(n * 1.0, successes, 400.0, old, ALPHA, 0.1, weight)
            if not low <= 0.02 <= high:
                missed += 1
                break
    assert (missed > most_misses(300)) == one_look


def test_the_difference_is_shorter_than_two_intervals_added() -> None:
    n, successes, logged, old = CASES[0]
    low, high = bernoulli_difference(n, successes, logged, old, 0.001, 0.1, 20.0)
    one = fixed_sample_interval(n, successes / n, math.nan, 0.0005)  # not even valid at all times
    two = fixed_sample_interval(logged, old / logged, math.nan, 0.0005)
    assert high - low < np.ptp(one) + np.ptp(two)
