from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import NullFormatter, NullLocator

from driftanchor.experiments import figures, spec
from driftanchor.experiments.experiment import Experiment
from driftanchor.experiments.figures.print_page import NARROW, WIDE, Page
from driftanchor.experiments.outcome import Outcome
from driftanchor.render.figure import save, sheet

if TYPE_CHECKING:
    from conftest import Measured

SIZE = {"runs": 3, "horizon": 50}
ONE = """
policies = ["ts", "ucb"]
runs = 3
horizon = 50
[[sweep]]
fixed = { offline = 0 }
vary.arms = [2]
"""


def leave_out_marks(figure: Figure) -> None:
    """Do without small ticks that have no text: to lay them out takes long."""
    for axes in figure.get_axes():
        for axis in (axes.xaxis, axes.yaxis):
            if isinstance(axis.get_minor_formatter(), NullFormatter):
                axis.set_minor_locator(NullLocator())


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("fig1", NARROW),
        ("fig2", WIDE),
        ("misspecified", NARROW),
        ("tails", NARROW),
        ("suite", WIDE),
    ],
)
def test_a_figure_of_the_paper_can_be_read_in_print(
    name: str, page: Page, measured: Measured
) -> None:
    experiment = spec.load(name, **SIZE)
    drawing = figures.draw(experiment, measured(experiment), page)
    figure = drawing.figure
    assert drawing.name == name
    assert figure.get_size_inches()[0] == page.width
    leave_out_marks(figure)
    figure.draw_without_rendering()
    axes = figure.get_axes()
    ticks = [text for each in axes for text in (*each.get_xticklabels(), *each.get_yticklabels())]
    for text in figure.findobj(Text):
        if not text.get_text().strip() or not text.get_visible():
            continue
        assert float(text.get_fontsize()) >= 6, text
        box = text.get_window_extent()
        inside = box.x0 >= -1 and box.x1 <= figure.bbox.width + 1
        assert inside or text in ticks, text  # ticks may be out of sight


@pytest.mark.parametrize("name", ["fig1", "fig2", "location", "tails", "bernoulli"])
def test_a_figure_of_the_paper_is_drawn(name: str, measured: Measured) -> None:
    experiment = spec.load(name, **SIZE)
    drawing = figures.draw(experiment, measured(experiment))
    shown = [axes for axes in drawing.figure.get_axes() if axes.lines]
    panels_due = {"fig1": 6 + 2, "fig2": 12, "location": 2 * 2, "tails": 3 * 5, "bernoulli": 5 + 2}
    assert len(shown) == panels_due[name]
    assert experiment.title in drawing.caption
    assert "± one standard error" in drawing.caption
    assert "Gaussian" in drawing.caption or "Bernoulli" in drawing.caption
    assert "lowest mean regret" in drawing.alt
    assert "anchor-ts" not in drawing.caption + drawing.alt


def test_no_regret_at_all_can_be_drawn(measured: Measured) -> None:
    experiment = spec.parse(ONE, "one.toml")
    nothing = {
        key: Outcome(found.final * 0, found.curves * 0, found.pulls, found.most)
        for key, found in measured(experiment).items()
    }
    for kind in figures.KINDS:
        drawn = Experiment(**{**vars(experiment), "figure": kind})
        figures.draw(drawn, nothing).figure.draw_without_rendering()


def test_the_same_figure_gives_the_same_bytes(tmp_path: Path, measured: Measured) -> None:
    experiment = spec.parse(ONE, "one.toml")
    written = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
        with sheet():
            drawing = figures.draw(experiment, measured(experiment))
            paths = save(drawing.figure, folder, drawing.name)
        assert [path.name for path in paths] == ["one.png", "one.svg", "one.pdf"]
        written.append([path.read_bytes() for path in paths])
    assert written[0] == written[1]


def test_every_kind_that_a_file_may_ask_for_can_be_drawn() -> None:
    assert tuple(figures.KINDS) == spec.FIGURES


@pytest.mark.parametrize("kind", figures.KINDS)
def test_cells_may_differ_in_their_horizon(kind: str, measured: Measured) -> None:
    text = f'policies = ["ts", "ucb"]\nruns = 3\nfigure = "{kind}"\n[[sweep]]\n'
    experiment = spec.parse(f"{text}vary.horizon = [100, 1000]\n", "my.toml")
    drawing = figures.draw(experiment, measured(experiment))
    assert "100 to 1,000 rounds" in drawing.caption
    ends = [axes.get_xlim()[1] for axes in drawing.figure.axes]
    assert kind != "curves" or ends[:2] == [100, 1000]  # the last panel shows the tails
