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
from driftanchor.experiments.figures.print_page import WIDE, Page
from driftanchor.experiments.outcome import Outcomes
from driftanchor.render.figure import PRINT, sheet

KINDS: dict[str, Callable[[Experiment, Outcomes, Page], Drawing]] = {
    "curves": regret_curves.draw,
    "versus": final_regret.draw,
    "quantiles": quantile_curves.draw,
    "tradeoff": tradeoff.draw,
}


def draw(experiment: Experiment, outcomes: Outcomes, page: Page = WIDE) -> Drawing:
    """The figure of an experiment, for a page of this width."""
    with sheet(PRINT):
        return KINDS[experiment.figure](experiment, outcomes, page)
