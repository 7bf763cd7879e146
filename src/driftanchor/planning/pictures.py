"""The chart of an assessment: the loss of each rule by shift."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from driftanchor.core.stats.summary import standard_error
from driftanchor.planning.assess import Assessment
from driftanchor.planning.contenders import LOG_BEST
from driftanchor.planning.curve import Curve
from driftanchor.render.figure import blank, legend, line, sheet, svg, tidy, wide_apart
from driftanchor.render.numbers import rounded
from driftanchor.render.palette import DOTS, GREY, MARK_GREY, Look, looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (7.2, 4.4)  # inches
FAR = 30.0  # times the smallest: a linear axis would hide most
RANGE = 1e3  # of a logarithmic axis; what is smaller is drawn linearly, down to 0
LOG_LOOK = Look(GREY, "_", DOTS)


class Picture(NamedTuple):
    """A drawn figure with its words."""

    svg: bytes
    caption: str
    alt: str


def by_shift(found: Assessment) -> Picture:
    """Plot the loss of each rule against the shift of the means."""
    texts, curve = found.texts(), found.by_shift
    drawn = _draw(found, curve, texts.shift_ticks, texts.shift_axis, texts.shift_mark)
    return Picture(drawn, f"{texts.shift_says} {_common(found)}", _alt(curve))


def _draw(
    found: Assessment,
    curve: Curve,
    ticks: tuple[str, ...],
    axis: str,
    mark: tuple[float, str],
) -> bytes:
    """A picture whose values along the axis are drawn evenly apart."""
    x = np.arange(len(curve.x), dtype=np.float64)
    at, word = mark
    with sheet():
        figure = blank(*SIZE)
        axes = figure.subplots()
        drawn = _looks(found)
        means = [float(lost[label].mean()) for lost in curve.lost for label in lost]
        _scale(axes, means)
        for label, look in drawn.items():
            lost = [point[label] for point in curve.lost]
            errors = np.array([float(standard_error(there)) for there in lost])
            line(axes, x, np.array([there.mean() for there in lost]), errors, look)
        if axes.get_yscale() != "log":
            axes.set_ylim(bottom=0)
        axes.set_xticks(x, ticks)
        _mark(axes, float(np.interp(at, curve.x, x)), word)
        tidy(axes)
        axes.set_xlabel(axis, fontsize=9)
        axes.set_ylabel("rewards lost", fontsize=9)
        legend(figure, drawn)
        return svg(figure)


def _looks(found: Assessment) -> dict[str, Look]:
    """How each contender is drawn."""
    names = {x: one.policy.name for x, one in found.contenders.items() if one.policy is not None}
    return {
        label: LOG_LOOK if label == LOG_BEST else look
        for label, look in looks({x: names.get(x, x) for x in found.contenders}).items()
    }


def _scale(axes: Axes, means: list[float]) -> None:
    """Linear where that shows all; else logarithmic, and linear near 0 where some are 0."""
    if not wide_apart(means, FAR):
        axes.set_yscale("linear")
    elif min(means) > max(means) / RANGE:
        axes.set_yscale("log")
    else:
        positive = [mean for mean in means if mean > 0]
        least = 10 ** math.floor(math.log10(max(min(positive), max(positive) / RANGE)))
        axes.set_yscale("symlog", linthresh=least, linscale=0.5)


def _mark(axes: Axes, x: float, word: str) -> None:
    axes.axvline(x, color=MARK_GREY, linewidth=1, linestyle=(0, (1, 2)), zorder=0)
    axes.annotate(
        word,
        (x, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(4, -2),
        textcoords="offset points",
        va="top",
        fontsize=8,
        color=MARK_GREY,
    )


def _common(found: Assessment) -> str:
    runs = found.by_shift.lost[0][found.baseline].size
    return (
        f"Means of {runs:,} runs of {found.horizon:,} rounds, with bands of ± one standard error."
    )


def _alt(curve: Curve) -> str:
    """Return the alt text of a curve."""
    parts = []
    for label in curve.lost[0]:
        means = ", ".join(rounded(float(lost[label].mean())) for lost in curve.lost)
        parts.append(f"{label}: {means}")
    at = ", ".join(rounded(float(x * curve.unit)) for x in curve.x)
    return f"Rewards lost at shift {at}. {'; '.join(parts)}."
