"""The texts of an assessment's page, and how its sentences format numbers and labels."""

from __future__ import annotations

from typing import NamedTuple

from driftanchor.core.stats.intervals import Estimate
from driftanchor.render import numbers
from driftanchor.render.numbers import rounded as number
from driftanchor.render.table import Table

__all__ = ["Texts", "interval", "listed", "number"]


class Texts(NamedTuple):
    """The texts of a page."""

    title: str
    answers: tuple[str, str]  # two or three words each: if the logs help, and if not
    lead: str
    expected: str  # the worlds behind the numbers of the first table
    how: str  # how these worlds are made
    shift_axis: str
    shift_ticks: tuple[str, ...]
    shift_says: str
    shift_mark: tuple[float, str]  # a position on that axis, and its label
    tables: tuple[Table, ...]


def interval(estimate: Estimate) -> str:
    """The ends of an interval.

    Example:
        >>> interval(Estimate(12.0, 9.5, 14.5))
        '9.50 to 14.5'
    """
    return numbers.interval(estimate.low, estimate.high)


def listed(labels: list[str], most: int = 10) -> str:
    """Labels in a sentence; the first ones when they are many.

    Example:
        >>> listed(["A", "B", "C"], most=2)
        'A, B and 1 more'
    """
    rest = len(labels) - most
    return ", ".join(labels[:most]) + (f" and {rest} more" if rest > 0 else "")
