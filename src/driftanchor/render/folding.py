"""Folding the cells of a table, so that it fits a width: first between words, at last within them.

There are five levels. At level 0 nothing is folded. At level 1 words are folded at blanks, and
numbers before a bracket, so that an interval stays in one line. At level 2 words are folded after
slashes and hyphens too. At level 3 numbers are folded at blanks, at level 4 words anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

LEVELS = 5
FEWEST = 8  # a column of words is never made narrower than this
_AT_BLANKS = re.compile(r"(?<=\s)(?=\S)")
_AFTER_SIGNS = re.compile(r"(?<=\s)(?=\S)|(?<=[/@])(?=\S)|(?<=[A-Za-z]-)(?=\S)")
_BEFORE_BRACKETS = re.compile(r"(?<=\s)(?=\()")


@dataclass(frozen=True)
class Foldable:
    """A text that can be folded into lines: words or numbers."""

    text: str
    words: bool

    def least(self, level: int) -> int:
        """The width that it needs at a level."""
        width = max(_width(piece) for piece in self._pieces(level))
        return min(width, FEWEST) if self.words and level == LEVELS - 1 else width

    def fold(self, width: int) -> str:
        r"""The text in lines of at most this width, folded at the lowest level that allows it.

        Example:
            >>> Foldable("12.5 (7.03 to 17.9)", words=False).fold(14)
            '12.5\n(7.03 to 17.9)'
            >>> Foldable("fig1/gap=0.3/coverage=optimal", words=True).fold(16)
            'fig1/gap=0.3/\ncoverage=optimal'
        """
        for level in range(LEVELS):
            pieces = self._pieces(level)
            if max(map(_width, pieces)) <= width:
                return "\n".join(_filled(pieces, width))
        return "\n".join(_filled(list(self.text), width))

    def _pieces(self, level: int) -> list[str]:
        """What stays together at a level."""
        if not level:
            return [self.text]
        if self.words:
            return (_AT_BLANKS if level == 1 else _AFTER_SIGNS).split(self.text)
        return (_BEFORE_BRACKETS if level < 3 else _AT_BLANKS).split(self.text)


def fit(natural: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Column widths that need at most `room` together, if that leaves each its least width.

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


def column_widths(columns: Sequence[Sequence[Foldable]], room: int | None) -> list[int]:
    """The width of each column, folded only as much as it takes to fit into `room` together.

    Args:
        columns: The cells of each column.
        room: `None` to fold nothing.
    """
    widths = [max(cell.least(0) for cell in column) for column in columns]
    for level in range(1, LEVELS) if room is not None else ():
        least = [max(cell.least(level) for cell in column) for column in columns]
        widths = fit(widths, least, room or 0)
    return widths


def column_groups(
    columns: Sequence[Sequence[Foldable]], width: int | None, gap: int
) -> list[list[int]]:
    """The columns of each part of a table, so that no part is wider than `width`.

    A table stays whole if no column must be folded within words, and the names in the first column
    have a third of the width, or less if they need less. Otherwise each part has the first column
    and at least one other, and the parts are about as wide as one another.

    Args:
        columns: The cells of each column.
        width: `None` for one part.
        gap: What a column needs beside its cells.

    Example:
        >>> cells = [[Foldable(text, words=False)] for text in ("A", "1,000", "2,000", "3,000")]
        >>> column_groups(cells, 30, gap=3), column_groups(cells, 22, gap=3)
        ([[0, 1, 2, 3]], [[0, 1, 2], [0, 3]])
    """
    if width is None or len(columns) < 3:
        return [list(range(len(columns)))]
    least = [max(cell.least(3) for cell in column) for column in columns]
    names = max(cell.least(0) for cell in columns[0])
    first = max(min(names, width // 3), min(least[0], width // 2)) + gap
    sizes = [size + gap for size in least[1:]]
    room = width - first
    groups = _consecutive(sizes, room)
    while room > 0 and len(_consecutive(sizes, room - 1)) == len(groups):
        room -= 1
    return [[0, *(1 + i for i in group)] for group in _consecutive(sizes, room)]


def _consecutive(sizes: Sequence[int], room: int) -> list[list[int]]:
    """Places in order, as many in each group as need at most `room`, and at least one."""
    groups: list[list[int]] = [[]]
    for i, size in enumerate(sizes):
        if groups[-1] and sum(sizes[j] for j in groups[-1]) + size > room:
            groups.append([])
        groups[-1].append(i)
    return groups


def _filled(pieces: Sequence[str], width: int) -> list[str]:
    """Pieces in lines that are as full as they can be."""
    lines = [""]
    for piece in pieces:
        if lines[-1] and _width(lines[-1] + piece) > width:
            lines.append("")
        lines[-1] += piece
    return [line.rstrip() for line in lines]


def _width(text: str) -> int:
    """How many columns of a terminal a text needs; some letters need two."""
    from rich.cells import cell_len

    return cell_len(text.rstrip())
