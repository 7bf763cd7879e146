"""The figures of a page are the same, drawn in a process of its own or right here."""

import math
from pathlib import Path

import pytest

from driftanchor.experiments import spec, sweep
from driftanchor.experiments.experiment import Experiment
from driftanchor.experiments.figures import all_pages
from driftanchor.experiments.figures.all_pages import Drawn, drawing
from driftanchor.experiments.figures.print_page import NARROW
from driftanchor.experiments.outcome import Outcomes

SMALL = (Path(__file__).parents[1] / "small.toml").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def _one_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_pages, "PAGES", (NARROW,))


@pytest.fixture(scope="module")
def experiment() -> Experiment:
    return spec.parse(SMALL, "small.toml")


@pytest.fixture(scope="module")
def outcomes(experiment: Experiment, tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    return sweep.run(sweep.jobs([experiment], 0), tmp_path_factory.mktemp("cells"))


def test_a_process_draws_what_is_drawn_here(
    experiment: Experiment, outcomes: Outcomes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pages(worth: float, folder: Path) -> Drawn:
        monkeypatch.setattr(all_pages, "WORTH_PROCESSES", worth)
        (folder / "column").mkdir(parents=True)
        with drawing((experiment,), outcomes, folder) as drawn:
            (page,) = drawn()
        return page

    monkeypatch.setattr(all_pages, "threads_to_use", lambda _: 2)
    there = pages(1, tmp_path / "there")
    monkeypatch.setattr("driftanchor.render.figure.FORMATS", ("svg",))  # enough to compare
    here = pages(math.inf, tmp_path / "here")
    assert there.words == here.words
    assert [file.suffix for file in there.files] == [".png", ".svg", ".pdf"]
    assert there.files[1].read_bytes() == here.files[0].read_bytes()
