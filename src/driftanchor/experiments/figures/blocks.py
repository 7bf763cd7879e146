"""Blocks: cells that vary the same settings, one of them along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.experiments import setting_text
from driftanchor.experiments.experiment import Cell
from driftanchor.render.figure import TICKS, matplotlib, points
from driftanchor.render.numbers import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Block:
    """Cells that vary the same words: the one along the axis, and panels for the others."""

    word: str
    panels: dict[str, list[Cell]]

    @property
    def cells(self) -> list[Cell]:
        """All of them."""
        return [cell for cells in self.panels.values() for cell in cells]

    @property
    def axis(self) -> str:
        """What stands below the axis."""
        return setting_text.AXES.get(self.word, "")


def blocks(cells: Sequence[Cell]) -> list[Block]:
    """Cells by the words they vary; sweeps that vary the same words belong together."""
    grouped: dict[tuple[str, ...], list[Cell]] = {}
    for cell in cells:
        grouped.setdefault(tuple(cell.varied), []).append(cell)
    return [_grouped(keys, members) for keys, members in grouped.items()]


def _grouped(keys: tuple[str, ...], cells: list[Cell]) -> Block:
    numeric = [k for k in keys if all(isinstance(c.varied[k], int | float) for c in cells)]
    word = (numeric or list(keys) or [""])[0]
    columns: dict[str, list[Cell]] = {}
    for cell in cells:
        others = {key: value for key, value in cell.varied.items() if key != word}
        columns.setdefault(setting_text.title(others), []).append(cell)
    return Block(word, columns)


def along(cells: Sequence[Cell], word: str) -> Floats:
    """Where cells stand on the axis: at their value, or one after another where it is a word."""
    values = [cell.varied.get(word) for cell in cells]
    numeric = all(isinstance(value, int | float) for value in values)
    return np.array(values if numeric else range(len(values)), dtype=np.float64)


def ticks(axes: Axes, cells: Sequence[Cell], word: str, inches: float) -> None:
    """Ticks at the values that were run, on a log axis when they are far apart.

    Args:
        axes: The panel.
        cells: Its cells.
        word: The setting along the axis.
        inches: The width of the panel: labels that do not fit beside the last one are left out.
    """
    x, texts = along(cells, word), [plain(_value(cell, word)) for cell in cells]
    log = bool(len(x) > 2 and x.min() > 0 and x.max() >= 8 * x.min())
    axes.set_xscale("log" if log else "linear")
    place = np.log(x) if log else x
    letter = 0.6 * points(TICKS) / (72 * inches) * float(np.ptp(place))
    ranked = [int(i) for i in np.argsort(place)]
    shown: list[int] = []
    for i in (ranked[0], ranked[-1], *ranked[1:-1]):  # the ends in any case
        room = [0.5 * (len(texts[i]) + len(texts[k])) + 1 for k in shown]
        if all(abs(place[i] - place[k]) >= r * letter for k, r in zip(shown, room, strict=True)):
            shown.append(i)
    axes.set_xticks(x[shown], [texts[i] for i in shown])
    axes.xaxis.set_minor_locator(matplotlib("ticker").NullLocator())


def _value(cell: Cell, word: str) -> Any:
    return cell.varied.get(word, "")
