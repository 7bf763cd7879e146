from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from driftanchor.experiments import spec
from driftanchor.experiments.figures import pulls_saved

if TYPE_CHECKING:
    from conftest import Measured

SIZE = {"runs": 3, "horizon": 50}


def test_theory_is_drawn_against_the_pulls_of_fig1_and_fig2(measured: Measured) -> None:
    experiments = [spec.load(name, **SIZE) for name in ("fig1", "fig2", "fig7")]
    outcomes = {key: x for e in experiments for key, x in measured(e).items()}
    drawing = pulls_saved.draw(experiments, outcomes)
    assert drawing is not None
    assert len(drawing.figure.get_axes()) == 9
    labels = [axes.get_xlabel() for axes in drawing.figure.get_axes()[::3]]
    assert labels == ["logged rewards in all, ΣN", "bias bound V, at least", "gap Δ"]
    assert "Theorem 1 promises Anchor-TS nothing" in drawing.caption
    alone = pulls_saved.draw(experiments[:1], outcomes)
    assert alone is not None
    assert "fig2" not in alone.caption
    assert pulls_saved.draw(experiments[2:], outcomes) is None


def test_the_promises_are_those_of_the_theorems() -> None:
    cells = {cell.id: cell.bandit for name in ("fig1", "fig2") for cell in spec.load(name).cells}
    biased = cells["fig2/offline=2000/coverage=uniform"]  # N = 200, ω = 0.2, Δ = 0.3
    assert pulls_saved.promised(biased, 10_000, "anchor-ts") == 0.0
    assert pulls_saved.promised(biased, 10_000, "min-ucb") == pytest.approx(200 / 9)
    unbiased = cells["fig1/gap=0.3/coverage=uniform"]  # ω = 0: all of N
    assert pulls_saved.promised(unbiased, 10_000, "anchor-ts") == pytest.approx(200)
    many = pulls_saved.promised(unbiased, 100, "min-ucb")  # never more than there is to save
    assert many == pytest.approx(2 / 0.09 * np.log(100))
