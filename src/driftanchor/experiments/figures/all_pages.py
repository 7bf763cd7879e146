"""All figures, drawn for pages of all widths: where they are many, a process for each page."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from driftanchor.experiments import figures
from driftanchor.experiments.experiment import Experiment
from driftanchor.experiments.figures import pulls_saved
from driftanchor.experiments.figures.drawing import Words
from driftanchor.experiments.figures.print_page import PAGES, Page
from driftanchor.experiments.outcome import Outcomes
from driftanchor.render import figure
from driftanchor.simulation.machine import threads_to_use
from driftanchor.simulation.processes import Processes, can_be_sent

WORTH_PROCESSES = 60  # cells: they take some ten seconds, and a process starts in two


class Order(NamedTuple):
    """What is drawn, for which page, and the folder of all figures."""

    experiments: tuple[Experiment, ...]
    outcomes: Outcomes
    page: Page
    folder: Path


class Drawn(NamedTuple):
    """The words of figures, and their files."""

    words: list[Words]
    files: list[Path]


@contextlib.contextmanager
def drawing(
    experiments: tuple[Experiment, ...], outcomes: Outcomes, folder: Path
) -> Iterator[Callable[[], list[Drawn]]]:
    """Draw the figures of experiments for all `PAGES`, where possible while other work is done.

    Yields:
        What waits for them, and returns what was drawn for each page.
    """
    orders = [Order(experiments, outcomes, page, folder) for page in PAGES]
    if not _are_many(experiments):
        yield lambda: [draw_page(order) for order in orders]
        return
    processes, pool = Processes(), ThreadPoolExecutor(len(orders))
    try:
        begun = [
            pool.submit(processes.call, draw_page, order, "drew figures", "run fewer experiments")
            for order in orders
        ]
        yield lambda: [each.result() for each in begun]
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        processes.stop()


def _are_many(experiments: tuple[Experiment, ...]) -> bool:
    """Whether processes draw sooner than this one alone."""
    cells = [cell for experiment in experiments for cell in experiment.cells]
    policies = {type(x): x for cell in cells for x in cell.policies.values()}.values()
    many = len(cells) >= WORTH_PROCESSES and threads_to_use(None) > 1
    return many and all(map(can_be_sent, policies))


def draw_page(order: Order) -> Drawn:
    """Draw and save all figures for one page."""
    experiments, outcomes, page, folder = order
    drawings = [figures.draw(experiment, outcomes, page) for experiment in experiments]
    theory = pulls_saved.draw(experiments, outcomes, page)
    drawings += [theory] if theory is not None else []
    files: list[Path] = []
    with figure.sheet():
        for drawing in drawings:
            files += figure.save(drawing.figure, folder / page.folder, drawing.name)
    return Drawn([drawing.words for drawing in drawings], files)
