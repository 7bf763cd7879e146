"""All figures of some experiments, drawn for pages of all widths."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from driftanchor.experiments import figures
from driftanchor.experiments.experiment import Experiment
from driftanchor.experiments.figures import pulls_saved
from driftanchor.experiments.figures.drawing import Words
from driftanchor.experiments.figures.print_page import PAGES, Page
from driftanchor.experiments.outcome import Outcomes
from driftanchor.render import figure


class Drawn(NamedTuple):
    """The words of the figures of one page, and their files."""

    words: list[Words]
    files: list[Path]


def draw_all(experiments: tuple[Experiment, ...], outcomes: Outcomes, folder: Path) -> list[Drawn]:
    """Draw and save the figures of experiments for all `PAGES`."""
    return [_draw_page(experiments, outcomes, page, folder) for page in PAGES]


def _draw_page(
    experiments: tuple[Experiment, ...], outcomes: Outcomes, page: Page, folder: Path
) -> Drawn:
    drawings = [figures.draw(experiment, outcomes, page) for experiment in experiments]
    theory = pulls_saved.draw(experiments, outcomes, page)
    drawings += [theory] if theory is not None else []
    files: list[Path] = []
    with figure.sheet():
        for drawing in drawings:
            files += figure.save(drawing.figure, folder / page.folder, drawing.name)
    return Drawn([drawing.words for drawing in drawings], files)
