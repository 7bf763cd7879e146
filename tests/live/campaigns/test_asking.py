"""Units under concurrency, and arms that can no longer be played."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import pytest
from campaign_parts import Clock, create

from driftanchor import Campaign, Conflict, Decision, Policy, Store
from driftanchor.core.evidence import ArmEvidence, Round
from driftanchor.core.noise import Draws
from driftanchor.live.campaigns import requests
from driftanchor.live.campaigns.requests import Ask


@dataclass(frozen=True, kw_only=True)
class Noisy(Policy):
    """A rule without a law, so that its propensities are counted."""

    name = "noisy"
    formula = "noise"
    source = "a test"
    normals = 1

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        return z.on


def test_threads_and_workers_get_one_decision_for_one_unit(store: Store) -> None:
    create(store)
    workers = [Campaign.load("c", store=store) for _ in range(2)]
    got: list[Decision] = []

    def ask(worker: Campaign) -> None:
        for i in range(5):
            got.append(worker.ask(f"u{i}"))

    threads = [threading.Thread(target=ask, args=[workers[i % 2]]) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 30
    assert len({x.id for x in got}) == len({x.unit for x in got}) == 5
    assert sum(not x.replayed for x in got) == 5
    assert workers[0].verify().decisions == 5


def test_an_archived_arm_gives_a_new_draw_and_says_so(store: Store) -> None:
    campaign = create(store)
    first = campaign.ask("u")
    campaign.archive_arm(first.arm)
    second = campaign.ask("u")
    assert (second.replayed, second.arm == first.arm) == (False, False)
    assert second.note == f"the arm of the decision before, {first.arm!r}, is archived"
    assert campaign.ask("u").id == second.id
    campaign.restore_arm(first.arm)
    assert campaign.ask("u").id == second.id
    campaign.verify()


def test_a_paused_arm_is_still_given_to_those_who_hold_it(store: Store) -> None:
    campaign = create(store)
    first = campaign.ask("u")
    campaign.pause_arm(first.arm)
    assert campaign.ask("u").id == first.id
    assert first.arm not in {x.arm for x in campaign.ask(n=20)}


def test_a_paused_campaign_makes_no_new_decisions(store: Store) -> None:
    campaign = create(store)
    held = campaign.ask("u")
    campaign.pause()
    campaign.pause()
    assert campaign.status().paused
    with pytest.raises(Conflict, match="campaign 'c' is paused"):
        campaign.ask("v")
    with pytest.raises(Conflict, match="is paused"):
        Campaign.load("c", store=store, clock=Clock()).ask(peek=True)
    assert campaign.ask("u").id == held.id
    assert campaign.tell(str(held.id), 1.0).status == "recorded"
    campaign.resume()
    assert campaign.ask("v").number == 2
    campaign.verify()


def test_a_new_epoch_draws_units_anew(store: Store) -> None:
    campaign = create(store)
    first = campaign.ask("u")
    assert campaign.new_epoch() == 1
    second = campaign.ask("u")
    assert (second.epoch, second.replayed) == (1, False)
    assert campaign.tell(str(first.id), 1.0).status == "recorded"
    assert campaign.ask("u").id == second.id
    campaign.verify()


def test_floors_and_a_control_keep_their_shares(store: Store) -> None:
    campaign = create(store, floor=0.05, control={"B": 0.2})
    for one in campaign.ask(n=40):
        campaign.tell(str(one.id), 1.0 if one.arm == "A" else 0.0)
    seen = {}
    for _ in range(60):
        decision = campaign.ask()
        campaign.tell(str(decision.id), 1.0 if decision.arm == "A" else 0.0)
        seen[decision.arm] = decision
        assert decision.propensity >= (0.2 if decision.arm == "B" else 0.05)
    status = campaign.status()
    assert status.arms["B"].expected >= 0.2 * 100
    assert sum(arm.expected for arm in status.arms.values()) == pytest.approx(100)
    for decision in seen.values():
        assert campaign.explain(str(decision.id)).arm == decision.arm
    assert any("for its floor" in campaign.explain(str(x.id)).reason for x in seen.values())


def assigned(campaign: Campaign, unit: str) -> Decision:
    [decision] = campaign.submit([Ask(unit, assign=True)])[0]
    assert isinstance(decision, Decision)
    return decision


def test_what_is_only_assigned_counts_from_the_moment_it_is_shown(store: Store) -> None:
    """Whoever is only assigned an arm gets no default reward: it was never seen."""
    clock = Clock()
    campaign = create(store, clock=clock, reward_window=60, default_reward=0)
    never, asked, exposed, told = (assigned(campaign, unit) for unit in "nxyz")
    assert assigned(campaign, "n").id == never.id
    assert [never.due, campaign.status().pending] == [None, 0]
    clock.now += 100
    assert campaign.ask("x", peek=True).id == asked.id
    assert campaign.status().pending == 0  # to look shows it to nobody
    assert campaign.ask("x").id == asked.id
    campaign.expose(str(exposed.id))
    assert campaign.status().pending == 2
    assert campaign.ask("x").due == clock.now + 60
    campaign.tell(str(told.id), 1.0)
    clock.now += 100
    campaign.sweep()
    status = campaign.status()
    assert (status.decisions, status.rewards, status.pending) == (4, 3, 0)
    assert campaign.verify().decisions == 4
    for one in (never, asked, exposed, told):
        assert campaign.explain(str(one.id)).arm == one.arm
    assert Campaign.load("c", store=store).status().rewards == 3


def test_with_reported_exposures_to_assign_changes_nothing(store: Store) -> None:
    campaign = create(store, exposure="report")
    first = assigned(campaign, "u")
    assert campaign.ask("u").id == first.id
    assert campaign.status().pending == 0
    campaign.verify()


def test_a_policy_of_ones_own_that_is_too_slow_is_refused(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a law, 1,000 choices give a propensity; they may not hold the store for ever."""
    campaign = create(store, policy=Noisy())
    assert campaign.ask(n=2)[1].number == 2
    monkeypatch.setattr(requests, "MAX_SECONDS", 0.0)
    with pytest.raises(Conflict, match="'noisy' is too slow for live decisions: only 0 of"):
        campaign.ask()
    with pytest.raises(Conflict, match="too slow"):
        campaign.ask(n=3)
    assert campaign.verify().decisions == 2
