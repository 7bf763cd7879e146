from __future__ import annotations

import math

import numpy as np
import pytest

from driftanchor.experiments import spec
from driftanchor.experiments.figures import promised_pulls
from driftanchor.simulation.bandit import Bandit

CELLS = {cell.id: cell.bandit for name in ("fig1", "fig2") for cell in spec.load(name).cells}
BIASED = CELLS["fig2/offline=2000/coverage=uniform"]  # N = 200, ω = 0.2, Δ = 0.3
UNBIASED = CELLS["fig1/gap=0.3/coverage=uniform"]  # N = 200, ω = 0


def test_the_promises_by_the_logs_of_an_arm_are_those_of_the_theorems() -> None:
    assert promised_pulls.by_own_logs(BIASED, 10_000) == 0.0
    assert promised_pulls.for_min_ucb(BIASED, 10_000) == pytest.approx(200 / 9)
    assert promised_pulls.by_own_logs(UNBIASED, 10_000) == pytest.approx(200)
    many = promised_pulls.for_min_ucb(UNBIASED, 100)  # never more than there is to save
    assert many == pytest.approx(2 / 0.09 * np.log(100))


def test_logs_of_the_best_arm_save_up_to_their_number() -> None:
    """The second term of Theorem 1, (C₂ log T/Δ² − N₁)₊, also with biased logs."""
    term = math.log(10_000) / 0.09
    for bandit in (BIASED, UNBIASED):
        assert promised_pulls.by_best_logs(bandit, 10_000) == pytest.approx(min(200, term))
    few = Bandit([0.8, 0.5], [0.8, 0.5], offline_pulls=[40, 0], bias_bound=0.0, noise=2.0)
    assert promised_pulls.by_best_logs(few, 10_000) == pytest.approx(40)
    assert promised_pulls.by_best_logs(few, 2) == pytest.approx(4 * math.log(2) / 0.09)


def test_a_broken_bias_bound_of_the_best_arm_promises_nothing() -> None:
    broken = Bandit([0.8, 0.5], [0.5, 0.5], offline_pulls=[40, 40], bias_bound=0.1)
    assert promised_pulls.by_best_logs(broken, 10_000) == 0.0
