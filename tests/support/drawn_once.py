"""Figures that are drawn for one page, and shown on all pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class DrawnOnce:
    """Draws the figure of an experiment for the first page that asks, and gives it to the others.

    Args:
        draw: Draws the figure of an experiment and its outcomes for a page.
    """

    def __init__(self, draw: Callable[..., Any]) -> None:
        self._draw, self._drawn = draw, list[tuple[object, object, Any]]()

    def __call__(self, experiment: object, outcomes: object, *page: object) -> Any:
        """The figure; those of other outcomes are forgotten."""
        self._drawn = [each for each in self._drawn if each[1] is outcomes]
        for one, _, drawing in self._drawn:
            if one is experiment:
                return drawing
        self._drawn.append((experiment, outcomes, self._draw(experiment, outcomes, *page)))
        return self._drawn[-1][2]
