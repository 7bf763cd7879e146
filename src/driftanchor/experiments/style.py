"""How figures look: one colour, marker and line for each policy, everywhere.

Colours are those of Okabe and Ito, which colour-blind people tell apart; markers and dashes tell
the policies apart in grey. A policy with other parameters keeps its colour and gets another line.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from driftanchor.errors import require
from driftanchor.files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Dash = tuple[float, tuple[float, ...]]
FORMATS = ("png", "svg")
DPI = 160

SOLID: Dash = (0.0, ())
LONG: Dash = (0.0, (7.0, 2.0))
SHORT: Dash = (0.0, (3.0, 1.5))
DOTS: Dash = (0.0, (1.0, 1.2))
DASH_DOT: Dash = (0.0, (6.0, 1.5, 1.0, 1.5))
DASH_DOTS: Dash = (0.0, (5.0, 1.5, 1.0, 1.5, 1.0, 1.5))
DASHES = (SHORT, DOTS, DASH_DOT, DASH_DOTS, LONG, SOLID)


@dataclass(frozen=True)
class Look:
    """How a policy is drawn; the line of a variant of a policy has hollow markers."""

    colour: str
    marker: str
    dash: Dash
    width: float = 1.4
    hollow: bool = False

    def line(self) -> dict[str, Any]:
        """What Matplotlib's `plot` takes."""
        return {
            "color": self.colour,
            "marker": self.marker,
            "linestyle": self.dash,
            "linewidth": self.width,
            "markersize": 4.5,
            "markeredgewidth": 0.9,
            "markerfacecolor": "white" if self.hollow else self.colour,
        }


POLICIES = {
    "anchor-ts": Look("#D55E00", "o", SOLID, 2.2),
    "ts": Look("#0072B2", "s", LONG),
    "ucb": Look("#000000", "^", SHORT),
    "hybrid-ts": Look("#56B4E9", "D", DASH_DOT),
    "hybrid-ucb": Look("#E69F00", "v", DOTS, 1.8),
    "min-ucb": Look("#009E73", "P", DASH_DOTS),
    "optimistic-ts": Look("#CC79A7", "X", SOLID),
    "epsilon-ts": Look("#7A5230", "<", LONG),
    "artificial-replay": Look("#7F7F7F", ">", SHORT),
}
_FURTHER = (
    Look("#4B0082", "h", SOLID),
    Look("#8B0000", "*", LONG),
    Look("#2F4F4F", "p", DASH_DOT),
    Look("#B8860B", "d", SHORT),
)


def looks(policies: Mapping[str, str]) -> dict[str, Look]:
    """How each label is drawn; the same labels are always drawn alike.

    Args:
        policies: The name of the policy that stands behind each label.

    Example:
        >>> drawn = looks({"anchor-ts": "anchor-ts", "anchor-ts c=2": "anchor-ts"})
        >>> drawn["anchor-ts"].colour == drawn["anchor-ts c=2"].colour
        True
    """
    drawn: dict[str, Look] = {}
    variants: dict[str, int] = {}
    unknown = [name for name in dict.fromkeys(policies.values()) if name not in POLICIES]
    for label, name in policies.items():
        base = POLICIES.get(name) or _FURTHER[unknown.index(name) % len(_FURTHER)]
        if label != name:
            free = [dash for dash in DASHES if dash != base.dash]
            dash = free[variants.setdefault(name, 0) % len(free)]
            variants[name] += 1
            base = Look(base.colour, base.marker, dash, 1.4, hollow=True)
        drawn[label] = base
    return drawn


def blank(width: float, height: float) -> Figure:
    """A figure to draw on, in inches, which lays itself out."""
    module = require("matplotlib.figure", extra="plot", why="drawing figures")
    figure: Figure = module.Figure(figsize=(width, height), layout="constrained")
    return figure


@contextlib.contextmanager
def sheet() -> Iterator[None]:
    """Matplotlib's own defaults, whatever the machine's configuration says."""
    library = require("matplotlib.style", extra="plot", why="drawing figures")
    with library.context(["default", {"svg.fonttype": "path", "svg.hashsalt": "driftanchor"}]):
        yield


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write a figure as PNG and SVG; the same figure always gives the same bytes."""
    paths = [folder / f"{name}.{suffix}" for suffix in FORMATS]
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # laid out once is enough
    for path in paths:
        kind = path.suffix[1:]
        metadata = {"Date": None} if kind == "svg" else {"Software": None}
        with write_whole(path) as file:
            figure.savefig(file, format=kind, dpi=DPI, metadata=metadata)
    return paths
