"""Tables on a terminal: folded to its width, never cut, and never read as markup."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from driftanchor.render.table import VERDICT, Table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

GAP = 3  # blanks between two columns
FEWEST = 8  # a column of words is never narrower than this many letters
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


def fit(natural: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Column widths that need at most `room` together, if none has to be below its least.

    The widest column that can be narrower gives way first.

    Example:
        >>> fit([10, 30, 20], [10, 5, 12], room=45)
        [10, 17, 18]
    """
    widths = list(natural)
    while sum(widths) > room:
        able = [i for i, width in enumerate(widths) if width > least[i]]
        if not able:
            break
        widths[max(able, key=lambda i: (widths[i], -i))] -= 1
    return widths


def _drawn(table: Table, width: int | None) -> RichTable:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for i, (heading, size) in enumerate(zip(table.headings, _widths(table, width), strict=True)):
        drawn.add_column(
            Text(heading),
            justify="left" if i in table.text else "right",
            overflow="fold",
            width=size,
        )
    for r, row in enumerate(table.rows):
        cells = [Text(table.marked(r, c), _style(table, r, c, text)) for c, text in enumerate(row)]
        drawn.add_row(*cells, end_section=r in table.breaks)
    return drawn


def _widths(table: Table, width: int | None) -> list[int]:
    """The width of each column: as it is, folded between words, or at last within words."""
    from rich.cells import cell_len

    rows = range(len(table.rows))
    columns = [
        [heading, *(table.marked(r, c) for r in rows)] for c, heading in enumerate(table.headings)
    ]
    natural = [max(map(cell_len, texts)) for texts in columns]
    if width is None:
        return natural
    words = [
        max(cell_len(word) for text in texts for word in text.split() or [""]) for texts in columns
    ]
    room = width - GAP * (len(columns) - 1) - 1  # one blank before the first column
    widths = fit(natural, words, room)
    tight = [min(size, FEWEST) if c in table.text else size for c, size in enumerate(words)]
    return widths if sum(widths) <= room else fit(widths, tight, room)


def _style(table: Table, row: int, column: int, text: str) -> str:
    if table.headings[column] == VERDICT:
        return COLOURS.get(text, "")
    return "bold" if (row, column) in table.best else ""


def _wrapped(text: str, width: int | None) -> list[str]:
    if not text:
        return []
    if width is None:
        return text.splitlines()
    return [line for part in text.splitlines() for line in textwrap.wrap(part, width)]
