"""Plot a suggestion.

The panels show the moves with the bound V, the own moves with the bound W, and the standard
deviations of the moves.
"""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.errors import InvalidInput
from driftanchor.render import figure
from driftanchor.render.palette import BLACK, DARK_GREY, GREY, SERIES, Look
from driftanchor.render.printable import printable

if TYPE_CHECKING:
    from driftanchor.shift.suggestion import Suggestion

MAX_ARMS = len(SERIES)  # the figure shows only the arms with the most rewards
TOTAL = Look(DARK_GREY, "o", hollow=True)  # for estimates over all arms


def plot(suggestion: Suggestion, path: str | os.PathLike[str]) -> None:
    """Plot a suggestion and write the figure to `path`. If this fails, no file is left behind."""
    figure.check_suffix(path)
    if suggestion.tau is None:
        raise InvalidInput("no arm was seen in two periods: there are no moves to draw")
    with figure.sheet():
        figure.write(_figure(suggestion), path)


def _figure(suggestion: Suggestion) -> Any:
    """Return a figure that shows a suggestion: three panels, or two if own moves are unknown."""
    repeated = [k for k, arm in enumerate(suggestion.arms.values()) if arm.tau is not None]
    counts = np.array([arm.n for arm in suggestion.arms.values()])
    drawn = sorted(sorted(repeated, key=lambda k: -counts[k])[:MAX_ARMS])
    both = suggestion.own_sd is not None
    drawing = figure.blank(13.0 if both else 10.0, 4.8)
    panels = drawing.subplots(1, 3 if both else 2, width_ratios=(2, 2, 1.3) if both else (2, 1))
    left, right = panels[0], panels[-1]
    _moves(left, suggestion, suggestion.moves, suggestion.bias_bound, drawn)
    left.set_title(_title("How far each arm moved", "V", suggestion.bias_bound), fontsize="medium")
    left.set_ylabel("mean minus mean in all periods (± 95 %)")
    if both:
        places = np.arange(len(suggestion.periods))
        left.plot(places, suggestion.common_moves, color=DARK_GREY, lw=5, alpha=0.35, zorder=1)
        left.plot([], [], color=DARK_GREY, lw=5, alpha=0.35, label="common move of all arms")
        middle = panels[1]
        own = suggestion.moves - suggestion.common_moves
        _moves(middle, suggestion, own, suggestion.relative_bound, drawn)
        title = _title("The same without the common move", "W", suggestion.relative_bound)
        middle.set_title(title, fontsize="medium")
        ends = [axes.get_ylim() for axes in (left, middle)]
        low, high = min(low for low, _ in ends), max(high for _, high in ends)
        for axes in (left, middle):
            axes.set_ylim(low, high + 0.09 * (high - low))  # room for the legend
        left.legend(loc="upper right", frameon=False, fontsize="small", borderaxespad=0.1)
    _sizes(right, suggestion, drawn)
    if len(drawn) < len(repeated):
        drawing.supxlabel(
            f"the {MAX_ARMS} arms with the most rewards, of {len(repeated):,}", fontsize="small"
        )
    return drawing


def _title(what: str, name: str, bound: float) -> str:
    return f"{what}\nband: ±{name}, {name} = {bound:.3g}"


def _moves(
    axes: Any, suggestion: Suggestion, moves: Floats, bound: float, drawn: list[int]
) -> None:
    if math.isfinite(bound):
        axes.axhspan(-bound, bound, color=BLACK, alpha=0.06, lw=0, zorder=0)
        for edge in (-bound, bound):
            axes.axhline(edge, color=GREY, lw=1, ls="--", zorder=0)
    axes.axhline(0.0, color=GREY, lw=0.8, zorder=0)
    steps = np.linspace(-0.2, 0.2, len(drawn)) if len(drawn) > 1 else np.zeros(1)
    for i, (k, step) in enumerate(zip(drawn, steps, strict=True)):
        axes.errorbar(
            np.arange(len(suggestion.periods)) + step,
            moves[k],
            1.96 * suggestion.errors[k],
            color=SERIES[i].colour,
            marker=SERIES[i].marker,
            ms=4.5,
            lw=0.9,
            elinewidth=0.9,
            zorder=2,
        )
    skip = math.ceil(len(suggestion.periods) / 8)
    places = np.arange(0, len(suggestion.periods), skip)
    labels = [_short(suggestion.periods[i], 14) for i in places]
    axes.set_xticks(places, labels, rotation=30, ha="right")
    _tidy(axes)


def _sizes(axes: Any, suggestion: Suggestion, drawn: list[int]) -> None:
    """Draw the standard deviation of moves with its interval, for each arm and for all arms."""
    arms, labels = list(suggestion.arms.values()), list(suggestion.arms)
    rows = [(labels[k], arms[k].tau, SERIES[i]) for i, k in enumerate(drawn)]
    if suggestion.own_sd is None:
        rows.append(("all arms", suggestion.tau, TOTAL))
    rows += [("common", suggestion.common_sd, TOTAL), ("own", suggestion.own_sd, TOTAL)]
    known = [(label, tau, style) for label, tau, style in rows if tau is not None]
    for y, (_, tau, style) in enumerate(reversed(known)):
        width = 3.0 if style == TOTAL else 1.6
        axes.plot([tau.low, tau.high], [y, y], color=style.colour, lw=width, solid_capstyle="butt")
        face = "white" if style.hollow else style.colour
        marker = {"marker": style.marker, "ms": 6, "mfc": face, "clip_on": False, "zorder": 3}
        axes.plot([tau.estimate], [y], color=style.colour, **marker)
    if suggestion.own_sd is not None:
        axes.axhline(1.5, color=GREY, lw=0.8, ls=":")
    axes.set_yticks(range(len(known)), [_short(row[0], 20) for row in reversed(known)])
    axes.set_ylim(-0.6, len(known) - 0.4)
    totals = [row[1].high for row in known[len(drawn) :]]
    axes.set_xlim(0, 1.3 * (max(row[1].estimate for row in known) + max(totals)) / 1.6)
    axes.set_xlabel("standard deviation, 95 % interval")
    axes.set_title("Size of the moves\nbeyond noise", fontsize="medium")
    _tidy(axes)


def _short(label: str, length: int) -> str:
    return printable(label if len(label) <= length else f"{label[: length - 1]}…")


def _tidy(axes: Any) -> None:
    figure.frame(axes)
    figure.literal_ticks(axes)
