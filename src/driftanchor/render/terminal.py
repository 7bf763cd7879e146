"""Tables on a terminal: folded to its width, never cut, and never read as markup or as commands."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from driftanchor.render.folding import Foldable, column_widths
from driftanchor.render.printable import printable
from driftanchor.render.table import VERDICT, Table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

GAP = 3  # what a column needs beside its cells: blanks and the space to the next
COLOURS = {"holds": "green", "fails": "red", "inconclusive": "yellow"}


def lines(table: Table, console: Console, width: int | None) -> list[str]:
    """The lines of a table with its title and note.

    Args:
        table: What to show.
        console: It decides on colours. Its own width is not used, so it must be wide.
        width: Columns to fit it into; numbers that need more keep what they need. `None` for as
            many columns as the table needs.
    """
    with console.capture() as captured:
        console.print(_drawn(table, width), crop=False)
    body = [line.rstrip() for line in captured.get().splitlines()]
    return [*_wrapped(table.title, width), *body, *_wrapped(table.note, width)]


def _drawn(table: Table, width: int | None) -> RichTable:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    columns = _columns(table)
    widths = column_widths(columns, None if width is None else width - GAP * len(columns))
    drawn = RichTable(box=box.SIMPLE_HEAD)
    for c, (column, size) in enumerate(zip(columns, widths, strict=True)):
        drawn.add_column(
            Text(column[0].fold(size)),
            justify="left" if c in table.text else "right",
            overflow="fold",
            width=size,
        )
    for r, row in enumerate(table.rows):
        cells = [
            Text(columns[c][1 + r].fold(widths[c]), _style(table, r, c, text))
            for c, text in enumerate(row)
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
