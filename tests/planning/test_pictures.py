"""What the pictures draw where losses are 0."""

from __future__ import annotations

import pytest

from driftanchor.planning.pictures import _scale
from driftanchor.render.figure import blank, sheet


@pytest.mark.parametrize(
    ("means", "scale"),
    [
        ([5.0, 9.0, 0.0], "linear"),
        ([1.0, 400.0], "log"),
        ([0.0, 1.0, 400.0], "symlog"),
        ([1e-9, 1.0, 400.0], "symlog"),
    ],
)
def test_zeros_stay_on_the_axis(means: list[float], scale: str) -> None:
    with sheet():
        axes = blank(4, 3).subplots()
        _scale(axes, means)
        axes.plot(range(len(means)), means)
        assert axes.get_yscale() == scale
        if scale == "symlog":
            low, high = axes.transData.transform([(0, 0.0), (0, 400.0)])[:, 1]
            assert 0 < low < high
