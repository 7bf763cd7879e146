"""Defaults that callers played: they are noted, and leave nothing behind that could count."""

from __future__ import annotations

import pytest
from campaign_parts import Clock, create

from driftanchor import Campaign, Conflict, Store, UnknownName
from driftanchor.live.campaigns.requests import UseDefault


def kinds(campaign: Campaign) -> list[str]:
    with campaign.store.reading(campaign._row.id) as reader:
        return [entry.kind for entry in reader.entries(0) if entry.kind != "matured"]


def test_a_default_is_noted_once_and_its_request_decides_no_more(store: Store) -> None:
    campaign = create(store)
    assert campaign.submit([UseDefault("k", "B", 1.0)] * 2) == ["recorded", "replayed"]
    assert campaign.submit([UseDefault("k", "B", 9.0)]) == ["replayed"]
    assert kinds(campaign) == ["keyed", "keyed", "default_used"]
    with pytest.raises(Conflict, match="belongs to a request that timed out"):
        campaign.ask("u", key="k")
    status = campaign.status()
    assert (status.decisions, status.rewards, status.pending) == (0, 0, 0)
    campaign.verify()


def test_what_the_request_decided_after_all_is_given_up(store: Store) -> None:
    """Nobody saw it: with a default reward it would count as a failure of its arm."""
    clock = Clock()
    campaign = create(store, clock=clock, reward_window=60, default_reward=0)
    lost = campaign.ask("u", key="k")
    clock.now += 2
    assert campaign.submit([UseDefault("k", "B", 2.1), UseDefault("k", "B", 2.1)]) == [
        "recorded",
        "replayed",
    ]
    clock.now += 100
    campaign.sweep()
    status = campaign.status()
    assert (status.decisions, status.rewards, status.pending) == (1, 0, 0)
    assert kinds(campaign) == ["decided", "keyed", "keyed", "expired", "default_used"]
    assert campaign.ask("u").id != lost.id
    campaign.verify()


def test_a_decision_that_the_unit_held_before_stays(store: Store) -> None:
    clock = Clock()
    campaign = create(store, clock=clock)
    seen = campaign.ask("u", key="first")
    clock.now += 60
    assert campaign.ask("u", key="slow").id == seen.id
    clock.now += 2
    assert campaign.submit([UseDefault("slow", "B", 2.1)]) == ["recorded"]
    assert campaign.ask("u").id == seen.id
    assert campaign.tell(str(seen.id), 1.0).status == "recorded"
    campaign.verify()


@pytest.mark.parametrize("options", [{"exposure": "report"}, {"sticky": "campaign"}])
def test_a_decision_that_its_unit_will_see_later_stays(
    store: Store, options: dict[str, str]
) -> None:
    campaign = create(store, **options)
    made = campaign.ask("u", key="k")
    assert campaign.submit([UseDefault("k", "B", 1.0)]) == ["recorded"]
    assert campaign.ask("u").id == made.id
    assert campaign.tell(str(made.id), 1.0).status == "recorded"
    campaign.verify()


def test_an_arm_that_nobody_knows_is_refused(store: Store) -> None:
    campaign = create(store)
    [error] = campaign.submit([UseDefault("k", "X", 1.0)])
    assert isinstance(error, UnknownName)
    assert kinds(campaign) == []


def test_the_fresh_decision_of_a_unit_is_given_up(store: Store) -> None:
    """A request with a unit has no key, so the report names the unit."""
    clock = Clock()
    campaign = create(store, clock=clock, reward_window=60, default_reward=0)
    lost = campaign.ask("u")
    clock.now += 30
    report = UseDefault.checked("report", "B", 29.8, "u")
    assert campaign.submit([report, report]) == ["recorded", "replayed"]
    clock.now += 100
    status = campaign.status()
    assert (status.decisions, status.rewards, status.pending) == (1, 0, 0)
    assert campaign.ask("u").id != lost.id
    campaign.verify()


@pytest.mark.parametrize("asked_after", [-60.0, 20.0])
def test_a_decision_of_another_time_stays(store: Store, asked_after: float) -> None:
    """The unit got its decision before the request, or between the request and its report."""
    clock = Clock()
    campaign = create(store, clock=clock)
    sent = clock.now + 100.0
    clock.now = sent + asked_after
    seen = campaign.ask("u")
    clock.now = sent + 30.0
    assert campaign.submit([UseDefault("report", "B", 30.0, "u")]) == ["recorded"]
    assert campaign.ask("u").id == seen.id
    assert campaign.tell(str(seen.id), 1.0).status == "recorded"
    campaign.verify()
