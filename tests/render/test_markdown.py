from __future__ import annotations

from driftanchor.render import markdown
from driftanchor.render.table import Table


def test_a_table_is_escaped_and_its_best_cells_are_bold() -> None:
    content = Table("", ("a|b", "n"), (("<x>", "1"), ("y", "2")), best=frozenset({(1, 1)}))
    assert list(markdown.table(content)) == [
        r"| a\|b | n |",
        "|---|---|",
        r"| \<x\> | 1 |",
        "| y | **2** |",
        "",
    ]


def test_pairs_are_a_list() -> None:
    assert list(markdown.pairs([("a*", "b")])) == [r"- a\*: b", ""]


def test_controls_and_halves_of_characters_are_written_as_escapes() -> None:
    assert markdown.escape("a\x1b\nb\udcff") == r"a\\x1b b\\udcff"
