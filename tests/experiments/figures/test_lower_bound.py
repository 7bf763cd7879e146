from __future__ import annotations

import math

import numpy as np
import pytest

from driftanchor.experiments.figures import lower_bound
from driftanchor.render.figure import blank
from driftanchor.simulation.bandit import Bandit
from driftanchor.theory import kl_bernoulli


def test_the_rate_is_that_of_the_law_of_rewards() -> None:
    assert lower_bound.rate(Bandit([0.8, 0.5, 0.7], noise=2.0)) == pytest.approx(8 / 0.3 + 8 / 0.1)
    coins = Bandit([0.6, 0.5], reward="bernoulli")
    assert lower_bound.rate(coins) == pytest.approx(0.1 / float(kl_bernoulli(0.5, 0.6)))


@pytest.mark.parametrize(
    "bandit",
    [
        Bandit([0.6, 0.5], [0.6, 0.5], offline_pulls=5),
        Bandit([0.6, 0.5], reward="student"),
        Bandit([0.5, 0.5]),
    ],
)
def test_it_says_nothing_of_logs_of_other_laws_or_of_equal_arms(bandit: Bandit) -> None:
    axes = blank(3.0, 2.0).subplots()
    assert math.isnan(lower_bound.rate(bandit))
    assert lower_bound.draw(axes, bandit, 1000, 5.0) == 5.0
    assert not axes.lines
    assert not axes.texts


def test_the_line_starts_where_so_much_can_be_lost() -> None:
    axes = blank(3.0, 2.0).subplots()
    bandit = Bandit([0.8, 0.5])
    top = lower_bound.draw(axes, bandit, 10_000, 50.0)
    rounds, lost = (np.asarray(values) for values in axes.lines[0].get_data())
    assert lost[-1] == pytest.approx(2 / 0.3 * math.log(10_000)) == top
    drawn = ~np.isnan(lost)
    assert (lost[drawn] <= 0.3 * rounds[drawn]).all()
    assert np.isnan(lost[0])


def test_a_line_far_above_the_curves_is_only_named() -> None:
    axes = blank(3.0, 2.0).subplots()
    assert lower_bound.draw(axes, Bandit([0.8, 0.5]), 10_000, 5.0) == 5.0
    assert [text.get_text() for text in axes.texts] == ["Lai–Robbins: 61.4"]
