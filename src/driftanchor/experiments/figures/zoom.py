"""A window in a panel, for curves that lie together far below the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from driftanchor.core.check import Floats
from driftanchor.render.figure import TICKS, frame, line, matplotlib, points, tick_label
from driftanchor.render.palette import Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FAR = 3.0  # times the highest of them is the lowest of the others
LEFT, ROOM = 0.4, 0.07  # of the panel: where the window begins, and how far it stays from curves
CAPTION = "A small window enlarges the lowest curves of its panel."
LOWEST = 0.2  # of the panel: a window that would be lower is not drawn


def draw(axes: Axes, rounds: Floats, means: Mapping[str, Floats], looks: dict[str, Look]) -> bool:
    """Draw the window between the low curves and the others, if there is room for it.

    Args:
        axes: The panel, with its limits set.
        rounds: Where curves are known.
        means: The curve of each policy.
        looks: How it is drawn.

    Returns:
        Whether there is a window.
    """
    ordered = sorted(means, key=lambda label: float(means[label][-1]))
    ends = [float(means[label][-1]) for label in ordered]
    low = next((i for i in range(2, len(ends)) if ends[i] > FAR * ends[i - 1]), 0)
    if not low or axes.get_yscale() == "log":
        return False
    top = axes.get_ylim()[1]
    under = max(float(means[label].max()) for label in ordered[:low])
    seen = rounds >= LEFT * rounds[-1]
    above = min(float(means[label][seen].min()) for label in ordered[low:]) / top - ROOM
    below = under / top + ROOM
    if above - below < LOWEST:
        return False
    window = axes.inset_axes((LEFT, below, 0.98 - LEFT, above - below))
    every = max(1, len(rounds) // 3)
    for i, label in enumerate(ordered[:low]):
        first = 1 + i * every // low
        line(window, rounds, means[label], None, looks[label], markevery=(first, every))
    window.set_xlim(0, rounds[-1])
    window.set_ylim(0, 1.1 * under)
    ticker = matplotlib("ticker")
    window.set_xticks([])
    window.yaxis.set_major_locator(ticker.MaxNLocator(2))
    window.yaxis.set_major_formatter(ticker.FuncFormatter(tick_label))
    frame(window)
    window.tick_params(labelsize=points(TICKS), length=points(0.2), pad=points(0.1))
    return True
