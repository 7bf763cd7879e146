from __future__ import annotations

import numpy as np

from driftanchor.experiments.figures import zoom
from driftanchor.render import palette
from driftanchor.render.figure import blank

ROUNDS = np.linspace(0.0, 1000.0, 11)
LOOKS = palette.looks({"ts": "ts", "ucb": "ucb", "min-ucb": "min-ucb"})


def windows(**ends: float) -> int:
    axes = blank(3.0, 2.0).subplots()
    axes.set_ylim(0, 100)
    shape = np.minimum(ROUNDS / 200, 1)
    means = {name.replace("_", "-"): end * shape for name, end in ends.items()}
    drawn = zoom.draw(axes, ROUNDS, means, LOOKS)
    assert drawn == bool(axes.child_axes)
    return len(axes.child_axes)


def test_low_curves_get_a_window() -> None:
    assert windows(ts=90.0, ucb=4.0, min_ucb=5.0) == 1


def test_there_is_none_for_one_curve_or_where_there_is_no_room() -> None:
    assert windows(ts=90.0, ucb=80.0, min_ucb=5.0) == 0
    assert windows(ts=90.0, ucb=70.0, min_ucb=60.0) == 0
    assert windows(ts=25.0, ucb=4.0, min_ucb=5.0) == 0
