"""Standard errors, summaries, and binary rewards."""

import math

import numpy as np
import pytest

from driftanchor.core.stats.summary import is_binary, standard_error, summarise


def test_a_summary_has_what_was_asked_for_in_its_order() -> None:
    values = np.arange(101.0)
    summary = summarise(values, {"median": 0.5, "q95": 0.95})
    assert list(summary) == ["mean", "se", "median", "q95", "max"]
    assert summary["se"] == pytest.approx(values.std(ddof=1) / math.sqrt(101))
    assert (summary["mean"], summary["median"], summary["q95"], summary["max"]) == (50, 50, 95, 100)


def test_a_single_value_has_no_standard_error() -> None:
    assert np.isnan(standard_error(np.ones((1, 3)))).all()
    assert math.isnan(summarise(np.ones(1), {})["se"])


@pytest.mark.parametrize("rewards", [[0.0, 1.0], [1.0] * 7, [0.0] * 99 + [1.0], [1.0], [0.0]])
def test_binary_rewards_are_recognised(rewards: list[float]) -> None:
    variance = np.var(rewards, ddof=1) if len(rewards) > 1 else math.nan
    assert is_binary(len(rewards), float(np.mean(rewards)), float(variance))


@pytest.mark.parametrize("rewards", [[0.0, 0.5, 1.0], [2.0, 2.0], [-1.0, 1.0], [0.5], [0.3, 0.3]])
def test_other_rewards_are_not_binary(rewards: list[float]) -> None:
    variance = np.var(rewards, ddof=1) if len(rewards) > 1 else math.nan
    assert not is_binary(len(rewards), float(np.mean(rewards)), float(variance))


def test_several_arms_and_unknown_variances() -> None:
    n, mean = np.array([4, 4, 1, 4]), np.array([0.5, 0.5, 1.0, 0.5])
    variance = np.array([1 / 3, math.nan, math.nan, 0.2])
    assert is_binary(n, mean, variance).tolist() == [True, False, True, False]
