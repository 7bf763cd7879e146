from __future__ import annotations

import itertools

from driftanchor.experiments.figures.print_page import (
    NARROW,
    WIDE,
    letters,
    set_labels,
    set_title,
)
from driftanchor.render.figure import blank


def test_letters_go_on_after_z() -> None:
    assert list(itertools.islice(letters(), 25, 28)) == ["(z)", "(aa)", "(ab)"]


def test_a_page_knows_how_many_panels_fit() -> None:
    assert (WIDE.across(1.6), NARROW.across(1.6), NARROW.across(9.0)) == (4, 2, 1)


def test_titles_and_labels_are_folded_to_their_panel() -> None:
    axes = blank(3.3, 2.0).subplots()
    axes.set_xscale("log")
    set_title(axes, "(a) logs on all arms alike, costs $5", 1.0, above="Left: gap 0.3", reach=3.0)
    assert axes.get_title(loc="left").split("\n")[0] == " "  # the room of what stands above
    assert max(map(len, axes.get_title(loc="left").split("\n"))) <= 16
    assert axes.texts[0].get_text() == "Left: gap 0.3"
    set_labels(axes, "logged rewards in all", "regret", inches=1.5)
    assert axes.get_xlabel() == "logged rewards in all\n(log scale)"
    assert axes.get_ylabel() == "regret"
