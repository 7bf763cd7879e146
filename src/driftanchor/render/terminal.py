"""Tables on a terminal: folded to its width, never cut, and never read as markup or as commands."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from driftanchor.render.folding import Foldable, column_groups, column_widths
from driftanchor.render.printable import printable
from driftanchor.render.table import VERDICT, Table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

GAP = 3  # what a column needs beside its cells: blanks and the space to the next
COLOURS = {"holds": "green", "fails": "red", "inconclusive": "yellow"}


def lines(table: Table, console: Console, width: int | None) -> list[str]:
    """The lines of a table with its title and note.

    A table with more columns than fit side by side is shown in parts, one below the other. Each
    part begins with the first column, which names the rows.

    Args:
        table: What to show.
        console: It decides on colours. Its own width is not used, so it must be wide.
        width: Columns to fit it into; one number that needs more keeps what it needs. `None` for
            as many columns as the table needs.
    """
    columns = _columns(table)
    groups = column_groups(columns, width, GAP)
    body = []
    for group in groups:
        with console.capture() as captured:
            console.print(_drawn(table, columns, group, width), crop=False)
        body += [line.rstrip() for line in captured.get().splitlines()]
    return [*_wrapped(table.title, width), *body, *_wrapped(table.note, width)]


def _drawn(
    table: Table, columns: list[list[Foldable]], group: list[int], width: int | None
) -> RichTable:
    """The part of a table that has these columns."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    room = None if width is None else width - GAP * len(group)
    widths = column_widths([columns[c] for c in group], room)
    drawn = RichTable(box=box.SIMPLE_HEAD)
    for c, size in zip(group, widths, strict=True):
        drawn.add_column(
            Text(columns[c][0].fold(size)),
            justify="left" if c in table.text else "right",
            overflow="fold",
            width=size,
        )
    for r, row in enumerate(table.rows):
        cells = [
            Text(columns[c][1 + r].fold(size), _style(table, r, c, row[c]))
            for c, size in zip(group, widths, strict=True)
        ]
        drawn.add_row(*cells, end_section=r in table.breaks)
    return drawn


def _columns(table: Table) -> list[list[Foldable]]:
    """The cells of each column, its heading first."""
    return [
        [
            Foldable(printable(heading), words=True),
            *(
                Foldable(printable(table.marked(r, c)), c in table.text)
                for r in range(len(table.rows))
            ),
        ]
        for c, heading in enumerate(table.headings)
    ]


def _style(table: Table, row: int, column: int, text: str) -> str:
    if table.headings[column] == VERDICT:
        return COLOURS.get(text, "")
    return "bold" if (row, column) in table.best else ""


def _wrapped(text: str, width: int | None) -> list[str]:
    if not text:
        return []
    parts = [printable(part) for part in text.split("\n")]
    if width is None:
        return parts
    return [line for part in parts for line in textwrap.wrap(part, width)]
