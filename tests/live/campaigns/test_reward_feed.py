"""Findings about rewards that come too late, are all equal, or do not come."""

from __future__ import annotations

import random
from typing import Any

from campaign_parts import Clock, create

from driftanchor import Campaign, OfflineData, Store

DAY = 86_400.0
LOGS = OfflineData.from_summary({x: (20_000, 0.1, 0.09) for x in "ABC"})


def conversions(store: Any, clock: Clock, **options: Any) -> Campaign:
    given = {"reward_window": 2 * DAY, "default_reward": 0, "bias_bound": 1.0, "offline": LOGS}
    return create(store, clock=clock, arms=None, **{**given, **options})


def days(campaign: Campaign, clock: Clock, count: int, delay: float, rate: float = 0.1) -> None:
    """Ask 100 times a day; report conversions alone, some days after their decisions."""
    draws, due = random.Random(1), list[tuple[float, str]]()
    for _ in range(count):
        due += [
            (clock.now + delay * DAY, str(x.id))
            for x in campaign.ask(n=100)
            if draws.random() < rate
        ]
        clock.now += DAY
        for _, one in [x for x in due if x[0] <= clock.now]:
            campaign.tell(one, 1.0)
        due = [x for x in due if x[0] > clock.now]


def test_a_window_that_is_too_short_is_found_and_can_be_lengthened(store: Store) -> None:
    clock = Clock()
    campaign = conversions(store, clock)
    days(campaign, clock, 10, delay=3)
    status = campaign.status()
    assert status.is_alarmed
    (problem,) = status.problems
    assert problem in status.findings()
    assert f"{status.late} of the last {status.late} reported rewards came after" in problem
    assert "the reward window of 2 days" in problem
    assert "driftanchor campaign change c --reward-window 4d --reason" in problem
    campaign.change("rewards take 3 days", reward_window=7 * DAY)
    assert campaign.status().problems == ()  # decisions from now on have a longer window
    days(campaign, clock, 10, delay=3)
    status = campaign.status()
    assert (status.problems, status.is_alarmed) == ((), False)
    campaign.verify()


def test_a_few_late_rewards_are_no_finding(store: Store) -> None:
    clock = Clock()
    campaign = conversions(store, clock)
    days(campaign, clock, 10, delay=1)
    late = [str(x.id) for x in campaign.ask(n=9)]
    clock.now += 3 * DAY
    campaign.tell_many([(x, 1.0) for x in late])
    assert campaign.status().late == 9
    assert campaign.status().problems == ()


def test_conversions_that_come_before_the_first_zeros_are_no_finding(store: Store) -> None:
    clock = Clock()
    campaign = conversions(store, clock, reward_window=7 * DAY)
    days(campaign, clock, 5, delay=0)
    status = campaign.status()
    assert (status.rewards > 20, status.problems) == (True, ())


def test_rewards_that_are_all_equal_are_found_when_that_is_surprising(store: Store) -> None:
    clock = Clock()
    campaign = conversions(store, clock, reward_window=None, default_reward=None)
    ids = [str(x.id) for x in campaign.ask(n=200)]
    campaign.tell_many([(x, 0.0) for x in ids[:60]])
    assert campaign.status().problems == ()  # 0.9⁶⁰ is 0.002
    campaign.tell_many([(x, 0.0) for x in ids[60:80]])
    (problem,) = campaign.status().problems
    assert "all 80 rewards so far are 0, so nothing is learned" in problem
    campaign.tell(ids[80], 1.0)
    assert campaign.status().problems == ()


def test_conversions_alone_without_a_default_are_found(store: Store) -> None:
    campaign = create(store)
    ids = [str(x.id) for x in campaign.ask(n=100)]
    campaign.tell_many([(x, 1.0) for x in ids[:19]])
    assert campaign.status().problems == ()
    campaign.tell(ids[19], 1.0)
    (problem,) = campaign.status().problems
    assert "all 20 rewards so far are 1" in problem
    assert "driftanchor campaign change c --reward-window 7d --default-reward 0" in problem


def test_without_logs_a_thousand_equal_rewards_are_found(store: Store) -> None:
    campaign = create(store)
    ids = [str(x.id) for x in campaign.ask(n=1_000)]
    campaign.tell_many([(x, 0.0) for x in ids[:999]])
    assert campaign.status().problems == ()
    campaign.tell(ids[999], 0.0)
    assert "all 1,000 rewards so far are 0" in campaign.status().problems[0]


def test_rewards_that_never_come_are_found_once_decisions_are_old(store: Store) -> None:
    clock = Clock()
    campaign = create(store, clock=clock)
    campaign.ask(n=30)
    clock.now += DAY - 1
    assert campaign.status().problems == ()
    clock.now += 1
    (problem,) = campaign.status().problems
    assert problem.startswith("no reward was ever reported: check that your program calls tell")
    campaign.tell(str(campaign.ask().id), 0.0)
    assert campaign.status().problems == ()


def test_default_rewards_alone_are_found_when_that_is_surprising(store: Store) -> None:
    clock = Clock()
    campaign = conversions(store, clock)
    campaign.ask(n=60)
    clock.now += 3 * DAY
    assert campaign.status().problems == ()
    campaign.ask(n=20)
    clock.now += 3 * DAY
    (problem,) = campaign.status().problems
    assert problem.startswith(
        "no reward was ever reported, and all 80 rewards so far are default rewards"
    )


def test_exposures_that_never_come_are_found(store: Store) -> None:
    clock = Clock()
    campaign = conversions(store, clock, exposure="report")
    campaign.ask(n=30)
    clock.now += 3 * DAY
    assert "calls expose and tell" in campaign.status().problems[0]
