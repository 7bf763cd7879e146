from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from driftanchor.errors import InvalidInput
from driftanchor.experiments import figures, spec
from driftanchor.experiments.outcome import Outcome

FILE = (Path(__file__).parents[1] / "named_sweeps.toml").read_text(encoding="utf-8")


def outcomes(finals: dict[str, list[float]]) -> dict[tuple[str, str], Outcome]:
    found = {}
    for cell in spec.parse(FILE, "mine.toml").cells:
        for label, final in finals.items():
            values = np.array(final)
            found[cell.id, label] = Outcome(
                values, values[:, None], np.zeros((4, 2), np.int64), 9.0
            )
    return found


def test_points_are_multiples_of_ts() -> None:
    finals = {"ts": [2.0, 2.0, 2.0, 2.0], "ucb": [1.0, 1.0, 1.0, 5.0], "quick": [1.0] * 4}
    drawing = figures.draw(spec.parse(FILE, "mine.toml"), outcomes(finals))
    first, second = (axes for axes in drawing.figure.get_axes() if axes.lines)
    titles = [axes.get_title(loc="left") for axes in (first, second)]
    assert titles == ["(a) UCB", "(b) quick"]
    x, y = (np.asarray(values) for values in first.lines[0].get_data())
    assert x.tolist() == [1.0, 1.0]  # two cells of the first sweep
    assert y == pytest.approx([2.44, 2.44])
    assert "UCB: mean at most TS's in 3 of 3, 99 % in 0" in drawing.alt
    assert "quick: mean at most TS's in 3 of 3, 99 % in 3" in drawing.alt
    assert "one point for each of 3 cells" in drawing.caption


def test_a_tradeoff_needs_ts_and_another() -> None:
    alone = spec.parse(FILE.replace('"ts", ', ""), "mine.toml")
    with pytest.raises(InvalidInput, match="a tradeoff needs 'ts' and other policies"):
        figures.draw(alone, outcomes({"ucb": [1.0] * 4, "quick": [1.0] * 4}))
