from __future__ import annotations

from typing import TYPE_CHECKING

from driftanchor.experiments import figures, spec
from driftanchor.experiments.figures.lower_bound import NAME

if TYPE_CHECKING:
    from conftest import Measured


def test_halves_have_the_papers_letters_and_their_tails_below(measured: Measured) -> None:
    experiment = spec.load("fig1", runs=3, horizon=50)
    drawing = figures.draw(experiment, measured(experiment))
    titles = [axes.get_title(loc="left").strip() for axes in drawing.figure.get_axes()]
    assert titles[:2] == ["(a) logs on all arms alike"] * 2
    assert titles[-2:] == ["(d) 99 % quantile at the end"] * 2
    (legend,) = drawing.figure.legends
    shown = [text.get_text() for text in legend.get_texts()]
    assert shown == ["TS", "UCB", "hybrid TS", "hybrid UCB", "MIN-UCB", "Anchor-TS"]
    assert "Lai and Robbins" not in drawing.caption


def test_without_logs_the_rate_of_lai_and_robbins_is_named(measured: Measured) -> None:
    experiment = spec.load("fig7", runs=3, horizon=50)
    drawing = figures.draw(experiment, measured(experiment))
    (legend,) = drawing.figure.legends
    assert legend.get_texts()[-1].get_text() == NAME
    assert "Σ 2σ² log t/Δ" in drawing.caption


def test_the_captions_say_of_how_many_runs_curves_are(measured: Measured) -> None:
    experiment = spec.load("bernoulli", runs=3, horizon=50)
    first = type(experiment)(**{**vars(experiment), "drawn_runs": 2})
    outcomes = measured(experiment)
    assert "mean of 3 runs" in figures.draw(experiment, outcomes).caption
    assert "mean of the first 2 runs" in figures.draw(first, outcomes).caption
