"""The history of a campaign: decisions and rewards of each arm, by stretches of time."""

from __future__ import annotations

from driftanchor.live.stores.journal import Entry
from driftanchor.live.stores.store_rows import HistoryRow

STRETCH = 900.0  # seconds of one row of the history
KINDS = ("decided", "rewarded", "defaulted", "added", "corrected")
Past = dict[tuple[float, int], HistoryRow]


def remember(past: Past, entry: Entry) -> None:
    """Add an event to the history, if it is a decision or a reward."""
    column = entry.column
    if column is None or entry.kind not in KINDS:
        return
    start = entry.at // STRETCH * STRETCH
    row = past.get((start, column))
    if row is None:
        row = past[start, column] = HistoryRow(start, column)
    if entry.kind == "decided":
        row.decisions += 1
        return
    row.total += entry.value or 0.0
    if entry.kind == "corrected":
        row.total -= (entry.detail or {})["before"]
    else:
        row.rewards += 1
