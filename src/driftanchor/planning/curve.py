"""Curve: what everyone lost along an axis, such as how far means have moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from driftanchor.core.check import Floats
from driftanchor.core.record import encode
from driftanchor.core.stats.summary import summarise

QUANTILES = {"median": 0.5, "q95": 0.95}


@dataclass(frozen=True, eq=False)
class Curve:
    """What everyone lost along an axis.

    Attributes:
        x: Where, ascending.
        lost: What, at each: by contender, in each world.
        unit: What 1 on the axis is in units of rewards.
    """

    x: Floats
    lost: tuple[Mapping[str, Floats], ...]
    unit: float = 1.0

    def to_json(self, axes: Mapping[str, list[float]]) -> dict[str, Any]:
        """For programs, with the names and values of its axes."""
        policies = {}
        for label in self.lost[0]:
            points = [summarise(lost[label], QUANTILES) for lost in self.lost]
            policies[label] = {name: [encode(x[name]) for x in points] for name in points[0]}
        return {**axes, "policies": policies}
