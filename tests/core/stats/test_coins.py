"""Rewards of 0 and 1 are known by their variance."""

import math

import numpy as np
import pytest

from driftanchor.core.stats.coins import like_coins


@pytest.mark.parametrize("rewards", [[0.0, 1.0], [1.0] * 7, [0.0] * 99 + [1.0], [1.0], [0.0]])
def test_coins_are_coins(rewards: list[float]) -> None:
    variance = np.var(rewards, ddof=1) if len(rewards) > 1 else math.nan
    assert like_coins(len(rewards), float(np.mean(rewards)), float(variance))


@pytest.mark.parametrize("rewards", [[0.0, 0.5, 1.0], [2.0, 2.0], [-1.0, 1.0], [0.5], [0.3, 0.3]])
def test_others_are_not(rewards: list[float]) -> None:
    variance = np.var(rewards, ddof=1) if len(rewards) > 1 else math.nan
    assert not like_coins(len(rewards), float(np.mean(rewards)), float(variance))


def test_many_at_once_and_unknown_variances() -> None:
    n, mean = np.array([4, 4, 1, 4]), np.array([0.5, 0.5, 1.0, 0.5])
    variance = np.array([1 / 3, math.nan, math.nan, 0.2])
    assert np.asarray(like_coins(n, mean, variance)).tolist() == [True, False, True, False]
