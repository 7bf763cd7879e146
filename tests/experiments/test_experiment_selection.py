from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from driftanchor.errors import InvalidInput
from driftanchor.experiments import spec
from driftanchor.experiments.selection import Selection, changes

SMALL = str(Path(__file__).parent / "small.toml")


def test_sizes_in_words() -> None:
    def told(**size: Any) -> str:
        selection = Selection(names=[SMALL], **size)
        files = selection.load()
        return changes(files, selection.apply(files))

    assert told() == ""
    assert told(runs=5) == ""
    assert told(runs=4) == "reduced: 4 runs × 60 rounds"
    assert told(runs=50) == "changed: 50 runs × 60 rounds"
    assert told(horizon=2000, runs=2) == "reduced: 2 runs × 2,000 rounds"
    assert told(quick=True, runs=3) == "reduced: 3 runs × 400 rounds"


def test_without_names_every_experiment_of_the_paper_is_taken() -> None:
    every = Selection(quick=True)
    assert [e.name for e in every.apply(every.load())] == spec.paper_experiments()
    nowhere = Selection(only=["fig9/*"])
    with pytest.raises(InvalidInput, match="no cell fits"):
        nowhere.apply(nowhere.load())


def test_cells_that_match_no_pattern_are_left_out() -> None:
    chosen = Selection(names=["fig1", "fig7"], only=["fig1/gap=0.3/*"])
    (experiment,) = chosen.apply(chosen.load())
    assert {cell.varied["gap"] for cell in experiment.cells} == {0.3}
