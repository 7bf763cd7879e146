"""Gamma, Beta and binomial draws against their exact distributions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

from driftanchor.core.noise import keyed_stream, wrapping
from driftanchor.core.variates import _log_ways, beta, binomial, gamma

if TYPE_CHECKING:
    from conftest import Chance

FALSE_ALARM = 1e-6
DRAWS = 6_000
CUTS = [Fraction(i, 20) for i in range(1, 20)]


def beta_draws(a: float, b: float) -> list[float]:
    stream = keyed_stream(5, f"beta {a} {b}", 0)
    with wrapping():
        return [beta(a, b, stream) for _ in range(DRAWS)]


def beta_law(a: int, b: int, x: Fraction) -> float:
    """P(Beta(a, b) ≤ x), exactly: of a + b − 1 uniform numbers at least a are at most x."""
    n = a + b - 1
    return float(sum(math.comb(n, k) * x**k * (1 - x) ** (n - k) for k in range(a, n + 1)))


@pytest.mark.parametrize(("a", "b"), [(1, 1), (1, 4), (5, 1), (2, 3), (30, 70), (400, 400)])
def test_beta_draws_have_the_law_of_order_statistics(a: int, b: int, chance: Chance) -> None:
    law = np.diff([0.0, *(beta_law(a, b, x) for x in CUTS), 1.0])
    counts, _ = np.histogram(beta_draws(a, b), [0.0, *map(float, CUTS), 1.0])
    often = law * DRAWS >= 10
    seen = np.append(counts[often], counts[~often].sum())
    due = np.append(law[often], law[~often].sum()) * DRAWS
    chance.fits(seen[due > 1], due[due > 1], false_alarm=FALSE_ALARM)


@pytest.mark.parametrize("shape", [1.0, 1.25, 2.5, 40.0])
def test_gamma_draws_have_the_law_of_the_integral(shape: float, chance: Chance) -> None:
    """The density is integrated by the trapezoidal rule, in steps of 1/2000 standard deviation."""
    end = shape + 30 * math.sqrt(shape)
    x = np.arange(0.0, end, math.sqrt(shape) / 2000)
    density = np.exp((shape - 1) * np.log(np.maximum(x, 1e-300)) - x - math.lgamma(shape))
    below = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(x))])
    assert below[-1] == pytest.approx(1.0, abs=1e-4)
    cuts = np.interp(np.linspace(0.05, 0.95, 19), below, x)
    stream = keyed_stream(6, f"gamma {shape}", 0)
    with wrapping():
        drawn = [gamma(shape, stream) for _ in range(DRAWS)]
    counts, _ = np.histogram(drawn, [0.0, *cuts, math.inf])
    chance.fits(counts, np.full(20, DRAWS / 20), false_alarm=FALSE_ALARM)


@pytest.mark.parametrize("n", [10**6, 10**9])
def test_huge_shapes_have_the_mean_and_the_variance(n: int) -> None:
    """Mean within 5.5 of its errors, variance within 15 %: false alarms below 1e-6."""
    a, b = 0.3 * n, 0.7 * n
    z = (np.array(beta_draws(a, b)) - 0.3) / math.sqrt(0.21 / n)
    assert abs(z.mean()) * math.sqrt(DRAWS) < 5.5
    assert 0.85 < z.var() < 1.15


def binomial_draws(n: int, p: float, count: int) -> list[int]:
    stream = keyed_stream(4, f"binomial {n} {p}", 0)
    with wrapping():
        return [binomial(n, p, stream) for _ in range(count)]


@pytest.mark.parametrize(
    ("n", "p"), [(1, 0.5), (7, 0.2), (40, 0.5), (60, 0.9), (200, 0.06), (100, 0.7), (2000, 0.003)]
)
def test_counts_have_the_binomial_law(n: int, p: float) -> None:
    """Pearson over counts expected 10 times or more, bound at 1e-7 (Laurent & Massart 2000)."""
    tries = 8_000
    seen = np.bincount(binomial_draws(n, p, tries), minlength=n + 1)
    ways = [math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) for k in range(n + 1)]
    law = np.exp([w + k * math.log(p) + (n - k) * math.log1p(-p) for k, w in enumerate(ways)])
    common = law * tries >= 10
    counted = np.append(seen[common], seen[~common].sum())
    expected = np.append(law[common], law[~common].sum()) * tries
    statistic = float(((counted - expected) ** 2 / np.maximum(expected, 1e-9))[expected > 1].sum())
    freedom, x = int((expected > 1).sum()), math.log(1e7)
    assert statistic < freedom + 2 * math.sqrt(freedom * x) + 2 * x


@pytest.mark.parametrize("n", [10**6, 10**9, 2**53])
def test_huge_counts_have_the_mean_and_the_variance(n: int) -> None:
    """Mean within 5.5 of its errors, variance within 20 %: false alarms below 1e-6."""
    p, tries = 0.3, 4_000
    z = (np.array(binomial_draws(n, p, tries), float) - n * p) / math.sqrt(n * p * (1 - p))
    assert abs(z.mean()) * math.sqrt(tries) < 5.5
    assert 0.8 < z.var() < 1.2


def test_sure_things_draw_nothing() -> None:
    assert binomial_draws(5, 0.0, 2) == [0, 0]
    assert binomial_draws(5, 1.0, 2) == [5, 5]
    assert binomial_draws(0, 0.4, 2) == [0, 0]


def test_rare_wins_among_very_many() -> None:
    wins = binomial_draws(10**15, 1e-15, 2_000)
    assert abs(np.mean(wins) - 1.0) < 5.5 / math.sqrt(2_000)  # false alarms 4e-8


@pytest.mark.parametrize(("n", "mode", "wins"), [(100, 30, 40), (20, 0, 3), (12, 12, 9)])
def test_log_ways(n: int, mode: int, wins: int) -> None:
    ratio = math.log(math.comb(n, wins) / math.comb(n, mode))
    assert _log_ways(n, mode, wins) == pytest.approx(ratio, rel=1e-12)
