"""The history of a campaign, by stretches of time."""

from __future__ import annotations

from driftanchor.live.campaigns.past import Past, remember, remember_rewards
from driftanchor.live.stores.journal import Entry
from driftanchor.live.stores.rows import HistoryRow


def test_decisions_and_rewards_are_counted_where_they_happen() -> None:
    past: Past = {}
    for entry in (
        Entry(1, "decided", 10.0, 1, 0),
        Entry(2, "decided", 899.0, 2, 1),
        Entry(3, "defaulted", 900.0, 1, 0, 0.25),
        Entry(4, "corrected", 950.0, 1, 0, 1.0, {"before": 0.25}),
        Entry(5, "late", 950.0, 2, 1, 1.0),
        Entry(6, "paused", 950.0),
    ):
        remember(past, entry)
    assert list(past.values()) == [
        HistoryRow(0.0, 0, decisions=1),
        HistoryRow(0.0, 1, decisions=1),
        HistoryRow(900.0, 0, rewards=1, total=1.0),
    ]


def test_rewards_are_counted_together_as_one_by_one() -> None:
    together: Past = {}
    apart: Past = {}
    for past in (together, apart):
        remember(past, Entry(1, "rewarded", 10.0, 1, 0, 0.1))
    remember_rewards(together, 20.0, {1: [0.3], 0: [0.2, 0.7]})
    for entry in (
        Entry(2, "rewarded", 20.0, 2, 1, 0.3),
        Entry(3, "rewarded", 20.0, 3, 0, 0.2),
        Entry(4, "rewarded", 20.0, 4, 0, 0.7),
    ):
        remember(apart, entry)
    assert together == apart
