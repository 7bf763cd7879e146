"""A table as data; `terminal`, `markdown` and `document` render it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MOST_ROWS = 100  # of a table for people, where --json has all of them
VERDICT = "verdict"  # the heading of a column whose cells are verdicts, shown in their colours


@dataclass(frozen=True)
class Table:
    """A table of texts, whose first column names its rows.

    Attributes:
        title: What it shows.
        headings: One for each column.
        rows: One text for each heading.
        best: The (row, column) of the cells to be marked with a star.
        note: A line below the table, such as what the star means.
        text: The columns of words, which are set to the left; numbers are set to the right.
        breaks: The rows that a line is drawn below.
        words: Whether the first column is of words, and not of ids.
    """

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    best: frozenset[tuple[int, int]] = frozenset()
    note: str = ""
    text: frozenset[int] = frozenset({0})
    breaks: frozenset[int] = frozenset()
    words: bool = False

    def marked(self, row: int, column: int) -> str:
        """The text of a cell, with a star where it is to be marked."""
        text = self.rows[row][column]
        return f"{text} *" if (row, column) in self.best else text


def largest(sizes: Sequence[float], most: int = MOST_ROWS) -> list[int]:
    """The places of the largest sizes, in order; all of them if there are no more than `most`.

    Example:
        >>> largest([5, 9, 7, 9], most=2)
        [1, 3]
    """
    places = range(len(sizes))
    return sorted(sorted(places, key=lambda i: -sizes[i])[:most])


def left_out(shown: int, of: int, which: str) -> str:
    """The note below a table that shows some of its rows alone; empty if it shows all.

    Example:
        >>> left_out(2, 3, "with the most rewards")
        'the 2 arms with the most rewards, of 3: --json has all of them'
        >>> left_out(3, 3, "with the most rewards")
        ''
    """
    return "" if shown == of else f"the {shown:,} arms {which}, of {of:,}: --json has all of them"
