"""The cost of a run against its horizon, and of a round against the number of arms."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from driftanchor.files import write_whole
from driftanchor.render.figure import blank, sheet

LOOKS = {
    "every-round": ("#000000", "s"),
    "thinned": ("#0072B2", "D"),
    "events": ("#D55E00", "o"),
}
PANELS = {
    "bench-horizon": ("horizon T", "cost of a run (every-round, T = 10⁴: 1)"),
    "bench-arms": ("arms K", "cost of a round (every-round, K = 10: 1)"),
}


def draw(blocks: Mapping[str, Any], path: Path) -> None:
    """Two log-log panels side by side."""
    with sheet():
        figure = blank(9.0, 3.6)
        for axes, (name, (x, y)) in zip(figure.subplots(1, 2), PANELS.items(), strict=True):
            for label, points in blocks[name]["curves"].items():
                colour, marker = LOOKS[label]
                axes.loglog(*zip(*points, strict=True), color=colour, marker=marker, label=label)
            axes.set(xlabel=x, ylabel=y)
            axes.grid(alpha=0.3)
            axes.legend(frameon=False)
        with write_whole(path) as file:
            figure.savefig(file, format="svg", metadata={"Date": None})
