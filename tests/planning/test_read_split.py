"""Reading logs on both sides of a split, and how far each arm moved."""

from __future__ import annotations

import pytest
from two_months import NAMES, SAME, SPLIT, events

from driftanchor import OfflineData, replay
from driftanchor.planning.read_split import move_of, read_split
from driftanchor.planning.replay_prose import shift_table


def test_arms_of_one_side_alone_are_told() -> None:
    moved = events({"old": 0.3, "A": 0.2, "B": 0.1}, {"A": 0.2, "B": 0.1, "new": 0.4}, n=50)
    past = read_split(moved, SPLIT, **NAMES)
    assert list(past.after.arms) == ["A", "B", "new"]
    assert past.before.n.tolist() == [50, 50, 0]
    assert list(past.shifts) == ["A", "B"]
    assert past.notes[:2] == (
        "only before the split, and left out: old",
        "only after the split, and without logs: new",
    )
    found = replay(moved, split=SPLIT, worlds=2, horizon=20, **NAMES)
    assert shift_table(found).rows[2][1:3] == ("0", "–")


def test_only_the_arms_asked_for() -> None:
    past = read_split(SAME, SPLIT, arms=["C", "A"], **NAMES)
    assert list(past.before.arms) == ["C", "A"]


def test_the_interval_of_a_shift_of_rates() -> None:
    # Newcombe (1998), example (a) of method 10: 56/70 − 48/80 is 0.2, from 0.0524 to 0.3339
    def one(n: int, k: int) -> OfflineData:
        rate = k / n
        return OfflineData.from_summary({"A": (n, rate, rate * (1 - rate) * n / (n - 1))})

    shift = move_of(one(80, 48), one(70, 56), "A")
    assert shift == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)
