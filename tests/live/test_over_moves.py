"""Means over a normal move, against closed forms."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from driftanchor.core.check import Floats
from driftanchor.live import over_moves as module
from driftanchor.live.over_moves import over_moves

PHI = np.vectorize(NormalDist().cdf)


@pytest.mark.parametrize("slope", [0.0, 0.3, 1.0, 2.5, 20.0, 1e3])
@pytest.mark.parametrize("place", [-1.0, 0.0, 0.4, 3.0])
def test_the_mean_of_a_smooth_step(slope: float, place: float) -> None:
    """E Φ(b (z − a)) = Φ(−a b/√(1 + b²))."""
    truth = NormalDist().cdf(-place * slope / math.hypot(1.0, slope))
    for sharpness in (slope * slope, math.inf):
        mean = over_moves(lambda z: PHI(slope * (z - place))[:, None], sharpness, [])
        assert mean == pytest.approx([truth], abs=1e-6)


@pytest.mark.parametrize("switches", [[], [0.3], [0.3, 7.0], np.linspace(-3, 3, 50).tolist()])
def test_the_mean_of_a_jump(switches: list[float]) -> None:
    def jump(z: Floats) -> Floats:
        return np.stack([z > 0.3, z <= 0.3], axis=1).astype(np.float64)

    truth = NormalDist().cdf(0.3)
    assert over_moves(jump, math.inf, switches) == pytest.approx([1 - truth, truth], abs=2e-6)


def test_smooth_functions_need_few_places() -> None:
    asked: list[int] = []

    def smooth(z: Floats) -> Floats:
        asked.append(z.size)
        column: Floats = PHI(z)[:, None]
        return column

    over_moves(smooth, 1.0, [])
    assert asked == [17]
    over_moves(smooth, math.inf, [])
    assert asked[1:] == [15, 15, 15]


def test_functions_sharper_than_said_are_noticed() -> None:
    mean = over_moves(lambda z: (z > 0.31)[:, None].astype(np.float64), 0.0, [])
    assert mean == pytest.approx([1 - NormalDist().cdf(0.31)], abs=2e-6)
    assert module.AGREE < 0.1
