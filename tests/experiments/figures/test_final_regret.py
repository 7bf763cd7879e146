from __future__ import annotations

from typing import TYPE_CHECKING

from driftanchor.experiments import figures, spec
from driftanchor.experiments.figures import final_regret

if TYPE_CHECKING:
    from conftest import Measured


def test_fig2_has_the_papers_four_blocks_of_three() -> None:
    blocks = final_regret.blocks(spec.load("fig2").cells)
    assert [block.word for block in blocks] == ["offline", "delta", "bias_bound_at_least", "arms"]
    assert [len(block.panels) for block in blocks] == [3] * 4


def test_sweeps_that_vary_the_same_words_are_one_block() -> None:
    (block,) = final_regret.blocks(spec.load("location").cells)
    assert block.word == "reward_shift"
    assert {title: len(cells) for title, cells in block.panels.items()} == {
        "no logs": 3,
        "2,000 logs": 3,
    }


def test_one_run_and_words_on_the_axis_can_be_drawn(measured: Measured) -> None:
    text = """
policies = ["ts"]
runs = 1
horizon = 20
figure = "versus"
[[sweep]]
vary.coverage = ["uniform", "optimal"]
"""
    experiment = spec.parse(text, "words.toml")
    (axes,) = figures.draw(experiment, measured(experiment)).figure.get_axes()
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["uniform", "optimal"]
