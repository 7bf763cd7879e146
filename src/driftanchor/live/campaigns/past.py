"""The history of a campaign: decisions and rewards of each arm by time interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from driftanchor.live.stores.journal import Entry
from driftanchor.live.stores.rows import HistoryRow

STRETCH = 900.0  # seconds of one row of the history
KINDS = ("decided", "rewarded", "defaulted", "added", "corrected")
Past = dict[tuple[float, int], HistoryRow]


def remember(past: Past, entry: Entry) -> None:
    """Add an event to the history, if it is a decision or a reward."""
    _, kind, at, _, column, value, detail = entry
    if column is None or kind not in KINDS:
        return
    if kind == "corrected" and detail is not None:
        at = detail.get("counted_at", at)  # subtract the old reward from its interval
    row = _row(past, at, column)
    if kind == "decided":
        row.decisions += 1
        return
    row.total += value or 0.0
    if kind == "corrected":
        row.total -= (detail or {})["before"]
    else:
        row.rewards += 1


def remember_rewards(past: Past, at: float, paid: Mapping[int, Sequence[float]]) -> None:
    """Add rewards that came at one time to the history: those of each arm, in order."""
    for column, rewards in paid.items():
        row = _row(past, at, column)
        row.rewards += len(rewards)
        for reward in rewards:
            row.total += reward


def _row(past: Past, at: float, column: int) -> HistoryRow:
    """The row of an arm and a time."""
    start = at // STRETCH * STRETCH
    row = past.get((start, column))
    if row is None:
        row = past[start, column] = HistoryRow(start, column)
    return row
