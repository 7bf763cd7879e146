"""Windows, default rewards, late rewards, exposures, and rewards that race the sweep."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from campaign_parts import Clock, asked, create

from driftanchor import Campaign, Conflict, Store
from driftanchor.live.campaigns import group_commit
from driftanchor.live.ledger import Ledger

LAST_SLOT = 10.0  # seconds after which decisions of a window of 60 count in full


def test_the_default_reward_counts_when_the_window_ends(store: Store) -> None:
    clock = Clock()
    campaign = create(store, clock=clock, reward_window=60, default_reward=0)
    decision = campaign.ask("u")
    assert decision.due == 1_060.0
    clock.now = 1_059.9
    assert campaign.sweep() == 0
    clock.now = 1_060.0
    assert campaign.sweep() == 1
    assert campaign.sweep() == 0
    clock.now += LAST_SLOT
    status = campaign.status()
    assert (status.rewards, status.pending) == (1, 0)
    assert status.arms[decision.arm].live_mean == 0.0
    assert campaign.ask("u").id != decision.id
    campaign.verify()


def test_whoever_asks_tells_or_looks_sweeps_too(store: Store) -> None:
    clock = Clock()
    campaign = create(store, clock=clock, reward_window=60, default_reward=0)
    for _ in range(3):
        asked(campaign)
        clock.now += 61
    assert campaign.status().rewards == 3


def test_without_a_default_a_decision_is_given_up(store: Store) -> None:
    clock = Clock()
    campaign = create(store, clock=clock, reward_window=60)
    one = asked(campaign)
    clock.now += 60
    status = campaign.status()
    assert (status.rewards, status.pending) == (0, 0)
    assert campaign.tell(one, 1.0).status == "late"
    assert campaign.status().rewards == 0
    campaign.verify()


def test_a_late_reward_is_ignored_and_counted_as_late(store: Store) -> None:
    clock = Clock()
    campaign = create(store, clock=clock, reward_window=60, default_reward=0)
    one = asked(campaign)
    clock.now += 60  # nobody has swept: it is late all the same
    receipt = campaign.tell(one, 1.0)
    assert (receipt.status, receipt.reward) == ("late", 0.0)
    assert campaign.tell(one, 1.0).status == "replayed"
    with pytest.raises(Conflict, match="already has the reward"):
        campaign.tell(one, 0.5)
    status = campaign.status()
    assert (status.rewards, status.late) == (1, 1)
    assert sum(arm.live_mean for arm in status.arms.values() if arm.live_n) == 0.0
    campaign.verify()


@pytest.mark.parametrize("default", [0, None])
def test_a_late_reward_may_replace_the_default(store: Store, default: float | None) -> None:
    clock = Clock()
    campaign = create(store, clock=clock, reward_window=60, default_reward=default, late="replace")
    one = asked(campaign)
    clock.now += 61
    campaign.sweep()
    receipt = campaign.tell(one, 0.75)
    assert (receipt.status, receipt.reward) == ("corrected", 0.75)
    assert campaign.tell(one, 0.75).status == "replayed"
    clock.now += LAST_SLOT
    status = campaign.status()
    assert (status.rewards, status.late, status.pending) == (1, 0, 0)
    assert status.arms[receipt.arm].live_mean == 0.75
    campaign.verify()


def test_a_decision_counts_from_its_exposure_on(store: Store) -> None:
    clock = Clock()
    campaign = create(store, clock=clock, reward_window=60, default_reward=0, exposure="report")
    shown, unseen, rewarded = campaign.ask("u"), campaign.ask("v"), campaign.ask("w")
    assert shown.due is None
    clock.now += 1_000
    assert campaign.status().pending == 0
    assert campaign.expose(str(shown.id)).status == "recorded"
    assert campaign.expose(str(shown.id)).status == "replayed"
    assert campaign.ask("u").due == 2_060.0
    assert campaign.status().pending == 1
    assert campaign.tell(str(rewarded.id), 1.0).status == "recorded"  # it must have been shown
    clock.now += 60
    status = campaign.status()
    assert (status.pending, status.rewards) == (0, 2)
    assert campaign.ask("v").id == unseen.id
    campaign.verify()


def test_exposing_changes_nothing_where_asking_is_exposure(store: Store) -> None:
    campaign = create(store)
    one = asked(campaign)
    assert campaign.expose(one).status == "replayed"
    assert campaign.status().pending == 1


def test_a_clock_that_is_set_back_does_no_harm(store: Store) -> None:
    clock = Clock()
    campaign = create(store, clock=clock, reward_window=60, default_reward=0)
    first = asked(campaign, "u")
    clock.now = -5_000.0
    assert campaign.ask("u").id == first
    second = asked(campaign, "v")
    assert campaign.tell(first, 1.0).status == "recorded"
    clock.now = -4_000.0
    assert campaign.sweep() == 1
    assert campaign.tell(second, 1.0).status == "late"
    assert campaign.explain(second).decision == 2
    assert campaign.verify().rewards == 2


def test_rewards_of_an_archived_arm_count(store: Store) -> None:
    campaign = create(store)
    decision = campaign.ask()
    campaign.archive_arm(decision.arm)
    assert campaign.tell(str(decision.id), 1.0).status == "recorded"
    assert campaign.status().arms[decision.arm].live_n == 1


def test_a_reward_that_races_the_sweep_counts_once(store: Store) -> None:
    clock = Clock()
    campaign = create(store, clock=clock, reward_window=60, default_reward=0, late="replace")
    ids = [str(x.id) for x in campaign.ask(n=30)]
    clock.now += 60
    workers = [Campaign.load("c", store=store, clock=clock) for _ in range(3)]

    def tell(worker: Campaign) -> None:
        for one in ids:
            worker.tell(one, 1.0)

    threads = [threading.Thread(target=tell, args=[worker]) for worker in workers[:2]]
    threads.append(threading.Thread(target=workers[2].sweep))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    clock.now += LAST_SLOT
    status = campaign.status()
    assert (status.rewards, status.pending) == (30, 0)
    assert {arm.live_mean for arm in status.arms.values() if arm.live_n} == {1.0}
    campaign.verify()


def test_a_reward_of_one_process_and_the_sweep_of_another_count_once(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_commit, "MOST_SWEPT", 3)  # so that the sweep takes many turns
    campaign = create(store_url, reward_window=60, default_reward=0)
    ids = [str(x.id) for x in campaign.ask(n=60)]
    child = os.fork()
    if child == 0:
        failed = 1
        try:
            Campaign.load("c", store=store_url, clock=Clock(2_000.0)).sweep()
            failed = 0
        finally:
            os._exit(failed)
    told = [campaign.tell(one, 1.0).status for one in reversed(ids)]
    assert os.waitpid(child, 0)[1] == 0
    assert set(told) <= {"recorded", "late"}
    assert campaign.verify().rewards == 60
    status = campaign.status()
    assert (status.pending, status.late) == (0, told.count("late"))
    with campaign._reading() as reader:
        assert sum(arm.total for arm in reader.arms()) == told.count("recorded")
    campaign.close()


def test_many_rewards_do_what_they_do_one_by_one(store: Store) -> None:
    outcomes, events = [], []
    for name in ("together", "alone"):
        clock = Clock()
        campaign = create(store, name, clock=clock, reward_window=60, exposure="report")
        first, late, *others = (str(x.id) for x in campaign.ask(n=6))
        shown = [first, late, *others[:2]]
        for one in shown:
            clock.now += 1 if one == late else 20
            campaign.expose(one)
        clock.now += 21  # the window of the first two is over
        given: list[tuple[Any, float]] = [
            *((one, 0.1 * i) for i, one in enumerate((others[0], first, *others[1:]))),
            (others[0], 0.0),
            (others[0], 0.5),
            (others[1], 7.0),
            ("nobody", 0.5),
            (late, 1.0),
            (5, 0.5),
        ]
        if name == "together":
            answers = campaign.tell_many(given)
        else:
            answers = [campaign.tell_many([pair])[0] for pair in given]
        outcomes.append([getattr(x, "status", type(x).__name__) for x in answers])
        kept = campaign.events()
        events.append([[x[part] for part in ("kind", "decision", "arm", "value")] for x in kept])
        campaign.verify()
    assert outcomes[0] == outcomes[1]
    assert set(outcomes[0]) == {
        *("recorded", "late", "replayed", "OtherReward", "InvalidInput", "NotFound")
    }
    assert events[0] == events[1]


def test_a_reward_that_fails_halfway_spoils_no_other(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign, learn = create(store), Ledger.learn_all
    ids = [str(x.id) for x in campaign.ask(n=3)]

    def failing(ledger: Ledger, paid: Mapping[int, Sequence[float]]) -> None:
        if any(0.25 in rewards for rewards in paid.values()):
            raise ZeroDivisionError
        learn(ledger, paid)

    monkeypatch.setattr(Ledger, "learn_all", failing)
    answers = campaign.tell_many(list(zip(ids, (0.5, 0.25, 0.75), strict=True)))
    kinds = [getattr(x, "status", type(x).__name__) for x in answers]
    assert kinds == ["recorded", "UnreadableState", "recorded"]
    assert campaign.decision(ids[1]).state == "open"
    monkeypatch.undo()
    campaign.verify()
