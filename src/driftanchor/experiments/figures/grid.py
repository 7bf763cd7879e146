"""Where the panels of cells stand in a figure, and the letters they are cited by."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from driftanchor.experiments import setting_text
from driftanchor.experiments.experiment import Cell
from driftanchor.experiments.figures.print_page import letters

SIDES = ("Left", "Right")


@dataclass(frozen=True)
class Panel:
    """The panel of a cell; `above` is the title of its half, over the first panel of it."""

    cell: Cell
    letter: str
    title: str
    above: str = ""


Rows = list[list[Panel | None]]


def grid(cells: Sequence[Cell], across: int) -> Rows:
    """The rows of a figure, all of the same length.

    Cells that share all varied values but the last belong together. Two such groups are the left
    and the right half of the figure, each with letters of its own, as in the paper. Otherwise each
    group is a row, or several where it is long.

    Args:
        cells: The cells of an experiment.
        across: How many panels a row has at most.
    """
    groups: dict[tuple[object, ...], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.sweep, *map(str, list(cell.varied.values())[:-1])), []).append(cell)
    if len(groups) == len(SIDES):
        both = zip(SIDES, groups.values(), strict=True)
        halves = [_half(side, group, cells) for side, group in both]
        return [list(row) for row in itertools.zip_longest(*halves)]
    names = letters()
    rows: Rows = []
    for group in groups.values():
        panels = [Panel(c, next(names), setting_text.heading(c, cells)) for c in group]
        rows += [list(panels[i : i + across]) for i in range(0, len(panels), across)]
    width = max(map(len, rows))
    return [[*row, *[None] * (width - len(row))] for row in rows]


def parts(rows: Rows) -> list[tuple[slice, list[Panel]]]:
    """The halves of a figure, or all of it: their columns, and their panels in order."""
    found = [panel for row in rows for panel in row if panel is not None]
    if not any(panel.above for panel in found):
        return [(slice(0, len(rows[0])), found)]
    halves = [[panel for row in rows if (panel := row[side]) is not None] for side in (0, 1)]
    return [(slice(side, side + 1), half) for side, half in enumerate(halves)]


def _half(side: str, group: Sequence[Cell], cells: Sequence[Cell]) -> list[Panel]:
    shared = setting_text.special(group[0], cells)
    for cell in group[1:]:
        other = setting_text.special(cell, cells)
        shared = {word: x for word, x in shared.items() if other.get(word) == x}
    words = setting_text.title(shared)
    above = f"{side}: {words}" if words else side
    panels: list[Panel] = []
    for cell, letter in zip(group, letters(), strict=False):
        title = setting_text.heading(cell, cells, without=shared)
        panels.append(Panel(cell, letter, title, "" if panels else above))
    return panels
