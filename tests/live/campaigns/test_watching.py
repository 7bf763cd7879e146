"""Alarms of a running campaign: in its events, its status, and what they change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from campaign_parts import Clock

from driftanchor import TS, Campaign, OfflineData

LOGS = OfflineData.from_summary({"A": (5_000, 0.2, 0.16), "B": (5_000, 0.2, 0.16)})


def create(tmp_path: Path, **options: Any) -> Campaign:
    given = {"bias_bound": 0.02, "reward": "binary", "clock": Clock(), "policy": TS(noise=0.5)}
    where = f"sqlite:///{tmp_path / 'store.db'}"
    return Campaign.create("c", offline=LOGS, seed=1, store=where, **{**given, **options})


def play(campaign: Campaign, count: int, means: dict[str, float]) -> None:
    """Each arm pays its mean exactly, as often as it can."""
    paid = {label: [0, 0] for label in means}
    rewards = []
    for decision in campaign.ask(n=count):
        sums = paid[decision.arm]
        sums[0] += 1
        reward = float(sums[1] + 1 <= means[decision.arm] * sums[0])
        sums[1] += int(reward)
        rewards.append((str(decision.id), reward))
    for i in range(0, count, 50):
        campaign.tell_many(rewards[i : i + 50])


def test_a_kept_promise_raises_no_alarm(tmp_path: Path) -> None:
    with create(tmp_path) as campaign:
        play(campaign, 300, {"A": 0.2, "B": 0.2})
        status = campaign.status()
        assert (status.alarms, status.is_alarmed) == ((), False)
        assert len(status.findings()) == 1
        campaign.verify()


@pytest.mark.parametrize("on_alarm", ["report", "distrust"])
def test_a_broken_promise_is_an_event_and_stays(tmp_path: Path, on_alarm: str) -> None:
    with create(tmp_path, on_alarm=on_alarm) as campaign:
        play(campaign, 600, {"A": 0.9, "B": 0.2})
        status = campaign.status()
        assert status.is_alarmed
        assert [alarm.columns for alarm in status.alarms] == [(0,)]
        assert status.alarms[0].seen.number <= 600
        assert "'A'" in status.findings()[0]
        assert status.arms["A"].logs_count == (on_alarm == "report")
        assert status.arms["B"].logs_count
        assert Campaign.load("c", store=campaign.store).status().alarms == status.alarms
        events = [entry.kind for entry in campaign_entries(campaign)]
        assert events.count("alarm") == 1
        assert events.count("arm_distrusted") == (on_alarm == "distrust")
        campaign.verify()
        one = str(campaign.ask().id)
        assert campaign.explain(one).decision == 601


def campaign_entries(campaign: Campaign) -> list[Any]:
    with campaign._reading() as reader:
        return list(reader.entries(0))


def test_alarms_come_without_anybody_looking(tmp_path: Path) -> None:
    with create(tmp_path) as campaign:
        play(campaign, 600, {"A": 0.9, "B": 0.9})
        assert "alarm" in [entry.kind for entry in campaign_entries(campaign)]


def test_with_a_window_rewards_are_looked_at_in_the_order_of_decisions(tmp_path: Path) -> None:
    """Only conversions come at once. To look at these alone would raise a false alarm."""
    clock = Clock()
    with create(tmp_path, clock=clock, reward_window=60, default_reward=0) as campaign:
        ids = {"A": list[str](), "B": list[str]()}
        for decision in campaign.ask(n=400):
            ids[decision.arm].append(str(decision.id))
        for mine in ids.values():
            for one in mine[::5]:  # 20 % convert, as in the logs
                campaign.tell(one, 1.0)
        assert campaign.status().alarms == ()
        with campaign._reading() as reader:
            kept = reader.watch()
        assert kept is not None
        looked = [arm[1] for arm in kept["watch"]["arms"]]
        assert looked == [1 if mine else 0 for mine in ids.values()]
        clock.now += 61
        assert campaign.status().alarms == ()
        with campaign._reading() as reader:
            kept = reader.watch()
        assert kept is not None
        assert sum(arm[1] for arm in kept["watch"]["arms"]) == 400
        campaign.verify()


def test_what_is_never_shown_does_not_hold_up_the_others(tmp_path: Path) -> None:
    clock = Clock()
    options = {"reward_window": 60, "default_reward": 0, "exposure": "report"}
    with create(tmp_path, clock=clock, **options) as campaign:
        decisions = campaign.ask(n=40)
        for decision in decisions[10:]:
            campaign.expose(str(decision.id))
        clock.now += 61
        campaign.status()
        with campaign._reading() as reader:
            kept = reader.watch()
        assert kept is not None
        assert sum(arm[1] for arm in kept["watch"]["arms"]) == 30
        campaign.verify()


@pytest.mark.parametrize("default", [0, None])
def test_late_rewards_are_looked_at_once(tmp_path: Path, default: float | None) -> None:
    clock = Clock()
    options = {"reward_window": 60, "default_reward": default, "late": "replace"}
    with create(tmp_path, clock=clock, **options) as campaign:
        decisions = campaign.ask(n=40)
        clock.now += 61
        campaign.status()
        for decision in decisions[::4]:
            campaign.tell(str(decision.id), 1.0)
        campaign.status()
        clock.now += 10  # from now on the decisions count in full
        status = campaign.status()
        with campaign._reading() as reader:
            kept = reader.watch()
        assert kept is not None
        for arm, seen in zip(status.arms.values(), kept["watch"]["arms"], strict=True):
            assert seen[1:3] == [arm.live_n, arm.live_n and arm.live_n * arm.live_mean]
        campaign.verify()


def test_the_status_says_what_stopping_would_risk(tmp_path: Path) -> None:
    with create(tmp_path, matters=0.05) as campaign:
        play(campaign, 200, {"A": 0.2, "B": 0.2})
        status = campaign.status()
        assert status.outlook.p_best.sum() == pytest.approx(1.0, abs=1e-6)
        assert status.outlook.is_enough is not None
        found = status.to_json()
        assert set(found["p_best"]) == {"A", "B"}
        assert found["findings"] == status.findings()
        assert status.ratio.played.sum() == 200
        assert not status.ratio.is_off()
        assert found == campaign.status().to_json()
