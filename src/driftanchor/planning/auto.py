"""`auto` as a bound: what `shift` suggests from the periods of the same logs."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from driftanchor.core.arms import Arms
from driftanchor.core.log_options import LogOptions
from driftanchor.core.offline import OfflineData
from driftanchor.errors import InvalidInput, shown
from driftanchor.logs.periods import Periods, read_periods
from driftanchor.logs.query import CALENDAR
from driftanchor.planning.split import Split
from driftanchor.planning.words import number
from driftanchor.shift import Suggestion, suggest

AUTO = "auto"
NAMES = ("bias_bound", "relative_bound")
MEANS = {
    "bias_bound": "V = {}: how far the mean of an arm may have moved",
    "relative_bound": "W = {}: how far arms may have moved apart",
}


class Declared(NamedTuple):
    """The two bounds as they were given, and where they come from in words."""

    bias_bound: object
    relative_bound: object
    notes: tuple[str, ...]


def is_auto(value: object) -> bool:
    """Whether a bound is to be taken from the logs."""
    return isinstance(value, str) and value == AUTO


def declared(
    bias_bound: object,
    relative_bound: object,
    periods: Mapping[str, OfflineData] | None,
    missing: str,
    arms: Arms,
) -> Declared:
    """The bounds with `"auto"` replaced by what the periods suggest.

    Args:
        bias_bound: A bound, a `Suggestion`, or `"auto"`.
        relative_bound: The same.
        periods: The logs by period, if they are known.
        missing: What to do where they are not.
        arms: Those of the logs; the periods must be of some of them.
    """
    given = dict(zip(NAMES, (bias_bound, relative_bound), strict=True))
    asked = [name for name, value in given.items() if is_auto(value)]
    for name, value in given.items():
        if isinstance(value, str) and value != AUTO:
            raise InvalidInput(f"must be numbers or 'auto', got {shown(value)}", argument=name)
    if asked and periods is None:
        raise InvalidInput(
            f"is 'auto' and the logs are not in periods: {missing}", argument=asked[0]
        )
    if asked and periods is not None:
        unit = periods.by if isinstance(periods, Periods) and periods.by in CALENDAR else "period"
        found = suggest(periods, unit=unit)
        others = list(found.arms)
        if not set(others) & set(arms):
            raise InvalidInput(
                f"have none of the arms of the logs: they have {shown(others)}, the logs "
                f"{shown(list(arms))}; give the periods of these logs",
                argument="periods",
            )
        given |= dict.fromkeys(asked, found)
    notes = []
    for name, value in given.items():
        if isinstance(value, Suggestion):
            notes.append(_note(name, value))
    return Declared(given["bias_bound"], given["relative_bound"], tuple(notes))


def _note(name: str, found: Suggestion) -> str:
    bound = float(getattr(found, name))
    many = len(found.periods)
    if not np.isfinite(bound):
        never = (
            "no arm was seen in two periods"
            if name == "bias_bound"
            else "no two arms were seen in the same two periods"
        )
        there = "there is one period only" if many == 1 else f"of {many} periods"
        raise InvalidInput(
            f"is to be taken from the logs, and they do not show how far arms move: {never} "
            f"({there}); give a number, or shorter periods",
            argument=name,
        )
    return f"{MEANS[name].format(number(bound))}, estimated from {many} periods of the logs"


def periods_of(logs: object, split: Split, by: str | None, options: LogOptions) -> Periods | None:
    """The log's side of a split by period; `None` where nothing says what the periods are."""
    if by is None:
        return None
    # The whole was warned of and accounted for already.
    side = split.log({**options, "allow_rejects": True, "allow_growth": True})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read_periods(logs, by=by, **side)
