"""Changes of arms, settings and bounds of a running campaign."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from campaign_parts import Clock, asked, create

from driftanchor import TS, AnchorTS, Campaign, Conflict, InvalidInput, OfflineData, Store
from driftanchor.live.stores.store import open_store
from driftanchor.live.watch.watch import Watch


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


LOGS = OfflineData.from_summary({"A": (5_000, 0.2, 0.16), "B": (5_000, 0.2, 0.16)})


def logged(store: Any, **options: Any) -> Campaign:
    given = {"bias_bound": 0.02, "clock": Clock(), "policy": TS(noise=0.5), "reward_range": (0, 1)}
    return Campaign.create("c", offline=LOGS, seed=1, store=store, **{**given, **options})


def test_open_decisions_keep_their_window_and_default(store: Store) -> None:
    clock = Clock()
    campaign = create(store, clock=clock, reward_window=60, default_reward=0)
    other = Campaign.load("c", store=store, clock=clock)  # another process, which knows it already
    before = other.ask()
    campaign.change("rewards take longer", reward_window=600, default_reward=0.5)
    after = other.ask()
    assert (before.due, after.due) == (1_060.0, 1_600.0)
    clock.now = 1_061.0
    assert campaign.sweep() == 1
    assert campaign.decision(str(before.id)).reward == 0.0
    assert campaign.tell(str(before.id), 1.0).status == "late"
    clock.now = 1_600.0
    assert campaign.sweep() == 1
    assert campaign.decision(str(after.id)).reward == 0.5
    assert Campaign.load("c", store=store, clock=clock).settings.reward_window == 600.0
    for worker in (campaign, other):
        assert worker.verify().decisions == 2
        assert worker.explain(str(before.id)).arm == before.arm


def test_a_decision_that_is_shown_later_has_the_terms_it_was_made_under(store: Store) -> None:
    clock = Clock()
    campaign = create(store, clock=clock, reward_window=60, default_reward=0, exposure="report")
    one = asked(campaign, "u")
    campaign.change("longer", reward_window=600, default_reward=1)
    campaign.expose(one)
    assert campaign.ask("u").due == 1_060.0
    clock.now += 60
    campaign.sweep()
    assert campaign.decision(one).reward == 0.0
    campaign.verify()


def test_a_window_can_be_introduced_and_given_up(store: Store) -> None:
    clock = Clock()
    campaign = create(store, clock=clock)
    first = asked(campaign)
    campaign.change("only conversions are sent", reward_window=60, default_reward=0)
    second = asked(campaign)
    campaign.change("zeros are sent now", reward_window=None, default_reward=None)
    third = asked(campaign)
    clock.now += 1_000
    assert campaign.sweep() == 1
    assert [campaign.decision(x).state for x in (first, second, third)] == [
        "open",
        "defaulted",
        "open",
    ]
    assert campaign.status().settings.reward_window is None
    campaign.verify()


def test_past_decisions_are_explained_by_the_floors_of_their_time(store: Store) -> None:
    campaign = create(store, floor=0.3)
    old = [x for x in campaign.ask(n=40)]
    campaign.change("enough explored", floor=0.0, control={"A": 0.1})
    new = [x for x in campaign.ask(n=40)]
    accounts = {str(x.id): campaign.explain(str(x.id)) for x in (*old, *new)}
    assert any(accounts[str(x.id)].floor for x in old)
    assert all(x.arm == "A" for x in new if accounts[str(x.id)].floor)
    assert {x.arm for x in (*old, *new)} == {accounts[i].arm for i in accounts}
    assert campaign.settings.control == {"A": 0.1}
    campaign.verify()


def test_bounds_change_for_new_decisions_alone(store: Store) -> None:
    campaign = logged(store, policy=AnchorTS(noise=0.5))
    old = [str(x.id) for x in campaign.ask(n=20)]
    campaign.distrust_arm("B")
    campaign.change("new prices", bias_bound=0.1)
    assert campaign.terms.bias_bounds.tolist() == [0.1, math.inf]  # B stays distrusted
    new = [str(x.id) for x in campaign.ask(n=20)]
    laws = [campaign.explain(x).arms["A"] for x in (old[-1], new[0])]
    assert laws[0] != laws[1]
    loaded = Campaign.load("c", store=store, clock=Clock())
    assert loaded.terms == campaign.terms
    for one in (*old, *new):
        loaded.explain(one)
    campaign.verify()


def test_a_widened_bound_ends_its_alarm_and_is_watched(tmp_path: Path) -> None:
    campaign = logged(f"sqlite:///{tmp_path / 'store.db'}")
    _play(campaign, 500, {"A": 0.5, "B": 0.2})
    assert [x.columns for x in campaign.status().alarms] == [(0,)]
    campaign.change("A moved in March", bias_bound={"A": 0.6, "B": 0.02})
    status = campaign.status()
    assert (status.alarms, status.is_alarmed) == ((), False)
    _play(campaign, 500, {"A": 0.5, "B": 0.2})
    assert campaign.status().alarms == ()
    campaign.change("A is not that far", bias_bound={"A": 0.1, "B": 0.02})
    _play(campaign, 50, {"A": 0.5, "B": 0.2})
    assert [x.arms[0].bound for x in campaign.status().alarms][-1] == 0.1
    campaign.verify()


def test_every_reward_is_watched_once_when_a_window_comes_and_goes(tmp_path: Path) -> None:
    clock = Clock()
    campaign = logged(f"sqlite:///{tmp_path / 'store.db'}", clock=clock, bias_bound=0.5)
    for window, default in ((None, None), (60, 0), (None, None), (60, 0)):
        campaign.change("test", reward_window=window, default_reward=default, floor=0.01)
        _play(campaign, 30, {"A": 0.2, "B": 0.2}, skip=10)
        clock.now += 61
        campaign.status()
    campaign.status()
    with campaign.store.reading(campaign._row.id) as reader:
        record = reader.watch()
    assert record is not None
    watched = sum(arm.n for arm in Watch.from_json(record["watch"]).arms)
    assert watched == campaign.status().rewards == 20 + 30 + 20 + 30


def _play(campaign: Campaign, count: int, means: dict[str, float], skip: int = 0) -> None:
    """Each arm pays its mean as nearly as it can; the last `skip` decisions get no reward."""
    paid = {label: [0, 0] for label in means}
    rewards = []
    for decision in campaign.ask(n=count)[: count - skip]:
        sums = paid[decision.arm]
        sums[0] += 1
        reward = float(sums[1] + 1 <= means[decision.arm] * sums[0])
        sums[1] += int(reward)
        rewards.append((str(decision.id), reward))
    campaign.tell_many(rewards)


def test_a_change_is_shown_with_its_day_and_reason(store: Store) -> None:
    campaign = logged(store, reward_window=2 * 86_400, default_reward=0)
    campaign.change("orders take 3 days", reward_window=7 * 86_400, relative_bound=0.01)
    (change,) = campaign.status().changes
    assert change.text(["A", "B"]) == (
        "changed on 1970-01-01 00:16 UTC: reward window from 2 days to 7 days, relative bound from "
        "inf to 0.01; because: orders take 3 days"
    )
    (shown,) = campaign.status().to_json()["changes"]
    assert shown["after"]["reward_window"] == 7 * 86_400
    assert [x["kind"] for x in campaign.events() if x["kind"] != "matured"] == ["changed"]
    campaign.change("again", reward_window=7 * 86_400)  # nothing differs
    assert len(campaign.status().changes) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "nothing to change"),
        ({"reason": " ", "floor": 0.1}, "reason must be printable text"),
        ({"floor": 0.6}, "leaves nothing to decide"),
        ({"default_reward": 0}, "reward_window is missing"),
        ({"reward_window": -1}, "reward_window must be greater than 0"),
        ({"control": {"Z": 0.1}}, "unknown arm 'Z'"),
        ({"bias_bound": -1}, "bias_bound"),
        ({"bias_bound": None}, "bias_bound must be a number"),
        ({"allow_outside": "yes"}, "allow_outside must be True or False"),
    ],
)
def test_a_wrong_change_changes_nothing(
    tmp_path: Path, options: dict[str, Any], words: str
) -> None:
    campaign = logged(f"sqlite:///{tmp_path / 'store.db'}")
    with pytest.raises(InvalidInput, match=words):
        campaign.change(**{"reason": "test", **options})
    assert campaign.events() == []


def test_a_program_may_create_it_as_it_was_or_as_it_is(store: Store) -> None:
    created = create(store, reward_window=60, default_reward=0)
    created.change("longer", reward_window=600)
    for window in (60, 600):
        loaded = create(store, reward_window=window, default_reward=0, if_exists="load")
        assert loaded.settings.reward_window == 600.0
    with pytest.raises(Conflict, match="another reward_window"):
        create(store, reward_window=90, default_reward=0, if_exists="load")
