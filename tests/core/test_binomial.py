import math

import numpy as np
import pytest

from driftanchor.core.binomial import _log_ways, binomial
from driftanchor.core.noise import keyed_stream, wrapping


def draws(n: int, p: float, count: int) -> list[int]:
    stream = keyed_stream(4, f"binomial {n} {p}", 0)
    with wrapping():
        return [binomial(n, p, stream) for _ in range(count)]


@pytest.mark.parametrize(
    ("n", "p"), [(1, 0.5), (7, 0.2), (40, 0.5), (60, 0.9), (200, 0.06), (100, 0.7), (2000, 0.003)]
)
def test_counts_have_the_binomial_law(n: int, p: float) -> None:
    """Pearson over counts expected 10 times or more, bound at 1e-7 (Laurent & Massart 2000)."""
    tries = 8_000
    seen = np.bincount(draws(n, p, tries), minlength=n + 1)
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
    z = (np.array(draws(n, p, tries), float) - n * p) / math.sqrt(n * p * (1 - p))
    assert abs(z.mean()) * math.sqrt(tries) < 5.5
    assert 0.8 < z.var() < 1.2


def test_sure_things_draw_nothing() -> None:
    assert draws(5, 0.0, 2) == [0, 0]
    assert draws(5, 1.0, 2) == [5, 5]
    assert draws(0, 0.4, 2) == [0, 0]


def test_rare_wins_among_very_many() -> None:
    wins = draws(10**15, 1e-15, 2_000)
    assert abs(np.mean(wins) - 1.0) < 5.5 / math.sqrt(2_000)  # false alarms 4e-8


@pytest.mark.parametrize(("n", "mode", "wins"), [(100, 30, 40), (20, 0, 3), (12, 12, 9)])
def test_log_ways(n: int, mode: int, wins: int) -> None:
    ratio = math.log(math.comb(n, wins) / math.comb(n, mode))
    assert _log_ways(n, mode, wins) == pytest.approx(ratio, rel=1e-12)
