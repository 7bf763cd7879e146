"""The largest of normal numbers: exact where a formula exists, and against draws elsewhere."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from driftanchor.core.check import Floats
from driftanchor.core.stats.largest import Loss, best_chances, loss_of

DRAWS = 150_000


def largest(
    means: list[list[float]], sds: list[list[float]], weights: list[float], chosen: int
) -> tuple[Floats, Loss]:
    believed = np.array(means), np.array(sds), np.array(weights)
    return best_chances(*believed), loss_of(*believed, chosen)


@pytest.mark.parametrize(
    ("gap", "first", "second"), [(0.3, 1.0, 1.0), (0.0, 1e-4, 2.0), (5.0, 0.1, 3.0)]
)
def test_two_numbers_have_a_formula(gap: float, first: float, second: float) -> None:
    sd = math.hypot(first, second)
    z = gap / sd
    chances, loss = largest([[gap, 0.0]], [[first, second]], [1.0], 0)
    normal = NormalDist()
    assert chances == pytest.approx([normal.cdf(z), normal.cdf(-z)], abs=1e-6)
    assert loss.mean == pytest.approx(sd * normal.pdf(z) - gap * normal.cdf(-z), abs=1e-6 * sd)
    expected = max(sd * normal.inv_cdf(0.95) - gap, 0.0)
    assert loss.quantile == pytest.approx(expected, abs=3e-4 * sd)


CASES = [
    ([[0.5, 0.48, 0.3, 0.1]], [[0.01, 0.03, 0.2, 0.02]], [1.0]),
    ([[0.5, 0.5, 0.5], [0.9, 0.5, 0.1]], [[0.1, 0.2, 0.1], [0.1, 0.2, 0.3]], [0.7, 0.3]),
    ([[0.0] * 40], [[1.0] * 39 + [0.001]], [1.0]),
    ([[3.0, 0.0, 0.0]], [[0.1, 1.0, 0.001]], [1.0]),
]


@pytest.mark.parametrize(("means", "sds", "weights"), CASES)
@pytest.mark.parametrize("chosen", [0, 2])
def test_it_is_what_draws_say(
    means: list[list[float]], sds: list[list[float]], weights: list[float], chosen: int
) -> None:
    """Within five standard errors of 150,000 draws: wrong at a rate of 1e-5."""
    rng = np.random.default_rng(1)
    mean, sd = np.array(means), np.array(sds)
    row = rng.choice(len(weights), DRAWS, p=weights)
    drawn: Floats = mean[row] + sd[row] * rng.normal(size=(DRAWS, mean.shape[1]))
    losses = drawn.max(axis=1) - drawn[:, chosen]
    chances, loss = largest(means, sds, weights, chosen)
    shares = np.bincount(drawn.argmax(axis=1), minlength=mean.shape[1]) / DRAWS
    assert chances == pytest.approx(shares, abs=5 * 0.5 / math.sqrt(DRAWS))
    near = 5 * losses.std() / math.sqrt(DRAWS) + 1e-6
    assert loss.mean == pytest.approx(losses.mean(), abs=near)
    above = float((losses > loss.quantile).mean())
    assert above == pytest.approx(0.05, abs=5 * 0.22 / math.sqrt(DRAWS)) or loss.quantile == 0
    if loss.quantile == 0:
        assert (losses > 0).mean() < 0.05


def test_many_arms_take_no_long_time_and_add_up() -> None:
    rng = np.random.default_rng(2)
    means = rng.normal(0.5, 0.02, (1, 2_000))
    believed = means, np.full((1, 2_000), 0.01), np.ones(1)
    assert best_chances(*believed).sum() == pytest.approx(1)
    assert 0 < loss_of(*believed, int(means.argmax())).mean < 0.05


def test_a_hopeless_choice_loses_all_of_the_gap() -> None:
    chances, loss = largest([[0.0, 50.0]], [[1.0, 1.0]], [1.0], 0)
    assert loss.mean == pytest.approx(50.0, abs=1e-4)
    assert chances == pytest.approx([0.0, 1.0], abs=1e-9)


def test_a_sure_choice_loses_nothing() -> None:
    _, loss = largest([[50.0, 0.0]], [[1.0, 1.0]], [1.0], 0)
    assert loss.mean == pytest.approx(0.0, abs=1e-9)
    assert loss.quantile == 0.0
