"""Bandits that are alike but for their online means: made quickly, and played together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from driftanchor.core import check
from driftanchor.core.check import Floats
from driftanchor.errors import InvalidInput
from driftanchor.simulation.bandit import Bandit


def with_means(bandit: Bandit, rows: Floats) -> Iterator[Bandit]:
    """The bandit with other online means, one for each row; nothing is checked again.

    Args:
        bandit: One whose bias bounds were given.
        rows: Online means by (bandit, arm), within what its rewards allow.

    Example:
        >>> two = with_means(Bandit([0.8, 0.5], 0.5, 9, 0.1), np.array([[0.7, 0.6], [0.4, 0.6]]))
        >>> [one.online.tolist() for one in two]
        [[0.7, 0.6], [0.4, 0.6]]
    """
    for row in rows:
        other = object.__new__(type(bandit))
        vars(other).update(vars(bandit))
        vars(other)["online"] = check.frozen(row.copy())
        yield other


def means_of_alike(bandits: Sequence[Bandit]) -> Floats:
    """The online means of bandits that share all else, by (bandit, arm)."""
    first = {name: x for name, x in vars(bandits[0]).items() if name != "online"}
    if any(vars(one)[name] is not x for one in bandits[1:] for name, x in first.items()):
        raise InvalidInput("must differ in their online means alone", argument="bandits")
    return np.stack([one.online for one in bandits])
