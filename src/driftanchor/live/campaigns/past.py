"""The history of a campaign: decisions and rewards of each arm, by stretches of time."""

from __future__ import annotations

from driftanchor.live.stores.journal import Entry
from driftanchor.live.stores.store_rows import HistoryRow

STRETCH = 900.0  # seconds of one row of the history
KINDS = ("decided", "rewarded", "defaulted", "added", "corrected")
Past = dict[tuple[float, int], HistoryRow]


def remember(past: Past, entry: Entry) -> None:
    """Add an event to the history, if it is a decision or a reward."""
    _, kind, at, _, column, value, detail = entry
    if column is None or kind not in KINDS:
        return
    start = at // STRETCH * STRETCH
    row = past.get((start, column))
    if row is None:
        row = past[start, column] = HistoryRow(start, column)
    if kind == "decided":
        row.decisions += 1
        return
    row.total += value or 0.0
    if kind == "corrected":
        row.total -= (detail or {})["before"]
    else:
        row.rewards += 1
