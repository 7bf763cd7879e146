"""Asks, rewards, corrections, exposures and defaults that were played."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from campaign_parts import Clock, asked, create

from driftanchor import (
    TS,
    Campaign,
    Conflict,
    Decision,
    InvalidInput,
    NotFound,
    OfflineData,
    Policy,
    Store,
    UnknownName,
)
from driftanchor.core.evidence import ArmEvidence, Round
from driftanchor.core.noise import Draws
from driftanchor.errors import OutsideLogs
from driftanchor.live.campaigns import requests, writer
from driftanchor.live.campaigns.requests import Ask, Correct, Tell, UseDefault
from driftanchor.live.state import State
from driftanchor.live.watch.watch import Watch


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


pyarrow: Any = pytest.importorskip("pyarrow")

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
    monkeypatch.setattr(writer, "MAX_SWEPT", 3)  # so that the sweep takes many turns
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
    with campaign.store.reading(campaign._row.id) as reader:
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
    campaign, learn = create(store), State.learn
    ids = [str(x.id) for x in campaign.ask(n=3)]

    def failing(state: State, column: int, reward: float, late: bool = False) -> None:
        if reward == 0.25:
            raise ZeroDivisionError
        learn(state, column, reward, late)

    monkeypatch.setattr(State, "learn", failing)
    answers = campaign.tell_many(list(zip(ids, (0.5, 0.25, 0.75), strict=True)))
    kinds = [getattr(x, "status", type(x).__name__) for x in answers]
    assert kinds == ["recorded", "UnreadableState", "recorded"]
    assert campaign.decision(ids[1]).state == "open"
    monkeypatch.undo()
    campaign.verify()


def test_a_corrected_reward_changes_all_that_is_made_of_rewards(
    store: Store, tmp_path: Path
) -> None:
    clock = Clock()
    campaign = create(store, clock=clock, reward_range=(0, 50))
    ids = [str(x.id) for x in campaign.ask(n=10, exclude=["B", "C"])]
    campaign.tell_many([(x, 30.0) for x in ids])
    clock.now += 3_600
    receipt = campaign.correct(ids[0], 0.0, before=30.0, reason="refund")
    assert (receipt.status, receipt.reward) == ("corrected", 0.0)
    clock.now += 3_600
    assert campaign.correct(ids[0], 0.0, before=30.0).status == "replayed"
    arm = campaign.status().arms["A"]
    assert (arm.live_n, arm.live_mean, round(arm.live_variance, 9)) == (10, 27.0, 90.0)
    assert [(row.rewards, row.total) for row in campaign.history()] == [(10, 270.0)]
    last = campaign.events()[-1]
    assert (last["kind"], last["value"], last["detail"]["before"]) == ("corrected", 0.0, 30.0)
    assert last["detail"]["reason"] == "refund"
    campaign.export(tmp_path / "decisions.jsonl")
    first = json.loads((tmp_path / "decisions.jsonl").read_text().splitlines()[0])
    assert (first["reward"], first["reported"]) == (0.0, 30.0)
    assert campaign.tell(ids[0], 30.0).status == "replayed"  # the first report, sent again
    assert campaign.correct(ids[0], 12.0, before=0.0).reward == 12.0
    loaded = Campaign.load("c", store=store, clock=clock)
    assert loaded.status().arms["A"].live_mean == 28.2
    assert loaded.verify().rewards == 10


def test_a_correction_names_the_reward_that_is_recorded(store: Store) -> None:
    clock = Clock()
    campaign = create(store, clock=clock, reward_window=60, default_reward=0)
    told, waiting, late = asked(campaign), asked(campaign), asked(campaign)
    campaign.tell(told, 1.0)
    with pytest.raises(Conflict, match=r"has the reward 1.0, not 0.5"):
        campaign.correct(told, 0.0, before=0.5)
    with pytest.raises(Conflict, match="has no reported reward that counts"):
        campaign.correct(waiting, 0.5, before=0.0)
    clock.now += 60
    campaign.tell(late, 1.0)
    with pytest.raises(Conflict, match="has no reported reward that counts"):
        campaign.correct(late, 0.5, before=1.0)
    with pytest.raises(InvalidInput, match="reward must be"):
        campaign.correct(told, 7.0, before=1.0)
    with pytest.raises(NotFound):
        campaign.correct("nobody", 0.0, before=1.0)
    assert campaign.decision(told).reward == 1.0
    campaign.verify()


def test_a_late_reward_that_replaced_the_default_can_be_corrected(store: Store) -> None:
    clock = Clock()
    campaign = create(store, clock=clock, reward_window=60, default_reward=0, late="replace")
    one = asked(campaign)
    clock.now += 61
    campaign.tell(one, 1.0)
    campaign.correct(one, 0.25, before=1.0)
    assert sum(row.total for row in campaign.history()) == 0.25
    campaign.verify()


@pytest.mark.parametrize("window", [None, 60.0])
def test_alarms_follow_corrections(store: Store, window: float | None) -> None:
    logs = OfflineData.from_summary({x: (5_000, 0.2, 0.16) for x in "ABC"})
    clock = Clock()
    campaign = create(
        store,
        clock=clock,
        arms=None,
        offline=logs,
        bias_bound=0.02,
        reward_window=window,
        policy=TS(noise=0.5),
    )
    ids = [str(x.id) for x in campaign.ask(n=40)]
    campaign.tell_many([(x, 0.2) for x in ids])
    clock.now += 61
    assert campaign.status().alarms == ()
    wrong = [str(x.id) for x in campaign.ask(n=240)]  # all in one transaction, with the corrections
    campaign.submit([Tell(x, 1.0) for x in wrong] + [Correct(x, 0.2, 1.0) for x in wrong])
    for one in ids[:20]:
        campaign.correct(one, 0.3, before=0.2)
    clock.now += 61
    assert campaign.status().alarms == ()
    with campaign.store.reading(campaign._row.id) as reader:
        record, arms = reader.watch(), reader.arms()
    assert record is not None
    watch = Watch.from_json(record["watch"])
    assert [arm.n for arm in watch.arms] == [row.pulls for row in arms]
    for arm, row in zip(watch.arms, arms, strict=True):
        assert arm.total == pytest.approx(row.total, abs=1e-9)
    campaign.verify()


def logged(store: Store, rewards: list[float], **options: Any) -> Campaign:
    frame = pyarrow.table({"arm": ["A", "B"] * (len(rewards) // 2), "reward": rewards})
    logs = OfflineData.from_logs(frame, arm="arm", reward="reward")
    given = {"arms": None, "offline": logs, "bias_bound": 1.0, "reward_range": None}
    return create(store, **{**given, **options})


def test_rewards_far_outside_the_logged_ones_are_refused(store: Store) -> None:
    campaign = logged(store, [0.0, 80.0, 20.0, 10.0] * 500, policy=None)
    one, other, third = (asked(campaign) for _ in range(3))
    words = r"far outside the logged rewards, which are from 0 to 80: .*allow_outside"
    with pytest.raises(OutsideLogs, match=words):
        campaign.tell(one, 51200000000.30)
    refused = campaign.tell_many([(one, -801.0), (other, 800.0)])
    assert [type(x).__name__ for x in refused] == ["OutsideLogs", "Receipt"]
    assert campaign.decision(one).state == "open"
    assert campaign.tell(one, 5_000.0, allow_outside=True).status == "recorded"
    assert campaign.tell(one, 5_000.0).status == "replayed"
    with pytest.raises(OutsideLogs):
        campaign.correct(one, 9_000.0, before=5_000.0)
    loaded = Campaign.load("c", store=store, clock=Clock())
    with pytest.raises(OutsideLogs):
        loaded.tell(third, 5_000.0)
    loaded.change("a new product costs more", allow_outside=True)
    assert loaded.tell(third, 5_000.0).status == "recorded"
    loaded.verify()


def test_few_logs_say_less_about_the_largest_reward(store: Store) -> None:
    campaign = logged(store, [0.0, 80.0, 80.0, 0.0, 5.0] * 2, policy=None)
    assert campaign.tell(asked(campaign), 79_000.0).status == "recorded"
    with pytest.raises(OutsideLogs):
        campaign.tell(asked(campaign), 1e6)


def test_rewards_are_binary_where_all_logged_ones_are(store: Store) -> None:
    campaign = logged(store, [0.0, 1.0, 0.0, 0.0] * 50, policy=None)
    assert (campaign.settings.reward, campaign.terms.reward_range) == ("binary", (0.0, 1.0))
    assert any("because all logged rewards are" in x for x in campaign.status().reasons)
    with pytest.raises(InvalidInput, match="reward must be"):
        campaign.tell(asked(campaign), 7.0)
    with pytest.raises(InvalidInput, match="reward must be 0 or 1"):
        campaign.tell(asked(campaign), 0.5)
    again = logged(store, [0.0, 1.0, 0.0, 0.0] * 50, policy=None, if_exists="load")
    assert again.settings.reward == "binary"


@pytest.mark.parametrize(
    ("rewards", "options"),
    [
        ([0.0, 1.0, 0.0, 0.0], {"reward": "number"}),
        ([0.0, 1.0, 0.0, 0.0], {"reward_range": (0, 10)}),
        ([0.0, 1.0, 0.5, 0.0], {}),
        ([0.0, 2.0, 0.0, 0.0], {}),
    ],
)
def test_rewards_are_numbers_otherwise(
    store: Store, rewards: list[float], options: dict[str, Any]
) -> None:
    campaign = logged(store, rewards * 50, policy=None, **options)
    assert campaign.settings.reward == "number"
    assert campaign.tell(asked(campaign), 0.5).status == "recorded"


def test_a_campaign_from_before_kinds_were_inferred_is_loaded_as_it_is(store: Store) -> None:
    logged(store, [0.0, 1.0, 0.0, 0.0] * 50, policy=None, reward="number").close()
    again = logged(store, [0.0, 1.0, 0.0, 0.0] * 50, policy=None, if_exists="load")
    assert again.settings.reward == "number"


@pytest.mark.parametrize("wrong", [51_200_000_000.3, -5e16, 1e90])
def test_a_corrected_slip_leaves_no_trace_in_the_sums(store: Store, wrong: float) -> None:
    """Subtracting a huge square leaves no digits: the variance was 0 for ever."""
    slip, plain = (create(store, name, reward_range=None, seed=3) for name in ("slip", "plain"))
    for campaign in (slip, plain):
        ids = [str(decision.id) for decision in campaign.ask(n=60)]
        pairs = [(one, 10.0 + i % 7 / 3) for i, one in enumerate(ids)]
        if campaign is slip:
            campaign.tell(ids[40], wrong)
            campaign.tell_many([pair for pair in pairs if pair[0] != ids[40]])
            campaign.correct(ids[40], pairs[40][1], before=wrong)
        else:
            campaign.tell_many(pairs)
    for label, arm in slip.status().arms.items():
        other = plain.status().arms[label]
        assert (arm.rewards, arm.decisions) == (other.rewards, other.decisions)
        assert arm.live_mean == pytest.approx(other.live_mean, rel=1e-9)
        assert arm.live_variance == pytest.approx(other.live_variance, rel=1e-6)
    slip.verify()


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
