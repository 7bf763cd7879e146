"""The figures of experiments: one file for each kind, named by `figure` in a TOML file."""

from __future__ import annotations

from collections.abc import Callable

from driftanchor.experiments.experiment import Experiment
from driftanchor.experiments.figures import (
    final_regret,
    quantile_curves,
    regret_curves,
    tradeoff,
)
from driftanchor.experiments.figures.drawing import Drawing
from driftanchor.experiments.outcome import Outcomes

KINDS: dict[str, Callable[[Experiment, Outcomes], Drawing]] = {
    "curves": regret_curves.draw,
    "versus": final_regret.draw,
    "quantiles": quantile_curves.draw,
    "tradeoff": tradeoff.draw,
}


def draw(experiment: Experiment, outcomes: Outcomes) -> Drawing:
    """The figure of an experiment."""
    return KINDS[experiment.figure](experiment, outcomes)
