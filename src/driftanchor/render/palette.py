"""The look of every policy: one colour, marker and line, the same in all figures.

The first colours are those of Okabe and Ito, which colour-blind people can tell apart. Markers and
dashes tell the policies apart in grey. A policy with other parameters keeps its colour and marker,
and gets another line and hollow markers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Dash = tuple[float, tuple[float, ...]]

SOLID: Dash = (0.0, ())
LONG: Dash = (0.0, (7.0, 2.0))
SHORT: Dash = (0.0, (3.0, 1.5))
DOTS: Dash = (0.0, (1.0, 1.2))
DASH_DOT: Dash = (0.0, (6.0, 1.5, 1.0, 1.5))
DASH_DOTS: Dash = (0.0, (5.0, 1.5, 1.0, 1.5, 1.0, 1.5))
DASHES = (SHORT, DOTS, DASH_DOT, DASH_DOTS, LONG, SOLID)

# Okabe and Ito's colours.
BLUE = "#0072B2"
VERMILLION = "#D55E00"
GREEN = "#009E73"
PINK = "#CC79A7"
ORANGE = "#E69F00"
SKY = "#56B4E9"
BLACK = "#000000"

GREY = "#7F7F7F"
DARK_GREY = "#444444"  # totals and whatever belongs to no single arm
MARK_GREY = "#59636e"  # a line with a word that marks a place on an axis


@dataclass(frozen=True)
class Look:
    """How a policy, an arm or a group is drawn."""

    colour: str
    marker: str
    dash: Dash = SOLID
    width: float = 1.4
    hollow: bool = False

    def line(self, scale: float = 1.0) -> dict[str, Any]:
        """The keyword arguments for Matplotlib's `plot`; `scale` makes all of them smaller."""
        return {
            "color": self.colour,
            "marker": self.marker,
            "linestyle": self.dash,
            "linewidth": self.width * scale,
            "markersize": 4.5 * scale,
            "markeredgewidth": 0.9 * scale,
            "markerfacecolor": "white" if self.hollow else self.colour,
        }


POLICY_LOOKS = {
    "anchor-ts": Look(VERMILLION, "o", SOLID, 2.2),
    "ts": Look(BLUE, "s", LONG),
    "ucb": Look(BLACK, "^", SHORT),
    "hybrid-ts": Look(SKY, "D", DASH_DOT),
    "hybrid-ucb": Look(ORANGE, "v", DOTS, 1.8),
    "min-ucb": Look(GREEN, "P", DASH_DOTS),
    "optimistic-ts": Look(PINK, "X", SOLID),
    "epsilon-ts": Look("#7A5230", "<", LONG),
    "beta-ts": Look("#44AA99", "x", LONG),
    "kl-ucb": Look("#332288", "+", SHORT),
    "moss": Look("#AA4499", "1", DASH_DOT),
    "ada-ucb": Look("#661100", "2", DASH_DOTS),
    "mots": Look("#5C7CFA", "3", SOLID),
    "artificial-replay": Look(GREY, ">", SHORT),
    "hierarchical-ts": Look("#882255", "h", DASH_DOT),
    "sam-ts": Look("#999933", "p", DASH_DOTS),
    "guarded-anchor-ts": Look("#6A3D9A", "*", SOLID, 2.2),
}
# What people call them; a policy that is not here is called by its own name.
POLICY_NAMES = {
    "anchor-ts": "Anchor-TS",
    "ts": "TS",
    "ucb": "UCB",
    "hybrid-ts": "hybrid TS",
    "hybrid-ucb": "hybrid UCB",
    "min-ucb": "MIN-UCB",
    "optimistic-ts": "optimistic TS",
    "epsilon-ts": "ε-exploring TS",
    "artificial-replay": "Artificial Replay",
    "hierarchical-ts": "hierarchical TS",
    "sam-ts": "SAM-TS",
    "guarded-anchor-ts": "guarded Anchor-TS",
    "beta-ts": "Beta-TS",
    "kl-ucb": "KL-UCB",
    "moss": "MOSS",
    "ada-ucb": "ADA-UCB",
    "mots": "MOTS",
}
# For policies that are not ours.
OTHER_LOOKS = (
    Look("#117733", "d", SOLID),
    Look("#8B0000", "H", LONG),
    Look("#2F4F4F", "8", DASH_DOT),
    Look("#B8860B", "d", SHORT),
)
# For arms, periods or groups of cells, in this order.
SERIES = (
    Look(BLUE, "o"),
    Look(VERMILLION, "s"),
    Look(GREEN, "D"),
    Look(PINK, "^"),
    Look(ORANGE, "v"),
    Look(SKY, "P"),
    Look(BLACK, "X"),
)


def names(policies: Mapping[str, str]) -> dict[str, str]:
    """What people read for each label: the policy's name, or the label that a user gave it.

    Args:
        policies: The name of the policy behind each label.

    Example:
        >>> names({"min-ucb": "min-ucb", "careful": "anchor-ts"})
        {'min-ucb': 'MIN-UCB', 'careful': 'careful'}
    """
    return {
        label: POLICY_NAMES.get(label, label) if label == name else label
        for label, name in policies.items()
    }


def looks(policies: Mapping[str, str]) -> dict[str, Look]:
    """The look of each label; the same labels always look the same.

    Args:
        policies: The name of the policy behind each label.

    Example:
        >>> drawn = looks({"anchor-ts": "anchor-ts", "anchor-ts c=2": "anchor-ts"})
        >>> drawn["anchor-ts"].colour == drawn["anchor-ts c=2"].colour
        True
    """
    drawn: dict[str, Look] = {}
    variants: dict[str, int] = {}
    others = [name for name in dict.fromkeys(policies.values()) if name not in POLICY_LOOKS]
    for label, name in policies.items():
        look = POLICY_LOOKS.get(name) or _other(others.index(name))
        if label != name:
            number = variants.setdefault(name, 0)
            variants[name] += 1
            look = Look(look.colour, look.marker, _another_dash(look, number), hollow=True)
        drawn[label] = look
    return drawn


def _other(number: int) -> Look:
    """The look of the policy of this number that is not ours: colours repeat, lines do not soon."""
    again, which = divmod(number, len(OTHER_LOOKS))
    look = OTHER_LOOKS[which]
    return look if not again else Look(look.colour, look.marker, _another_dash(look, again - 1))


def _another_dash(look: Look, number: int) -> Dash:
    free = [dash for dash in DASHES if dash != look.dash]
    return free[number % len(free)]
