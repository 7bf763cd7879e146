"""Means over a normal move, against closed forms."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from driftanchor.core.check import Floats
from driftanchor.live.over_moves import over_moves

PHI = np.vectorize(NormalDist().cdf)


@pytest.mark.parametrize("slope", [0.0, 0.3, 1.0, 2.5, 20.0, 1e3])
@pytest.mark.parametrize("place", [-1.0, 0.0, 0.4, 3.0])
def test_the_mean_of_a_smooth_step(slope: float, place: float) -> None:
    """E Φ(b (z − a)) = Φ(−a b/√(1 + b²))."""
    truth = NormalDist().cdf(-place * slope / math.hypot(1.0, slope))
    for switches in ([], [0.1]):
        mean = over_moves(lambda z: PHI(slope * (z - place))[:, None], switches)
        assert mean == pytest.approx([truth], abs=1e-6)


@pytest.mark.parametrize("switches", [[], [0.3], [0.3, 7.0], np.linspace(-3, 3, 50).tolist()])
def test_the_mean_of_a_jump(switches: list[float]) -> None:
    def jump(z: Floats) -> Floats:
        return np.stack([z > 0.3, z <= 0.3], axis=1).astype(np.float64)

    truth = NormalDist().cdf(0.3)
    assert over_moves(jump, switches) == pytest.approx([1 - truth, truth], abs=2e-6)


def test_smooth_functions_need_few_places() -> None:
    asked: list[int] = []

    def smooth(z: Floats) -> Floats:
        asked.append(z.size)
        column: Floats = PHI(z)[:, None]
        return column

    over_moves(smooth, [])
    assert asked == [17]


@pytest.mark.parametrize("place", [-2.0, 0.31, 1.1])
def test_jumps_and_kinks_that_nobody_named_are_noticed(place: float) -> None:
    jump = over_moves(lambda z: (z > place)[:, None].astype(np.float64), [])
    assert jump == pytest.approx([1 - NormalDist().cdf(place)], abs=1e-6)
    kink = over_moves(lambda z: np.maximum(0.2 * (z - place), 0.0)[:, None], [])
    above = NormalDist().pdf(place) - place * (1 - NormalDist().cdf(place))
    assert kink == pytest.approx([0.2 * above], abs=3e-6)
