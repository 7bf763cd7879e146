"""Pages: the widths that figures are drawn for, and what their panels share."""

from __future__ import annotations

import itertools
import string
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from driftanchor.render.figure import COLUMN, LABELS, PAGE, TITLES, points

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LETTER = 0.56  # the width of a letter, of the size of its text
ROOM = 60.0  # a panel is high enough for more labels than powers of ten up to this ratio


@dataclass(frozen=True)
class Page:
    """What a figure is drawn for.

    Attributes:
        folder: The folder of its files, within that of all figures.
        width: Inches.
    """

    folder: str
    width: float

    def across(self, panel: float) -> int:
        """How many panels of at least this many inches stand side by side."""
        return max(1, int(self.width / panel))


WIDE = Page("", PAGE)
NARROW = Page("column", COLUMN)  # a column of print, and a phone
PAGES = (WIDE, NARROW)


def letters() -> Iterator[str]:
    """(a), (b), … (z), (aa), …, for panels.

    Example:
        >>> list(itertools.islice(letters(), 3))
        ['(a)', '(b)', '(c)']
    """
    for size in itertools.count(1):
        for word in itertools.product(string.ascii_lowercase, repeat=size):
            yield f"({''.join(word)})"


def set_title(axes: Axes, title: str, inches: float, above: str = "", reach: float = 0.0) -> None:
    """Write a title above a panel of this width, in lines that fit.

    Args:
        axes: The panel.
        title: The letter of the panel and its words.
        inches: The width of the panel.
        above: A title of the whole row or column, which may be wider than the panel; a blank keeps
            room for it.
        reach: The width of the row or column.
    """
    size = points(TITLES)
    lines = _wrapped(title, inches, LETTER * size)
    over = _wrapped(above, reach or inches, 1.12 * LETTER * size) if above else []
    axes.set_title(
        "\n".join([" "] * len(over) + lines), loc="left", fontsize=size, parse_math=False
    )
    if not above.strip():
        return
    note = axes.annotate(
        "\n".join(over),
        (0, 1),
        xytext=(0, 6 + 1.25 * size * len(lines)),
        xycoords="axes fraction",
        textcoords="offset points",
    )
    note.set(fontsize=size, fontweight="bold", parse_math=False)
    note.set_in_layout(False)  # it may reach over the panels to its right


def _wrapped(text: str, inches: float, letter: float) -> list[str]:
    """Text in lines of this width; `letter` is the width of a letter in points."""
    return textwrap.wrap(text, max(12, int(inches * 72 / letter))) or [" "]


def set_labels(axes: Axes, x: str = "", y: str = "", inches: float = PAGE) -> None:
    """Write the labels of the axes, in lines that fit; a log axis says that it is one."""
    for text, scale, put in (
        (x, axes.get_xscale(), axes.set_xlabel),
        (y, axes.get_yscale(), axes.set_ylabel),
    ):
        if text:
            words = f"{text} (log scale)" if scale == "log" else text
            lines = _wrapped(words, inches, LETTER * points(LABELS))
            put("\n".join(lines), fontsize=points(LABELS))
