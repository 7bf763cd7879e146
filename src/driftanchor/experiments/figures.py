"""Figures: what an experiment measured, drawn as its file asks."""

from __future__ import annotations

from driftanchor.experiments import curves, quantiles, tradeoff, versus
from driftanchor.experiments.panels import Drawing
from driftanchor.experiments.spec import Experiment
from driftanchor.experiments.sweep import Outcomes

_KINDS = {
    "curves": curves.draw,
    "versus": versus.draw,
    "quantiles": quantiles.draw,
    "tradeoff": tradeoff.draw,
}


def draw(experiment: Experiment, outcomes: Outcomes) -> Drawing:
    """The figure of an experiment."""
    return _KINDS[experiment.figure](experiment, outcomes)
