"""Alarms of a running campaign: in its events, its status, and what they change."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from campaign_parts import Clock

from driftanchor import TS, Campaign, HybridTS, OfflineData
from driftanchor.live.stores.sqlite import SqliteSession

LOGS = OfflineData.from_summary({"A": (5_000, 0.2, 0.16), "B": (5_000, 0.2, 0.16)})


def create(tmp_path: Path, **options: Any) -> Campaign:
    given: dict[str, Any] = {"bias_bound": 0.02, "reward": "binary", "clock": Clock()}
    given["policy"] = TS(noise=0.5)
    where = f"sqlite:///{tmp_path / 'store.db'}"
    given |= {"offline": LOGS, **options}
    return Campaign.create("c", seed=1, store=where, **given)


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
    with campaign.store.reading(campaign._row.id) as reader:
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
        with campaign.store.reading(campaign._row.id) as reader:
            kept = reader.watch()
        assert kept is not None
        assert sum(arm[1] for arm in kept["watch"]["arms"]) == 1  # the second is still open
        clock.now += 61
        assert campaign.status().alarms == ()
        with campaign.store.reading(campaign._row.id) as reader:
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
        with campaign.store.reading(campaign._row.id) as reader:
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
        with campaign.store.reading(campaign._row.id) as reader:
            kept = reader.watch()
        assert kept is not None
        for arm, seen in zip(status.arms.values(), kept["watch"]["arms"], strict=True):
            assert seen[1:3] == [arm.live_n, arm.live_n and arm.live_n * arm.live_mean]
        campaign.verify()


MANY = OfflineData.from_summary({label: (50_000, 0.2, 0.16) for label in "ABC"})


def send(campaign: Campaign, clock: Clock, count: int, mean: float) -> None:
    """Ask, report the conversions, and let the window of the other decisions end."""
    for _ in range(0, count, 500):
        decisions = campaign.ask(n=500)
        paid = [x for i, x in enumerate(decisions) if int(i * mean) < int((i + 1) * mean)]
        campaign.tell_many([(str(x.id), 1.0) for x in paid])
        clock.now += 61


@pytest.mark.parametrize("arm_c", ["archived", "losing"])
def test_an_arm_that_is_no_longer_played_does_not_stop_the_watch(
    tmp_path: Path, arm_c: str
) -> None:
    """24,000 decisions; the two arms that are played pay 0.95 since decision 20,000."""
    clock = Clock()
    worse = OfflineData.from_summary({"A": (50_000, 0.2), "B": (50_000, 0.2), "C": (50_000, 0.01)})
    with create(
        tmp_path,
        clock=clock,
        reward_window=60,
        default_reward=0,
        bias_bound=0.05,
        offline=MANY if arm_c == "archived" else worse,
        policy=HybridTS(noise=0.5) if arm_c == "losing" else TS(noise=0.5),
        control={"A": 0.4, "B": 0.4},
    ) as campaign:
        send(campaign, clock, 500, 0.2)
        if arm_c == "archived":
            campaign.archive_arm("C")
        send(campaign, clock, 19_500, 0.2)
        assert campaign.status().alarms == ()
        send(campaign, clock, 4_000, 0.95)
        status = campaign.status()
        assert status.arms["C"].live_n < 500
        assert status.alarms
        assert _tested(campaign) == 24_000
        campaign.verify()


def _tested(campaign: Campaign) -> int:
    """How many rewards the watch has tested."""
    with campaign.store.reading(campaign._row.id) as reader:
        kept = reader.watch()
    assert kept is not None
    return sum(arm[1] for arm in kept["watch"]["arms"])


def test_a_look_reads_as_many_rows_after_many_decisions_as_after_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts the rows that each transaction fetches, while an arm is archived and all wait."""
    rows: list[int] = []
    fetch = SqliteSession.rows

    def counted(session: SqliteSession, *given: Any) -> Any:
        found = fetch(session, *given)
        rows[-1] += len(found)
        return found

    monkeypatch.setattr(SqliteSession, "rows", counted)
    clock = Clock()
    options = {"reward_window": 60, "default_reward": 0, "bias_bound": 0.05, "offline": MANY}
    rows.append(0)
    with create(tmp_path, clock=clock, **options) as campaign:
        send(campaign, clock, 500, 0.2)
        campaign.archive_arm("C")
        campaign.status()
        for _ in range(16):
            rows.append(0)
            send(campaign, clock, 500, 0.2)
            campaign.status()
        open_ones = campaign.ask(n=500)
        rows.append(0)
        campaign.tell(str(open_ones[-1].id), 1.0)
        campaign.status()
    assert max(rows[9:-1]) <= 1.1 * rows[1]
    assert rows[-1] < 1_000  # the oldest open decision ends the look


def test_a_decision_that_is_shown_after_it_was_read_is_tested(tmp_path: Path) -> None:
    """All rewards come at once, so only decisions that are not shown yet hold the position."""
    clock = Clock()
    options = {"reward_window": 60, "default_reward": 0, "exposure": "report"}
    with create(tmp_path, clock=clock, **options) as campaign:
        first, second = (campaign.ask() for _ in range(2))
        campaign.expose(str(second.id))
        campaign.tell(str(second.id), 1.0)
        campaign.status()
        assert _tested(campaign) == 0
        campaign.expose(str(first.id))
        campaign.tell(str(first.id), 0.0)
        campaign.status()
        assert _tested(campaign) == 2


def test_a_decision_that_is_shown_too_late_is_not_tested_nor_corrected(tmp_path: Path) -> None:
    clock = Clock()
    options = {"reward_window": 60, "default_reward": 0, "exposure": "report", "late": "replace"}
    with create(tmp_path, clock=clock, **options) as campaign:
        first, second = (campaign.ask() for _ in range(2))
        campaign.expose(str(second.id))
        clock.now += 61
        campaign.status()
        assert _tested(campaign) == 1
        campaign.expose(str(first.id))
        clock.now += 61
        campaign.status()
        campaign.tell(str(first.id), 1.0)
        campaign.status()
        with campaign.store.reading(campaign._row.id) as reader:
            kept = reader.watch()
        assert kept is not None
        assert [sum(arm[i] for arm in kept["watch"]["arms"]) for i in (1, 2)] == [1, 0.0]


def test_a_record_of_an_older_release_is_read_on(tmp_path: Path) -> None:
    """It has one position for each arm; no reward is tested twice, and none is left out."""
    clock = Clock()
    options = {"reward_window": 60, "default_reward": 0, "bias_bound": 0.05, "offline": MANY}
    with create(tmp_path, clock=clock, **options) as campaign:
        send(campaign, clock, 1_000, 0.2)
        campaign.status()
        with campaign.store.reading(campaign._row.id) as reader:
            kept = reader.watch()
            last = {row.column: row.number for row in reader.all_decisions()}
        assert kept is not None
        older = {"watch": kept["watch"], "seq": kept["seq"], "numbers": [last[i] for i in range(3)]}
        place = tmp_path / "store.db"
        with sqlite3.connect(place) as link:
            link.execute("UPDATE watches SET record = ?", [json.dumps(older)])
        link.close()
        send(campaign, clock, 500, 0.2)
        campaign.status()
        assert _tested(campaign) == 1_500
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
