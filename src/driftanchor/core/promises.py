"""Validation of the user's promises: bias bounds, relative bounds and the reward range."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from driftanchor.core import check
from driftanchor.core.arms import Arms, valid_arms
from driftanchor.core.check import LARGEST, SMALLEST, Floats, Ints
from driftanchor.core.offline import OfflineData
from driftanchor.errors import InvalidInput, shown

Range = tuple[float, float]
ANYTHING: Range = (-math.inf, math.inf)
ROUNDING = 1e-12  # relative rounding error of a logged mean


def valid_range(value: object, means: Floats | None = None) -> Range:
    """Return the lowest and the highest possible reward.

    Args:
        value: The range to check; `None` allows every finite reward.
        means: Logged means, NaN for arms without logs; the range must contain them.

    Example:
        >>> valid_range((0, 1)), valid_range(None)
        ((0.0, 1.0), (-inf, inf))
    """
    low, high = ANYTHING if value is None else check.rising_pair(value, "reward_range")
    for end in (low, high):
        if math.isfinite(end) and abs(end) > LARGEST:
            raise InvalidInput(
                f"must be between {-LARGEST:g} and {LARGEST:g}, or infinite, got {end:g}: use a "
                "larger unit of rewards",
                argument="reward_range",
            )
    if high - low < 2 * SMALLEST:
        raise InvalidInput(
            f"is only {high - low:g} wide: use a smaller unit of rewards", argument="reward_range"
        )
    known = np.zeros(0) if means is None else means[~np.isnan(means)]
    slack = ROUNDING * np.abs(known)
    if (known < low - slack).any() or (known > high + slack).any():
        raise InvalidInput(
            f"is {low:g} to {high:g}, and the means of the logs go from {known.min():g} to "
            f"{known.max():g}: give the lowest and the highest reward possible",
            argument="reward_range",
        )
    return low, high


def check_log_sizes(offline: OfflineData) -> None:
    """Reject logs whose means or variances are so large that policies could overflow.

    Example:
        >>> check_log_sizes(OfflineData.from_summary({"A": (9, 1e308)}))
        Traceback (most recent call last):
            ...
        driftanchor.errors.InvalidInput: offline has the mean 1e+308 and the variance nan for ...
    """
    for label, n, mean, variance in zip(
        offline.arms, offline.n, offline.mean, offline.variance, strict=True
    ):
        if n > 0 and (abs(mean) > LARGEST or variance > LARGEST**2):
            raise InvalidInput(
                f"has the mean {mean:g} and the variance {variance:g} for arm {label!r}: means and "
                f"standard deviations must be at most {LARGEST:g}; use a larger unit of rewards",
                argument="offline",
            )


def bias_bounds(value: object, arms: Arms) -> Floats:
    """Return the declared bound on |online mean − offline mean| of each arm.

    Args:
        value: One number for all arms, a list, a mapping from every label to its number, or a
            `driftanchor.shift.Suggestion`. A bound of `inf` promises nothing.
        arms: The arms.

    Example:
        >>> bias_bounds({"A": 0.1, "B": float("inf")}, Arms(["A", "B"])).tolist()
        [0.1, inf]
    """
    return _bounds(value, "bias_bound", arms)


def relative_bounds(value: object, arms: Arms) -> Floats:
    """Return each arm's declared bound on |online mean − offline mean − c|, for a common move c.

    The arguments are those of `bias_bounds`; `None` promises nothing.

    Example:
        >>> relative_bounds(0.02, Arms(["A", "B"])).tolist()
        [0.02, 0.02]
    """
    return _bounds(math.inf if value is None else value, "relative_bound", arms)


def _bounds(value: object, name: str, arms: Arms) -> Floats:
    valid_arms(arms)
    if not check.is_number(value) and not isinstance(value, Iterable):
        value = getattr(value, name, value)  # a Suggestion has both bounds
    if isinstance(value, Mapping):
        value = _by_arm(value, name, arms)
    elif isinstance(value, str | bytes) or not (
        check.is_number(value) or isinstance(value, Iterable)
    ):
        raise InvalidInput(
            f"must be a number, a list, a mapping of arms or a Suggestion, got {shown(value)}",
            argument=name,
        )
    bounds = check.per_arm(value, name, arms, low=0.0, infinite=True)
    for label, bound in zip(arms, bounds.tolist(), strict=True):
        if LARGEST < bound < math.inf:
            raise InvalidInput(
                f"of arm {label!r} must be at most {LARGEST:g}, got {bound:g}: give inf where "
                "nothing is known",
                argument=name,
            )
    return check.frozen(bounds)


def _by_arm(bounds: Mapping[Any, object], name: str, arms: Arms) -> list[object]:
    """Return a mapping's values in the order of the arms; reject unknown or missing labels."""
    for label in bounds:
        arms.column(label, name)
    for label in arms:
        if label not in bounds:
            raise InvalidInput(
                f"has no number for arm {label!r}: give one for each arm, inf where nothing "
                "is promised",
                argument=name,
            )
    return [bounds[label] for label in arms]


def check_promises(relative_bounds: Floats, offline_pulls: Ints, arms: Arms) -> None:
    """Reject finite relative bounds unless at least two arms have both logs and a finite bound.

    Bias bounds and relative bounds need no comparison: all of them hold if no arm moves.
    """
    if np.isinf(relative_bounds).all():
        return
    logged = offline_pulls > 0
    bounded = np.flatnonzero(logged & np.isfinite(relative_bounds))
    if not logged.any():
        raise InvalidInput(
            "is given and no arm has logs: give the logs, or leave it out",
            argument="relative_bound",
        )
    if bounded.size < 2:
        which = (
            "no arm has both"
            if bounded.size == 0
            else f"only arm {arms[int(bounded[0])]!r} has both"
        )
        raise InvalidInput(
            "needs at least two arms with logs and a finite bound, and "
            f"{which}: with one logged arm a common move cannot be separated from its own; give a "
            "bias bound instead",
            argument="relative_bound",
        )
