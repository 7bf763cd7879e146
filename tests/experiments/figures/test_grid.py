from __future__ import annotations

from driftanchor.experiments import spec
from driftanchor.experiments.figures.grid import grid, parts

FOUR = """
policies = ["ts"]
[[sweep]]
vary.arms = [2, 3, 4, 5]
"""


def test_two_groups_are_the_halves_that_the_paper_cites() -> None:
    rows = grid(spec.load("fig1").cells, across=4)
    panels = [[panel for panel in row if panel] for row in rows]
    letters = [[panel.letter for panel in row] for row in panels]
    assert letters == [["(a)", "(a)"], ["(b)", "(b)"], ["(c)", "(c)"]]
    assert [panel.above for panel in panels[0]] == ["Left: gap 0.3", "Right: gap 0.1"]
    right_b = panels[1][1]  # the panel of a claim: "Figure 1 right (b)"
    assert right_b.cell.id == "fig1/gap=0.1/coverage=optimal"
    assert right_b.title == "80 % of logs on the best arm"
    assert [len(half) for _, half in parts(rows)] == [3, 3]


def test_what_a_half_has_in_common_stands_above_it() -> None:
    rows = grid(spec.load("bernoulli").cells, across=4)
    above = [panel.above for panel in rows[0] if panel]
    assert above == ["Left: unbiased", "Right: best arm biased by −0.3, others by +0.1"]
    assert [panel.title if panel else None for panel in rows[2]] == [
        None,
        "80 % of logs on another arm",
    ]


def test_other_cells_fill_rows_with_letters_that_go_on() -> None:
    rows = grid(spec.parse(FOUR, "mine.toml").cells, across=3)
    letters = [[panel.letter if panel else "" for panel in row] for row in rows]
    assert letters == [["(a)", "(b)", "(c)"], ["(d)", "", ""]]
    ((columns, panels),) = parts(rows)
    assert (columns, len(panels)) == (slice(0, 3), 4)
