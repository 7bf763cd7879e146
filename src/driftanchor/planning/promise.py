"""Promise: bounds on how far means have moved since the logs, absolute, relative or both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from driftanchor.core import check
from driftanchor.core.arms import Arms
from driftanchor.core.check import Floats
from driftanchor.core.offline import OfflineData
from driftanchor.core.promises import bias_bounds, check_promises, relative_bounds
from driftanchor.core.record import encode
from driftanchor.errors import InvalidInput
from driftanchor.planning.words import listed, number

LETTERS = {"V": "bias_bound", "W": "relative_bound"}
MOST_BOUND = 1e90  # means are moved by multiples of it, and their sums must stay finite


@dataclass(frozen=True, eq=False)
class Promise:
    """How far means may have moved since the logs; infinite means no bound.

    Attributes:
        levels: V of each arm: how far its online mean may be from its offline mean.
        apart: W of each arm: the same after removing a move that all arms share.

    Example:
        >>> promise = Promise(np.array([0.2, 0.2]), np.array([0.1, np.inf]))
        >>> promise.reach.tolist(), promise.text
        ([0.1, 0.2], 'V = 0.2 and W = 0.1')
    """

    levels: Floats
    apart: Floats

    @property
    def is_relative(self) -> bool:
        """Whether all arms may move together."""
        return bool(np.isfinite(self.apart).any())

    @property
    def has_levels(self) -> bool:
        """Whether any arm has a bias bound."""
        return bool(np.isfinite(self.levels).any())

    @property
    def reach(self) -> Floats:
        """How far each arm may move on its own."""
        return np.minimum(self.levels, self.apart)

    @property
    def letter(self) -> str:
        """The letter of the bound on own moves: V or W."""
        return "W" if self.is_relative else "V"

    @property
    def size(self) -> float:
        """The largest bound on an own move."""
        return largest(self.apart if self.is_relative else self.levels)

    @property
    def text(self) -> str:
        """Both bounds in words."""
        sizes = self.sizes()
        return " and ".join(
            f"{letter} = {number(sizes[name])}" for letter, name in LETTERS.items() if name in sizes
        )

    def trusting(self) -> Promise:
        """Return the promise that no arm has moved on its own."""
        return Promise(self.levels, np.zeros(len(self.apart)))

    def to_json(self, arms: Arms) -> dict[str, dict[str, float | str | None] | None]:
        """Return `bias_bound` and `relative_bound` by arm as JSON; null if none is declared."""

        def by_arm(bounds: Floats) -> dict[str, float | str | None] | None:
            if not np.isfinite(bounds).any():
                return None
            return {x: encode(b) for x, b in zip(arms, bounds.tolist(), strict=True)}

        return {"bias_bound": by_arm(self.levels), "relative_bound": by_arm(self.apart)}

    def sizes(self) -> dict[str, float]:
        """Return the largest declared bound of each kind."""
        kinds: Mapping[str, Floats] = {"bias_bound": self.levels, "relative_bound": self.apart}
        return {name: largest(x) for name, x in kinds.items() if np.isfinite(x).any()}


def largest(bounds: Floats) -> float:
    """The largest bound that is finite."""
    return float(bounds[np.isfinite(bounds)].max())


class Promised(NamedTuple):
    """A promise, the logs it lets one use, and what was left out."""

    promise: Promise
    offline: OfflineData
    notes: tuple[str, ...]


def promised(bias_bound: object, relative_bound: object, offline: OfflineData) -> Promised:
    """Validate the declared bounds.

    An arm with neither bound may have moved anywhere, so its logs are left out, and it is treated
    as an arm without logs. At least one arm with logs needs a bound.
    """
    if bias_bound is None and relative_bound is None:
        raise InvalidInput(
            "and relative_bound are missing: say how far an arm's online mean may be "
            "from its offline mean, or how far arms may have moved apart",
            argument="bias_bound",
        )
    arms = offline.arms
    levels = bias_bounds(np.inf if bias_bound is None else bias_bound, arms)
    apart = relative_bounds(relative_bound, arms)
    for name, bounds in (("bias_bound", levels), ("relative_bound", apart)):
        for label, bound in zip(arms, bounds.tolist(), strict=True):
            if np.isfinite(bound):
                check.number(bound, name, of=f"arm {label!r}", high=MOST_BOUND)
    anywhere = np.isinf(levels) & np.isinf(apart)
    if anywhere[offline.n > 0].all():
        given = {"bias_bound": bias_bound, "relative_bound": relative_bound}
        raise InvalidInput(
            "must be finite for at least one arm with logs, got inf: if nothing is "
            "promised, means may have moved anywhere and the logs can save nothing; go without "
            "them, or give a number, such as suggest (driftanchor shift) finds in logs of several "
            "periods",
            argument=next(name for name, value in given.items() if value is not None),
        )
    left_out = [x for x, n, gone in zip(arms, offline.n, anywhere, strict=True) if gone and n > 0]
    if left_out:
        gone = set(left_out)
        offline = offline.over([x for x in arms if x not in gone]).over(arms)
    check_promises(apart, offline.n, arms)
    # Bounds say nothing about an arm without logs; it may move as far as the others.
    if np.isfinite(apart).any():
        apart = np.where(anywhere, largest(apart), apart)
    else:
        levels = np.where(anywhere, largest(levels), levels)
    notes = f"nothing is promised of {listed(left_out)}, so these logs are left out"
    return Promised(Promise(levels, apart), offline, (notes,) if left_out else ())
