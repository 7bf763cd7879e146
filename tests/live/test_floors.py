"""Floors: the probabilities they make, and the draws that keep to them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftanchor import InvalidInput
from driftanchor.live.floors import checked, floor_choice, mixed, playable_floors

FLOORS = st.lists(st.floats(0, 0.2), min_size=1, max_size=5).map(np.array)


@given(FLOORS, st.data())
def test_mixed_probabilities_are_probabilities_above_the_floors(
    floors: np.typing.NDArray[np.float64], data: st.DataObject
) -> None:
    weights = data.draw(
        st.lists(st.floats(0.01, 1), min_size=floors.size, max_size=floors.size).map(np.array)
    )
    shares = mixed(weights / weights.sum(), floors)
    assert shares.sum() == pytest.approx(1.0)
    assert (shares >= floors).all()
    assert mixed(weights, np.zeros(floors.size)) == pytest.approx(weights)


def test_draws_keep_to_the_mixed_probabilities() -> None:
    """Of 40,000 draws, 5 sds: a right program fails with a chance below 1e-5."""
    own, floors = np.array([0.7, 0.3, 0.0]), np.array([0.0, 0.05, 0.1])
    rng, n = np.random.default_rng(2), 40_000
    counts = np.zeros(3)
    for u, v in rng.random((n, 2)):
        column = floor_choice(floors, u)
        counts[(0 if v < 0.7 else 1) if column is None else column] += 1
    truth = mixed(own, floors)
    for share, p in zip(counts / n, truth, strict=True):
        assert abs(share - p) <= 5 * math.sqrt(p * (1 - p) / n)


@given(FLOORS, st.floats(0, 1, exclude_max=True))
def test_an_arm_without_a_floor_is_never_decided_for(
    floors: np.typing.NDArray[np.float64], u: float
) -> None:
    column = floor_choice(floors, u)
    if column is None:
        assert u >= floors.sum() or u == pytest.approx(floors.sum())
    else:
        assert floors[column] > 0


def test_an_arm_that_cannot_be_played_has_no_floor() -> None:
    floors = playable_floors(np.array([0.1, 0.2]), np.array([False, True]))
    assert floors.tolist() == [0.0, 0.2]
    assert mixed(np.array([0.0, 1.0]), floors).tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("floors", "why"),
    [([-0.1, 0.2], "between 0 and 1, got -0.1"), ([0.6, 0.6], "add up to 1.2")],
)
def test_floors_that_cannot_be_kept_are_refused(floors: list[float], why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        checked(np.array(floors))
    assert checked(np.array([0.5, 0.5])).tolist() == [0.5, 0.5]
