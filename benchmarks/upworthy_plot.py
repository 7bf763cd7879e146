"""What each policy lost beyond TS on Upworthy's retests, and how that depends on V and W."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from driftanchor.files import write_whole
from driftanchor.render.figure import blank, sheet
from driftanchor.render.palette import Look, looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw(blocks: Mapping[str, Any], path: Path) -> None:
    """Three panels, all in points of the share that can be lost, with bootstrap intervals."""
    rows = blocks["upworthy-policies"]["measured"]
    drawn = looks({name: name.partition(",")[0] for name in rows})
    with sheet():
        figure = blank(12.0, 4.6)
        left, *others = figure.subplots(1, 3, width_ratios=(1.15, 1.0, 1.0))
        for y, (name, row) in enumerate(reversed(rows.items())):
            middle, low, high = (100 * x for x in row["share_apart"])
            colour = drawn[name].colour if " " not in name.partition(",")[0] else "#7F7F7F"
            left.plot([low, high], [y, y], color=colour, lw=1.8)
            left.plot([middle], [y], color=colour, marker=drawn[name].marker, ms=6)
        left.set_yticks(range(len(rows)), list(reversed(rows)))
        left.axvline(0.0, color="#555555", lw=0.8)
        left.set_xlabel("share lost minus that of ts, points (left is better)")
        for axes, letter in zip(others, ("V", "W"), strict=True):
            curves = blocks[f"upworthy-times-{letter.lower()}"]["curves"]
            _bounds(axes, curves, drawn)
            axes.set_xlabel(f"{letter} given to the policy")
        others[0].set_ylabel("share lost minus that of ts, points")
        low, high = zip(*(axes.get_ylim() for axes in others), strict=True)
        for axes in others:
            axes.set_ylim(min(low), max(high))
        for axes in (left, *others):
            axes.grid(alpha=0.25)
            axes.spines[["top", "right"]].set_visible(False)
        with write_whole(path) as file:
            figure.savefig(file, format="svg", metadata={"Date": None})


def _bounds(axes: Axes, curves: Mapping[str, Any], looks: Mapping[str, Look]) -> None:
    """One panel: policies over the bound they are given."""
    places = range(len(curves))
    for name in next(iter(curves.values())):
        cells = [[100 * x for x in curve[name]] for curve in curves.values()]
        middle, low, high = zip(*cells, strict=True)
        axes.plot(places, middle, label=name, **looks[name].line())
        axes.fill_between(places, low, high, color=looks[name].colour, alpha=0.12, lw=0)
    axes.axhline(0.0, color="#555555", lw=0.8)
    axes.set_xticks(list(places), list(curves))
    axes.legend(frameon=False, fontsize=8)
