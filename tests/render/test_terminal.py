from __future__ import annotations

import io
from typing import Literal

import pytest
from rich.console import Console

from driftanchor.render import terminal
from driftanchor.render.table import Table

WIDE = Table(
    "What each of a number of policies with rather long names loses in a number of rounds",
    ("policy", "what it is", "saved (95 % interval)", "verdict"),
    (
        ("guarded-anchor-ts", "a rule " * 12, "1,234 (1,200 to 1,268)", "holds"),
        ("[bold]ts[/bold]", "another rule", "−3 (−7 to 1)", "fails"),
    ),
    best=frozenset({(0, 2)}),
    note="* most saved",
    text=frozenset({0, 1, 3}),
)


def shown(table: Table, width: int | None, *, colour: bool = False) -> list[str]:
    system: Literal["truecolor"] | None = "truecolor" if colour else None
    console = Console(file=io.StringIO(), width=10_000, color_system=system, force_terminal=colour)
    return terminal.lines(table, console, width)


def test_without_a_width_every_row_is_one_line() -> None:
    lines = shown(WIDE, None)
    assert lines[0] == WIDE.title
    assert lines[-1] == "* most saved"
    assert any("1,234 (1,200 to 1,268) *" in line for line in lines)


@pytest.mark.parametrize("width", [80, 60])
def test_a_wide_table_is_folded_to_the_width_and_never_cut(width: int) -> None:
    lines = shown(WIDE, width)
    assert max(map(len, lines)) <= width
    text = " ".join(" ".join(lines).split())
    assert "…" not in text
    for word in ("guarded-", "1,234", "(1,200", "1,268)", "verdict"):
        assert word in text
    assert text.count("a rule") >= 1


def test_labels_are_never_read_as_markup() -> None:
    assert any("[bold]ts[/bold]" in line for line in shown(WIDE, None))


def test_numbers_are_set_to_the_right_and_words_to_the_left() -> None:
    table = Table("", ("arm", "n"), (("A", "5"), ("long name", "1,000")))
    assert shown(table, 80)[-3:-1] == ["  A               5", "  long name   1,000"]


def test_numbers_are_not_broken_where_there_is_no_room() -> None:
    table = Table("", ("arm", "n", "m"), (("A", "1,000,000", "2,000,000"),))
    lines = shown(table, 10)
    assert [line.split() for line in lines if "000" in line] == [
        ["A", "1,000,000"],
        ["A", "2,000,000"],
    ]


def test_columns_that_do_not_fit_side_by_side_go_below_with_the_names_again() -> None:
    label = "an arm with a name that is rather long, as people like them/variant-7"
    heads = ("arm", "state", *(f"column {i}" for i in range(9)))
    rows = tuple((f"{label} {r}", "active", *["123,456,789"] * 9) for r in range(12))
    table = Table("", heads, rows, text=frozenset({0, 1}))
    lines = shown(table, 80)
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    assert text.count("123,456,789") == 12 * 9
    assert text.count("column 8") == 1
    parts = sum("state" in line or "column" in line for line in lines)
    assert text.count("long, as people") == 12 * parts >= 24


def test_a_verdict_has_its_colour() -> None:
    text = "\n".join(shown(WIDE, None, colour=True))
    assert "\x1b[32mholds" in text
    assert "\x1b[31mfails" in text


def test_long_words_are_folded_last() -> None:
    table = Table("", ("cell", "mean"), (("fig2/offline=5000/coverage=suboptimal", "1,234"),))
    lines = shown(table, 30)
    assert max(map(len, lines)) <= 30
    letters = "".join(line.split()[0] for line in lines if "/" in line or "optimal" in line)
    assert letters == "fig2/offline=5000/coverage=suboptimal"


def test_no_text_commands_the_terminal() -> None:
    odd = "a\x1b[31m\nb\udcff"
    table = Table(f"title {odd}", (odd, "n"), ((odd, "1"),), note=f"one {odd}\ntwo")
    for width in (None, 80):
        lines = shown(table, width)
        assert not any(sign in line for line in lines for sign in "\x1b\n\udcff")
        assert sum(r"a\x1b[31m" in line for line in lines) == 4
