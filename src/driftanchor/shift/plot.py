"""The picture of a suggestion: the moves with the bound, and τ of each arm."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from driftanchor.errors import InvalidInput, require
from driftanchor.files import write_whole

if TYPE_CHECKING:
    from driftanchor.shift.suggestion import Suggestion

SUFFIXES = (".png", ".pdf", ".svg")
MOST = 7  # arms that are drawn: those with the most rewards, each in a colour of its own
# Okabe and Ito, which colour-blind people tell apart; markers tell them apart in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = "osD^vP*"


def plot(suggestion: Suggestion, path: str | os.PathLike[str]) -> None:
    """Draw it; nothing is left behind if writing fails."""
    suffix = Path(str(path)).suffix.lower()
    if suffix not in SUFFIXES:
        raise InvalidInput(f"plot file must end in one of {', '.join(SUFFIXES)}, got {str(path)!r}")
    if suggestion.tau is None:
        raise InvalidInput("no arm was seen in two periods: there are no moves to draw")
    library = require("matplotlib.figure", extra="plot", why="plotting")
    repeated = [k for k, arm in enumerate(suggestion.arms.values()) if arm.tau is not None]
    counts = np.array([arm.n for arm in suggestion.arms.values()])
    drawn = sorted(sorted(repeated, key=lambda k: -counts[k])[:MOST])
    figure = library.Figure(figsize=(10.0, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(2.0, 1.0))
    _moves(left, suggestion, drawn)
    _taus(right, suggestion, drawn)
    if len(drawn) < len(repeated):
        figure.supxlabel(
            f"the {MOST} arms with the most rewards, of {len(repeated):,}", fontsize="small"
        )
    with write_whole(path) as file:
        figure.savefig(file, format=suffix[1:], dpi=160)


def _moves(axes: Any, suggestion: Suggestion, drawn: list[int]) -> None:
    bound = suggestion.bias_bound
    axes.axhspan(-bound, bound, color="#000000", alpha=0.07, lw=0)
    for edge in (-bound, bound):
        axes.axhline(edge, color="#555555", lw=1, ls="--")
    axes.axhline(0.0, color="#555555", lw=0.8)
    steps = np.linspace(-0.25, 0.25, len(drawn)) if len(drawn) > 1 else np.zeros(1)
    for i, (k, step) in enumerate(zip(drawn, steps, strict=True)):
        axes.errorbar(
            np.arange(len(suggestion.periods)) + step,
            suggestion.moves[k],
            1.96 * suggestion.errors[k],
            color=COLOURS[i],
            marker=MARKERS[i],
            ms=4.5,
            lw=0.9,
            elinewidth=0.9,
        )
    skip = max(1, len(suggestion.periods) // 8)
    places = np.arange(0, len(suggestion.periods), skip)
    axes.set_xticks(places, [suggestion.periods[i] for i in places], rotation=30, ha="right")
    axes.set_ylabel("mean minus mean in all periods (± 95 %)")
    axes.set_title(f"How far each arm moved; the band is ±V, V = {bound:.3g}", fontsize="medium")
    _tidy(axes)


def _taus(axes: Any, suggestion: Suggestion, drawn: list[int]) -> None:
    arms, labels = list(suggestion.arms.values()), list(suggestion.arms)
    rows = [(labels[k], arms[k].tau, COLOURS[i], MARKERS[i]) for i, k in enumerate(drawn)]
    rows.append(("all arms", suggestion.tau, "#555555", "|"))
    found = [(label, tau, colour, mark) for label, tau, colour, mark in rows if tau is not None]
    for y, (_, tau, colour, marker) in enumerate(reversed(found)):
        axes.plot([tau.low, tau.high], [y, y], color=colour, lw=1.6)
        axes.plot([tau.estimate], [y], color=colour, marker=marker, ms=7)
    names = [row[0] if len(row[0]) <= 20 else f"{row[0][:19]}…" for row in reversed(found)]
    axes.set_yticks(range(len(found)), names)
    axes.set_ylim(-0.6, len(found) - 0.4)
    axes.set_xlim(0, 1.6 * (max(row[1].estimate for row in found) + found[-1][1].high))
    axes.set_xlabel("τ between periods, 95 % interval")
    axes.set_title("Beyond noise", fontsize="medium")
    _tidy(axes)


def _tidy(axes: Any) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    for text in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        text.set_parse_math(False)  # a dollar in a label is a dollar
