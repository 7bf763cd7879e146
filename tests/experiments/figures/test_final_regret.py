from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from driftanchor.experiments import figures, spec

if TYPE_CHECKING:
    from conftest import Measured


def test_one_run_and_words_on_the_axis_can_be_drawn(measured: Measured) -> None:
    text = """
policies = ["ts"]
runs = 1
horizon = 20
figure = "versus"
[[sweep]]
vary.coverage = ["uniform", "optimal"]
"""
    experiment = spec.parse(text, "words.toml")
    mean, tail = figures.draw(experiment, measured(experiment)).figure.get_axes()
    assert [tick.get_text() for tick in tail.get_xticklabels()] == ["uniform", "optimal"]
    assert (mean.get_title(loc="left"), tail.get_title(loc="left")) == ("(a)", "(b) 99 %:")


def test_the_same_numbers_are_drawn_side_by_side(measured: Measured) -> None:
    experiment = spec.load("misspecified", runs=3, horizon=50)
    outcomes = measured(experiment)
    one = next(iter(outcomes.values()))
    drawing = figures.draw(experiment, dict.fromkeys(outcomes, one))
    figure = drawing.figure
    figure.draw_without_rendering()
    lines = figure.get_axes()[0].lines
    drawn = [line.get_transform().transform(line.get_xydata())[0] for line in lines]
    assert len({tuple(np.round(place, 3)) for place in drawn}) == len(lines) == 5
