from __future__ import annotations

from typing import TYPE_CHECKING

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
    (legend,) = drawing.figure.legends
    shown = [text.get_text() for text in legend.get_texts()]
    assert "TS − Anchor-TS, measured" in shown
    assert "Anchor-TS, promised by N₁: min(N₁, σ² log T/Δ²)" in shown
    assert "and 43 promised" in drawing.alt  # by the logs of the best arm: log 50/Δ²
    labels = [axes.get_xlabel() for axes in drawing.figure.get_axes()[::3]]
    assert labels == [
        "logged rewards in all, ΣN (log scale)",
        "bias bound V, at least (log scale)",
        "gap Δ",
    ]
    assert "Theorem 1 promises Anchor-TS nothing" in drawing.caption
    alone = pulls_saved.draw(experiments[:1], outcomes)
    assert alone is not None
    assert "fig2" not in alone.caption
    assert pulls_saved.draw(experiments[2:], outcomes) is None
