"""The picture of the moves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from weekly_logs import suggested, weeks

from driftanchor.core.arms import Arms
from driftanchor.core.offline import OfflineData
from driftanchor.errors import InvalidInput
from driftanchor.shift import suggest


def test_plots_are_written(tmp_path: Path) -> None:
    found = suggested()
    for suffix in ("svg", "png", "pdf"):
        path = tmp_path / f"moves.{suffix}"
        found.plot(path)
        assert path.stat().st_size > 5_000
    path = tmp_path / "one_arm.svg"
    suggest(weeks((0.5,), (0.6,), (0.55,))).plot(path)  # without own moves
    assert path.stat().st_size > 5_000


def test_plots_of_many_arms_and_odd_labels(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    labels = [f"${i}$ " + "x" * 40 for i in range(30)]
    many = {
        f"period {e}": OfflineData(Arms(labels), [100] * 30, rng.normal(0, 1, 30), [1.0] * 30)
        for e in range(15)
    }
    found = suggest(many)
    found.plot(tmp_path / "many.svg")
    with pytest.raises(InvalidInput, match=r"must end in one of .png, .pdf, .svg, got 'x.gif'"):
        found.plot("x.gif")
