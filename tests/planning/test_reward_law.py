from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from driftanchor import OfflineData
from driftanchor.errors import InvalidInput
from driftanchor.planning.reward_law import RewardLaw, draw_means, law_of

if TYPE_CHECKING:
    from conftest import Chance

ANY = (-math.inf, math.inf)


def data(**rows: Any) -> OfflineData:
    return OfflineData.from_summary(rows)


@pytest.mark.parametrize(
    ("logs", "name", "noise"),
    [
        (data(A=(4, 0.5, 1 / 3), B=(5, 0.2, 0.2)), "bernoulli", 0.5),
        (data(A=(4, 0.5, 1 / 3), B=(1, 1.0), C=(0,)), "bernoulli", 0.5),
        (data(A=(9, 0.0, 0.0), B=(9, 1.0, 0.0)), "bernoulli", 0.5),
        (data(A=(4, 0.5, 0.25), B=(5, 0.2, 0.25)), "gaussian", 0.5),
        (data(A=(4, 5.0, 4.0), B=(4, 7.0, 4.0), C=(9, 6.0)), "gaussian", 2.0),
    ],
)
def test_the_law_that_logs_suggest(logs: OfflineData, name: str, noise: float) -> None:
    law = law_of(logs, "auto", ANY)
    assert law.name == name
    assert law.noise == pytest.approx(noise)


def test_the_law_that_is_asked_for() -> None:
    logs = data(A=(4, 0.5, 1 / 3), B=(5, 0.2, 0.2))
    assert law_of(logs, "gaussian", ANY).name == "gaussian"
    unknown = data(A=(4, 0.5), B=(5, 0.2))
    assert law_of(unknown, "bernoulli", ANY).name == "bernoulli"
    assert law_of(unknown, "auto", (0.0, 4.0)).noise == 2.0


@pytest.mark.parametrize(
    ("logs", "asked", "message"),
    [
        (data(A=(4, 0.5), B=(5, 0.2)), "auto", "the logs have no variances, so the noise of"),
        (data(A=(4, 3.0, 0.0), B=(5, 2.0, 0.0)), "auto", "the logged rewards of each arm are all"),
        (data(A=(4, 3.0), B=(5, 0.2)), "bernoulli", "law is 'bernoulli' and the logged means go"),
    ],
)
def test_logs_that_suggest_none(logs: OfflineData, asked: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        law_of(logs, asked, ANY)


def test_coins_that_the_logs_contradict_are_told() -> None:
    logs = data(A=(900, 0.5, 0.25), B=(100, 0.45, 0.01))
    with pytest.warns(UserWarning, match="not all 0 or 1: those of arm 'B' have the variance 0.01"):
        assert law_of(logs, "bernoulli", ANY).name == "bernoulli"
    rounded = data(A=(900, 0.5, 0.25), B=(100, 0.45, 0.25))
    assert law_of(rounded, "bernoulli", ANY).name == "bernoulli"


def test_means_are_drawn_from_their_posterior(chance: Chance) -> None:
    # 4 comparisons, each false alarm 1e-6
    logs = data(A=(100, 5.0, 4.0), B=(25, 7.0, 4.0))
    drawn = draw_means(RewardLaw("gaussian", 2.0, ""), logs, 20_000, 3)
    for arm, (mean, sd) in enumerate([(5.0, 0.2), (7.0, 0.4)]):
        there = mean + sd * np.random.default_rng(arm).standard_normal(20_000)
        chance.same_mean(drawn[:, arm], there, false_alarm=1e-6)
        chance.same_mean((drawn[:, arm] - mean) ** 2, (there - mean) ** 2, false_alarm=1e-6)


def test_rates_are_drawn_from_their_posterior(chance: Chance) -> None:
    # 2 comparisons, each false alarm 1e-6; Beta(8.5, 92.5) has mean 8.5/101
    logs = data(A=(100, 0.08, 0.07434), B=(0,))
    drawn = draw_means(RewardLaw("bernoulli", 0.5, ""), logs, 20_000, 3)
    assert ((drawn > 0) & (drawn < 1)).all()
    there = np.random.default_rng(0).beta(8.5, 92.5, 20_000)
    for arm in (0, 1):  # an arm without logs is like the other, but not the same
        chance.same_mean(drawn[:, arm], there, false_alarm=1e-6)
    assert (drawn[:, 0] != drawn[:, 1]).all()
