"""What is known of the gaps of random bandits, against draws of them."""

from __future__ import annotations

import numpy as np
import pytest

from driftanchor import Law, random_bandit, simulate
from driftanchor.simulation.result import DrawnGaps, drawn_gaps

LAWS = [Law.normal(3, 2), Law.uniform(-1, 1), Law.beta(40, 60), Law.beta(1, 1)]


def drawn(law: Law, arms: int, runs: int = 20_000) -> DrawnGaps:
    found = drawn_gaps(random_bandit(law, arms, common_shift=0.1), 7, runs, compiled=True)
    assert found is not None
    return found


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("arms", [2, 9])
def test_hedges_are_above_the_gaps_and_have_the_mean_they_say(law: Law, arms: int) -> None:
    """20,000 runs and 16 means, each within 5.5 standard errors: false alarm 1e-6."""
    found = drawn(law, arms)
    hedges, means = found.hedges()
    assert (hedges >= found.best - found.worst).all()
    errors = hedges.std(axis=1) / np.sqrt(20_000)
    assert (np.abs(hedges.mean(axis=1) - means) <= 5.5 * errors + 1e-9).all()
    assert (hedges.std(axis=1) < 0.6 * np.std(found.best - found.worst)).all()


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_few_gaps_exceed_a_quantile(law: Law) -> None:
    """20,000 gaps: 5 standard deviations above 1 − q, false alarm 1e-5 for all."""
    found = drawn(law, 5)
    for q in (0.5, 0.9, 0.99):
        share = float((found.best - found.worst > found.quantile(q)).mean())
        assert share <= 1 - q + 5 * np.sqrt(q * (1 - q) / 20_000)
        assert found.quantile(q) <= law.ends[1] - law.ends[0]


def test_means_that_do_not_vary_have_no_gap() -> None:
    assert drawn(Law.normal(1, 0), 3, runs=4).quantile(0.9) == 0.0
    assert simulate("ts", random_bandit(Law.normal(1, 0), 2), horizon=5, runs=2).drawn is not None
