from __future__ import annotations

from driftanchor.experiments import spec
from driftanchor.experiments.figures.blocks import blocks, ticks
from driftanchor.render.figure import PRINT, blank, sheet


def test_fig2_has_the_papers_four_blocks_of_three() -> None:
    found = blocks(spec.load("fig2").cells)
    assert [block.word for block in found] == ["offline", "delta", "bias_bound_at_least", "arms"]
    assert [len(block.panels) for block in found] == [3] * 4


def test_sweeps_that_vary_the_same_words_are_one_block() -> None:
    (block,) = blocks(spec.load("location").cells)
    assert block.word == "reward_shift"
    assert {title: len(cells) for title, cells in block.panels.items()} == {
        "no logs": 3,
        "2,000 logs": 3,
    }


def test_ticks_that_do_not_fit_are_left_out_but_not_the_ends() -> None:
    first = blocks(spec.load("fig2").cells)[0]
    cells = next(iter(first.panels.values()))
    shown = []
    for inches in (3.0, 0.8):
        with sheet(PRINT):
            axes = blank(inches, 1.0).subplots()
            ticks(axes, cells, first.word, inches)
        shown.append(sorted(tick.get_text() for tick in axes.get_xticklabels()))
        assert axes.get_xscale() == "log"
    assert shown == [["1,000", "2,000", "200", "5,000", "500"], ["200", "5,000", "500"]]
