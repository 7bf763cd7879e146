"""Believed: intervals of what is believed of a mean, which never leave the range of rewards."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

from driftanchor.core.posterior import Posterior
from driftanchor.core.promises import Range

CHANCE = 0.95
_STANDARD = NormalDist()


def inside(law: Posterior, ends: Range, chance: float = CHANCE) -> tuple[float, float, float]:
    """The likeliest value in a range, and the shortest interval there that has `chance`.

    The law is normal, cut off at the ends of the range: a rate is never below 0 or above 1.

    Args:
        law: What is believed before the range is looked at.
        ends: The least and the largest value possible.
        chance: The probability of the interval.

    Example:
        >>> [round(x, 3) for x in inside(Posterior(0.5, 0.1), (0.0, 1.0))]
        [0.5, 0.304, 0.696]
        >>> [round(x, 3) for x in inside(Posterior(0.01, 0.1), (0.0, 1.0))]
        [0.01, 0.0, 0.203]
    """
    (mean, sd), (least, most) = law, ends
    point = min(max(mean, least), most)
    if sd == 0.0:
        return point, point, point
    below, above = (_STANDARD.cdf((end - mean) / sd) for end in ends)
    whole = above - below
    if whole < 1e-12:  # all that is believed is beyond the range
        return point, point, point
    reach = sd * _STANDARD.inv_cdf(min(0.5 + chance * whole / 2.0, 1.0 - 1e-16))
    low, high = mean - reach, mean + reach
    if low < least:
        low, high = least, mean + sd * _quantile(below + chance * whole)
    elif high > most:
        low, high = mean + sd * _quantile(above - chance * whole), most
    return point, max(low, least), min(high, most)


def _quantile(chance: float) -> float:
    return _STANDARD.inv_cdf(min(max(chance, 1e-300), 1.0 - 1e-16))


def drawn(law: Posterior | None, ends: Range) -> dict[str, float] | None:
    """An interval as the page draws it; `None` where nothing is known."""
    if law is None or not math.isfinite(law.mean):
        return None
    point, low, high = inside(law, ends)
    return {"mean": point, "low": low, "high": high}


def number(x: float) -> float | None:
    """A number as JSON has it; `None` where there is none, or where it is infinite."""
    return x if math.isfinite(x) else None


def plain(value: Any) -> Any:
    """All of a value as JSON has it: no NaN, no infinity."""
    if isinstance(value, float):
        return number(value)
    if isinstance(value, dict):
        return {key: plain(x) for key, x in value.items()}
    if isinstance(value, list | tuple):
        return [plain(x) for x in value]
    return value
