"""What each policy lost beyond TS on Upworthy's retests, and how that depends on V."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from driftanchor.experiments import style
from driftanchor.files import write_whole


def draw(blocks: Mapping[str, Any], path: Path) -> None:
    """Two panels, both in points of the share that can be lost, with bootstrap intervals."""
    rows = blocks["upworthy-policies"]["measured"]
    curves = blocks["upworthy-bounds"]["curves"]
    names = {name: name for name in rows}
    looks = style.looks(names)
    with style.sheet():
        figure = style.blank(10.0, 4.2)
        left, right = figure.subplots(1, 2, width_ratios=(1.25, 1.0))
        for y, (name, row) in enumerate(reversed(rows.items())):
            middle, low, high = (100 * x for x in row["share_apart"])
            known = name in style.POLICIES or name == "guarded-anchor-ts"
            colour = looks[name].colour if known else "#7F7F7F"
            left.plot([low, high], [y, y], color=colour, lw=1.8)
            left.plot([middle], [y], color=colour, marker=looks[name].marker, ms=6)
        left.set_yticks(range(len(rows)), list(reversed(rows)))
        left.axvline(0.0, color="#555555", lw=0.8)
        left.set_xlabel("share lost minus that of ts, points (left is better)")
        places = range(len(curves))
        for name in next(iter(curves.values())):
            cells = [[100 * x for x in curve[name]] for curve in curves.values()]
            middle, low, high = zip(*cells, strict=True)
            right.plot(places, middle, label=name, **looks[name].line())
            right.fill_between(places, low, high, color=looks[name].colour, alpha=0.12, lw=0)
        right.axhline(0.0, color="#555555", lw=0.8)
        right.set_xticks(list(places), list(curves))
        right.set_xlabel("bias bound handed to the policy")
        right.set_ylabel("share lost minus that of ts, points")
        right.legend(frameon=False)
        for axes in (left, right):
            axes.grid(alpha=0.25)
            axes.spines[["top", "right"]].set_visible(False)
        with write_whole(path) as file:
            figure.savefig(file, format="svg", metadata={"Date": None})
