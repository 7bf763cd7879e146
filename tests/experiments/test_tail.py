"""The tail of regret: stuck runs and intervals of quantiles."""

from __future__ import annotations

import numpy as np
import pytest

from driftanchor.core.wilson import wilson
from driftanchor.experiments import tail


def test_a_stuck_run_lost_half_of_what_the_second_best_arm_loses() -> None:
    gaps = np.array([0.0, 0.3, 0.1])
    final = np.array([49.9, 50.0, 50.1, 300.0])
    assert tail.stuck_share(final, gaps, 1_000) == 0.5
    assert tail.stuck_share(final, np.zeros(3), 1_000) == 0.0


def test_a_quantile_interval_covers_the_quantile_in_95_of_100_samples() -> None:
    """2,000 samples of 500: the share has a standard error of 0.5 %; 91.5 to 98.5 is 7 of them."""
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(2_000):
        low, high = tail.quantile_interval(rng.random(500), 0.9)
        hits += low <= 0.9 <= high
    assert 0.915 < hits / 2_000 < 0.985


def test_an_interval_of_few_runs_stays_within_them() -> None:
    assert tail.quantile_interval(np.array([3.0]), 0.99) == (3.0, 3.0)
    low, high = tail.quantile_interval(np.arange(20.0), 0.99)
    assert (low, high) == (17.0, 19.0)


@pytest.mark.parametrize(("share", "n"), [(0.0, 10), (1.0, 10), (0.5, 1)])
def test_a_share_that_is_never_or_always_has_an_end_at_it(share: float, n: int) -> None:
    low, high = wilson(share, n)
    assert 0.0 <= low <= share <= high <= 1.0
    assert (low == share) == (share == 0)
    assert (high == share) == (share == 1)
