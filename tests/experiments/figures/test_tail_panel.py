from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from driftanchor.experiments import spec
from driftanchor.experiments.figures import tail_panel
from driftanchor.experiments.figures.drawing import policies_of
from driftanchor.render import palette
from driftanchor.render.figure import blank

if TYPE_CHECKING:
    from conftest import Measured


def test_every_policy_has_its_place_beside_the_others(measured: Measured) -> None:
    experiment = spec.load("location", runs=3, horizon=50)
    cells = experiment.cells[:2]
    outcomes = measured(experiment)
    looks = palette.looks(policies_of(cells))
    axes = blank(3.3, 2.0).subplots()
    tail_panel.draw(axes, cells, ["(a)", "(b)"], outcomes, looks)
    points = [np.asarray(line.get_data(), np.float64) for line in axes.lines[: len(looks)]]
    places = np.concatenate([x for x, _ in points])
    assert len(set(places.round(6))) == len(places) == 2 * len(looks)
    assert points[0][1][0] == np.quantile(outcomes[cells[0].id, "ts"].final, 0.99)
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["(a)", "(b)"]
    assert axes.get_yscale() == "log"
