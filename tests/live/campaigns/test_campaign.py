"""Asking and telling, on SQLite and PostgreSQL."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from campaign_parts import Clock, asked, create

from driftanchor import TS, Campaign, Conflict, InvalidInput, NotFound, OfflineData, Store
from driftanchor.errors import UnknownName
from driftanchor.live.campaigns.decision import Receipt


def test_a_decision_and_its_reward_count_once(store: Store) -> None:
    campaign = create(store)
    decision = campaign.ask()
    assert (decision.number, decision.replayed, decision.campaign) == (1, False, "c")
    assert decision.propensity == pytest.approx(1 / 3)
    assert campaign.status().pending == 1
    first = campaign.tell(str(decision.id), 0.25)
    assert (first.status, first.arm, first.reward) == ("recorded", decision.arm, 0.25)
    assert campaign.tell(str(decision.id), 0.25).status == "replayed"
    status = campaign.status()
    assert (status.decisions, status.rewards, status.pending) == (1, 1, 0)
    assert status.arms[decision.arm].live_mean == 0.25
    assert campaign.verify().rewards == 1


def test_another_reward_is_refused_and_the_first_stands(store: Store) -> None:
    campaign = create(store)
    one = asked(campaign)
    campaign.tell(one, 1.0)
    with pytest.raises(Conflict, match=r"already has the reward 1\.0; got 0\.0") as error:
        campaign.tell(one, 0.0)
    assert error.value.exit_code == 4
    assert campaign.tell(one, 1.0).reward == 1.0
    campaign.verify()


def test_rewards_that_cannot_count_are_refused(store: Store) -> None:
    campaign = create(store)
    one = asked(campaign)
    wrong: list[Any] = [math.nan, math.inf, -math.inf, "0.5", True, None, 1.5, -0.1, 1j, [1.0]]
    for reward in wrong:
        with pytest.raises(InvalidInput, match="reward must be"):
            campaign.tell(one, reward)
    assert campaign.tell(one, 0.5).status == "recorded"


def test_binary_rewards_are_0_or_1(store: Store) -> None:
    campaign = create(store, reward="binary", reward_range=None)
    one = asked(campaign)
    with pytest.raises(InvalidInput, match=r"reward must be 0 or 1, got 0\.5"):
        campaign.tell(one, 0.5)
    assert campaign.tell(one, 1).reward == 1.0


def test_an_unknown_decision_is_not_found(store: Store) -> None:
    campaign, other = create(store), create(store, "d")
    one = asked(other)
    for wrong in ("nobody's", one, "'; DROP TABLE decisions;--"):
        calls: list[Callable[[str], object]] = [
            lambda x: campaign.tell(x, 1.0),
            campaign.expose,
            campaign.explain,
        ]
        for call in calls:
            with pytest.raises(NotFound, match="campaign 'c' has no decision") as error:
                call(wrong)
    assert error.value.exit_code == 3
    with pytest.raises(InvalidInput, match="decision_id must be an id"):
        campaign.tell(7, 1.0)  # type: ignore[arg-type]


def test_many_rewards_have_a_result_each(store: Store) -> None:
    campaign = create(store)
    one, two = (str(x.id) for x in campaign.ask(n=2))
    results = campaign.tell_many([(one, 1.0), ("x", 1.0), (two, 7.0), (one, 1.0), (one, 0.5)])
    kinds = [getattr(x, "status", type(x).__name__) for x in results]
    assert kinds == ["recorded", "NotFound", "InvalidInput", "replayed", "OtherReward"]
    assert campaign.status().rewards == 1
    assert campaign.tell_many([]) == []
    with pytest.raises(InvalidInput, match="rewards must be pairs"):
        campaign.tell_many(["x"])  # type: ignore[list-item]
    campaign.verify()


def test_a_unit_gets_the_decision_it_holds(store: Store) -> None:
    campaign = create(store)
    first = campaign.ask("u")
    again = Campaign.load("c", store=store, clock=Clock(5_000.0)).ask("u")
    assert again.replayed
    assert (again.id, again.arm, again.propensity) == (first.id, first.arm, first.propensity)
    assert not campaign.ask("v").replayed
    campaign.tell(str(first.id), 1.0)
    after = campaign.ask("u")
    assert not after.replayed
    assert after.id != first.id
    assert campaign.status().decisions == 3


def test_a_unit_may_keep_its_decision_for_ever(store: Store) -> None:
    campaign = create(store, sticky="campaign")
    first = campaign.ask("u")
    campaign.tell(str(first.id), 1.0)
    assert campaign.ask("u").id == first.id
    assert campaign.tell(str(first.id), 1.0).status == "replayed"
    campaign.new_epoch()
    assert campaign.ask("u").id != first.id
    campaign.verify()


def test_without_stickiness_each_call_is_new(store: Store) -> None:
    campaign = create(store, sticky=None)
    assert campaign.ask("u").id != campaign.ask("u").id
    assert campaign.ask().id != campaign.ask().id


def test_an_excluded_arm_gives_a_new_draw_and_says_so(store: Store) -> None:
    campaign = create(store)
    first = campaign.ask("u")
    second = campaign.ask("u", exclude=[first.arm])
    assert second.arm != first.arm
    assert second.note == f"the arm of the decision before, {first.arm!r}, is excluded"
    assert campaign.ask("u").id == second.id
    assert campaign.tell(str(first.id), 1.0).status == "recorded"
    assert campaign.ask("u").id == second.id
    assert campaign.explain(str(second.id)).arm == second.arm
    campaign.verify()


def test_peeking_enrols_nobody(store: Store) -> None:
    campaign = create(store)
    seen = campaign.ask("u", peek=True)
    assert (seen.id, seen.number, seen.replayed) == (None, 1, False)
    assert campaign.status().decisions == 0
    assert campaign.ask("u").arm == seen.arm
    assert campaign.ask("u", peek=True).replayed


def test_a_key_gives_the_same_decisions_again(store: Store) -> None:
    campaign = create(store)
    first = campaign.ask(n=3, key="k")
    again = campaign.ask(n=3, key="k")
    assert [x.id for x in again] == [x.id for x in first]
    assert all(x.replayed for x in again)
    assert campaign.status().decisions == 3


def test_what_cannot_be_asked(store: Store) -> None:
    campaign = create(store)
    calls: list[tuple[Callable[[], object], str]] = [
        (lambda: campaign.ask("u", n=2), "a unit has one decision at a time"),
        (lambda: campaign.ask(n=0), "n must be"),
        (lambda: campaign.ask(""), "unit must be printable text"),
        (lambda: campaign.ask("a\0b"), "unit must be printable text"),
        (lambda: campaign.ask("x" * 300), "unit must be printable text"),
        (lambda: campaign.ask(exclude=["A", "B", "C"]), "leaves no arm to play"),
        (lambda: campaign.ask(exclude="A"), "exclude must be a list"),
    ]
    for call, words in calls:
        with pytest.raises(InvalidInput, match=words):
            call()
    with pytest.raises(UnknownName, match="unknown arm 'D'"):
        campaign.ask(exclude=["D"])
    assert campaign.status().decisions == 0


def test_logs_and_promises_last(store: Store) -> None:
    logs = OfflineData.from_summary({"A": (200, 0.51, 0.25), "B": (100, 0.48, 0.25)})
    bounds = {"A": 0.05, "B": math.inf}
    campaign = Campaign.create("c", offline=logs, bias_bound=bounds, store=store, seed=1)
    again = Campaign.load("c", store=store)
    assert again.terms == campaign.terms
    assert again.terms.offline == logs
    assert again.terms.bias_bounds.tolist() == [0.05, math.inf]
    assert again.status().arms["A"].logs_n == 200
    assert campaign.ask(peek=True).arm == again.ask().arm


def test_the_same_seed_and_order_give_the_same_decisions(store: Store) -> None:
    """Two workers take turns, one of them is started anew in the middle."""
    alone = create(store, "alone", policy=TS(noise=0.5))
    create(store, "shared", policy=TS(noise=0.5))
    workers = [Campaign.load("shared", store=store, clock=Clock(i)) for i in (9.0, 3.0)]
    expected, got = [], []
    for i in range(40):
        if i == 20:
            workers[1] = Campaign.load("shared", store=store, clock=Clock(-50.0))
        one = alone.ask()
        other = workers[i % 2].ask()
        expected.append((one.arm, one.propensity))
        got.append((other.arm, other.propensity))
        reward = float(i % 3 == 0)
        alone.tell(str(one.id), reward)
        workers[(i // 3) % 2].tell(str(other.id), reward)
    assert got == expected
    assert len(set(got)) > 5
    workers[0].verify()


@pytest.mark.parametrize("clock", [None, 5, "now"])
def test_a_clock_that_is_none_is_refused(clock: Any, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'store.db'}"
    with pytest.raises(InvalidInput, match="clock must be a function"):
        Campaign.create("c", arms=["A", "B"], store=store, clock=clock)
    assert not list(tmp_path.iterdir())
    create(store).close()
    with pytest.raises(InvalidInput, match="clock must be a function"):
        Campaign.load("c", store=store, clock=clock)


@pytest.mark.parametrize("since", ["yesterday", math.nan, [1]])
def test_a_history_since_no_moment_is_refused(since: Any, store: Store) -> None:
    with pytest.raises(InvalidInput, match="since must be a"):
        create(store).history(since)


def test_what_is_no_id_is_the_error_of_its_reward_alone(tmp_path: Path) -> None:
    campaign = create(f"sqlite:///{tmp_path / 's.db'}")
    given: list[Any] = [(asked(campaign), 1.0), (None, 1.0), (["x"], 1.0)]
    good, *bad = campaign.tell_many(given)
    assert isinstance(good, Receipt)
    assert good.status == "recorded"
    for error in bad:
        assert isinstance(error, InvalidInput)
        assert error.argument == "decision_id"
    for wrong in (5, None):
        with pytest.raises(InvalidInput, match="decision_id must be an id"):
            campaign.explain(wrong)  # type: ignore[arg-type]
        with pytest.raises(InvalidInput, match="decision_id must be an id"):
            campaign.tell(wrong, 1.0)  # type: ignore[arg-type]
    assert campaign.verify().rewards == 1


@pytest.mark.parametrize("time", ["now", None, math.nan, math.inf, 1e300, [1.0]])
def test_a_clock_that_tells_no_time_is_refused(time: Any, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 's.db'}"
    with pytest.raises(InvalidInput, match="clock must return the seconds since 1970"):
        create(store, clock=lambda: time)
    assert create(store, reward_window=5.0).ask().number == 1
    campaign = Campaign.load("c", store=store, clock=lambda: time)
    for call in (campaign.ask, campaign.status, campaign.pause, campaign.sweep):
        with pytest.raises(InvalidInput, match="clock must return the seconds since 1970"):
            call()
    assert campaign.verify().decisions == 1


def test_a_key_stands_for_one_request(tmp_path: Path) -> None:
    campaign = create(f"sqlite:///{tmp_path / 's.db'}")
    first = campaign.ask(n=2, key="k")
    with pytest.raises(Conflict, match="the key 'k' belongs to another request"):
        campaign.ask(n=5, key="k")
    assert [x.id for x in campaign.ask(n=2, key="k")] == [x.id for x in first]


def test_an_open_campaign_is_not_copied(tmp_path: Path) -> None:
    campaign = create(f"sqlite:///{tmp_path / 's.db'}")
    for copied in (pickle.dumps, copy.deepcopy, copy.copy):
        with pytest.raises(TypeError, match="load it again by its name") as error:
            copied(campaign)
        assert isinstance(error.value, InvalidInput)


def test_the_counts_of_a_list_are_those_of_the_status(store: Store) -> None:
    clock = Clock()
    campaign = create(store, reward_window=5.0, default_reward=0.0, clock=clock)
    campaign.tell(asked(campaign), 1.0)
    asked(campaign)
    clock.now += 10.0  # the window of the second decision ends
    asked(campaign)
    campaign.pause()
    counts = campaign.counts()
    status = campaign.status()
    assert counts == {
        "name": "c",
        "policy": status.policy,
        "arms": len(status.arms),
        "decisions": 3,
        "rewards": 2,
        "pending": 1,
        "paused": True,
    }
    assert (status.decisions, status.rewards, status.pending, status.paused) == (3, 2, 1, True)
