"""Arms that come, go and return."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from campaign_parts import create

from driftanchor import Campaign, Conflict, InvalidInput, Store
from driftanchor.live.stores.store import open_store


@pytest.fixture
def campaign(store_url: str) -> Iterator[Campaign]:
    store: Store = open_store(store_url)
    yield create(store)
    store.close()


def states(campaign: Campaign) -> dict[str, str]:
    return {label: arm.state for label, arm in campaign.status().arms.items()}


def test_arms_are_paused_archived_and_restored(campaign: Campaign) -> None:
    campaign.pause_arm("A")
    campaign.archive_arm("B")
    campaign.archive_arm("B")
    assert states(campaign) == {"A": "paused", "B": "archived", "C": "active"}
    assert {x.arm for x in campaign.ask(n=10)} == {"C"}
    with pytest.raises(Conflict, match="'B' is archived: restore it"):
        campaign.pause_arm("B")
    with pytest.raises(InvalidInput, match="'C' is the last arm"):
        campaign.archive_arm("C")
    campaign.archive_arm("A")
    for label in "AB":
        campaign.restore_arm(label)
    again = Campaign.load("c", store=campaign.store)
    assert set(states(again).values()) == {"active"}
    assert campaign.verify().events == 15


def test_a_new_arm_takes_part(campaign: Campaign) -> None:
    campaign.ask(n=2)
    other = Campaign.load("c", store=campaign.store)
    campaign.add_arm("D", (20, 0.9, 0.1), bias_bound=0.1)
    assert other.terms.arms.labels == ("A", "B", "C", "D")
    assert other.terms.bias_bounds[3] == 0.1
    decision = other.ask(exclude=["A", "B", "C"])
    assert decision.arm == "D"
    assert campaign.tell(str(decision.id), 1.0).arm == "D"
    assert campaign.status().arms["D"].logs_n == 20
    with pytest.raises(InvalidInput, match="'D' is already an arm"):
        other.add_arm("D")
    with pytest.raises(InvalidInput, match="bias_bound is missing"):
        other.add_arm("E", (20, 0.9))
    campaign.verify()


def test_history_says_what_happened_when(campaign: Campaign) -> None:
    clock = campaign._clock
    decision = campaign.ask()
    clock.now = 2_000.0  # type: ignore[attr-defined]
    campaign.tell(str(decision.id), 0.5)
    rows = campaign.history()
    assert [(row.start, row.decisions, row.rewards, row.total) for row in rows] == [
        (900.0, 1, 0, 0.0),
        (1_800.0, 0, 1, 0.5),
    ]
    assert campaign.history(since=1_000.0) == rows[1:]


def test_status_is_never_random(campaign: Campaign) -> None:
    for decision in campaign.ask(n=9):
        campaign.tell(str(decision.id), decision.number / 10)
    first, second = campaign.status(), Campaign.load("c", store=campaign.store).status()
    assert first.to_json() == second.to_json()
    arm = max(first.arms.values(), key=lambda arm: arm.live_n)
    assert arm.live_n > 1
    assert arm.live_variance > 0
    assert str(first) == "<Status: c, ts, 3 arms, 9 decisions, 9 rewards, 0 pending>"
    assert list(first.to_frame()["arm"]) == ["A", "B", "C"]
