"""Intervals that stay within the range of rewards, and values that JSON can hold."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

from driftanchor.core.posterior import Posterior
from driftanchor.core.promises import Range

LEVEL = 0.95
_NORMAL = NormalDist()


def shortest_interval(
    law: Posterior, limits: Range, level: float = LEVEL
) -> tuple[float, float, float]:
    """Return the mode and the shortest interval of a normal law truncated to a range.

    Args:
        law: The normal law.
        limits: The range.
        level: The probability of the interval.

    Example:
        >>> [round(x, 3) for x in shortest_interval(Posterior(0.5, 0.1), (0.0, 1.0))]
        [0.5, 0.304, 0.696]
        >>> [round(x, 3) for x in shortest_interval(Posterior(0.01, 0.1), (0.0, 1.0))]
        [0.01, 0.0, 0.203]
    """
    (mean, sd), (smallest, largest) = law, limits
    mode = min(max(mean, smallest), largest)
    if sd == 0.0:
        return mode, mode, mode
    below, above = (_NORMAL.cdf((limit - mean) / sd) for limit in limits)
    mass = above - below
    if mass < 1e-12:  # the range is far out in a tail
        return mode, mode, mode
    half_width = sd * _NORMAL.inv_cdf(min(0.5 + level * mass / 2.0, 1.0 - 1e-16))
    low, high = mean - half_width, mean + half_width
    if low < smallest:
        low, high = smallest, mean + sd * _quantile(below + level * mass)
    elif high > largest:
        low, high = mean + sd * _quantile(above - level * mass), largest
    return mode, max(low, smallest), min(high, largest)


def interval_json(law: Posterior | None, limits: Range) -> dict[str, float] | None:
    """Return the interval of a law for the page; `None` if nothing is known."""
    if law is None or not math.isfinite(law.mean):
        return None
    mode, low, high = shortest_interval(law, limits)
    return {"mean": mode, "low": low, "high": high}


def finite(x: float) -> float | None:
    """Return the number, or `None` for NaN and infinity."""
    return x if math.isfinite(x) else None


def json_ready(value: Any) -> Any:
    """Replace NaN and infinity by `None` in nested lists and dicts."""
    if isinstance(value, float):
        return finite(value)
    if isinstance(value, dict):
        return {key: json_ready(x) for key, x in value.items()}
    if isinstance(value, list | tuple):
        return [json_ready(x) for x in value]
    return value


def _quantile(probability: float) -> float:
    return _NORMAL.inv_cdf(min(max(probability, 1e-300), 1.0 - 1e-16))
