"""Live means of campaigns with a reward window and a default reward, while rewards are delayed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from campaign_parts import Clock, asked, create

from driftanchor import TS, Campaign, OfflineData, Store
from driftanchor.cli.campaign_show import status_lines
from driftanchor.core.delays import slot_length
from driftanchor.live.campaigns import writer
from driftanchor.live.campaigns.campaign_state import CampaignState
from driftanchor.live.campaigns.maturing import CohortCounts
from driftanchor.live.campaigns.requests import UseDefault
from driftanchor.serve.page.campaign_view import campaign_view
from driftanchor.serve.page.savings import estimate_savings
from driftanchor.serve.page.sentences import campaign_sentence
from driftanchor.serve.page.timeline import timeline

DAY = 86_400.0
STEP = 4 * 3_600.0  # seconds between two visits of the simulated callers
WINDOW = 7 * DAY
START = 1_700_000_000.0
RATES = {"A": 0.1125, "B": 0.09}
LOGS = OfflineData.from_summary({"A": (4_000, 0.1, 0.09), "B": (4_000, 0.09, 0.08)})
DAYS = (1, 3, 7, 10, 21)
Delay = Callable[[np.random.Generator], float]  # of a reward, in steps


def evenly(rng: np.random.Generator) -> float:
    return float(rng.integers(1, int(WINDOW / STEP)))


def instantly(rng: np.random.Generator) -> float:
    return 0.0


def writer_of(campaign: Campaign) -> writer.Writer:
    """Return the writer behind a campaign's queue."""
    write: Any = campaign.queue._write
    found: writer.Writer = write.__self__
    return found


class Story:
    """A campaign of two workers that take turns, its callers, and a clock.

    Args:
        store: The store.
        delay: How long each reward takes.
        zeros: Whether callers report rewards of 0 too.
        options: Options of the campaign.
    """

    def __init__(self, store: Any, delay: Delay, zeros: bool = False, **options: Any) -> None:
        self.clock, self.delay, self.zeros = Clock(START), delay, zeros
        self.rng = np.random.default_rng(2)
        given = {
            "offline": LOGS,
            "bias_bound": 0.05,
            "policy": TS(noise=0.3),
            "reward": "binary",
            "reward_window": WINDOW,
            "default_reward": 0,
            "floor": 0.2,
            "sticky": None,
            "seed": 1,
        }
        Campaign.create("c", store=store, clock=self.clock, **{**given, **options})
        self.workers = [Campaign.load("c", store=store, clock=self.clock) for _ in range(2)]
        self.due: list[tuple[float, str, float]] = []
        self.ids: list[str] = []
        self.steps = 0

    @property
    def campaign(self) -> Campaign:
        return self.workers[self.steps % 2]

    def live_until(self, day: float, decisions: int = 40) -> None:
        """Let callers come until a day."""
        while self.steps * STEP < day * DAY:
            self.steps += 1
            self.clock.now = START + self.steps * STEP
            self.pay()
            for decision in self.campaign.ask(n=decisions):
                self.ids.append(str(decision.id))
                reward = float(self.rng.random() < RATES[decision.arm])
                if reward or self.zeros:
                    at = self.clock.now + self.delay(self.rng) * STEP
                    self.due.append((at, str(decision.id), reward))
            self.pay()

    def pay(self) -> None:
        now = self.clock.now
        came = [(one, reward) for at, one, reward in self.due if at <= now]
        self.due = [x for x in self.due if x[0] > now]
        receipts = self.campaign.tell_many(came)
        assert {getattr(x, "status", x) for x in receipts} <= {"recorded"}


@pytest.mark.slow
@pytest.mark.parametrize("zeros", [False, True], ids=["conversions", "all"])
@pytest.mark.parametrize("delay", [evenly, instantly])
def test_live_means_are_right_on_every_day(store: Store, delay: Delay, zeros: bool) -> None:
    """README's recipe: status, page and evidence agree, within 3 standard errors of the truth.

    A normal mean with an honest standard error misses that once in 370 times. So at most one seed
    in 10 fails for one of 2 arms, 5 days and 4 kinds of callers; the seed is fixed.
    """
    story = Story(store, delay, zeros)
    for day in DAYS:
        story.live_until(day)
        status = story.campaign.status()
        with story.campaign.at_one_moment() as reading:
            view = campaign_view(reading, estimate_savings(reading))
            chart = timeline(reading, "all", {})
            evidence, _ = reading.current.decider.situation()
        for column, (label, rate) in enumerate(RATES.items()):
            arm = status.arms[label]
            assert 0 <= arm.live_n <= arm.decisions
            pulls, total = evidence.pulls.item(column), evidence.totals.item(column)
            assert arm.live_n == pulls
            assert evidence.pending[column] == pytest.approx(arm.decisions - pulls)
            if math.isnan(arm.live_mean):
                assert pulls < 1
                assert day == 1
                assert view["arms"][column]["live"]["mean"] is None
                continue
            assert abs(arm.live_mean - rate) < 3 * math.sqrt(rate * (1 - rate) / arm.live_n)
            assert total / pulls == arm.live_mean == view["arms"][column]["live"]["mean"]
            assert arm.live_variance == pytest.approx(
                arm.live_mean * (1 - arm.live_mean) * pulls / (pulls - 1)
            )
            assert chart["arms"][column]["reward"][-1] == pytest.approx(arm.live_mean)
    assert status.arms["A"].live_n > 0.5 * status.arms["A"].decisions
    for one in story.ids[100:1_500:200]:  # made in the middle of the first windows
        story.campaign.explain(one)
    story.campaign.verify()


def test_before_the_first_reward_there_is_no_mean_and_status_says_so(store: Store) -> None:
    story = Story(store, instantly)
    story.live_until(1 / 6)
    status = story.campaign.status()
    assert status.rewards > 0
    assert all(math.isnan(arm.live_mean) for arm in status.arms.values())
    assert "No live means yet, because rewards need time to arrive" in " ".join(status.findings())
    assert campaign_sentence(status, 0.0).endswith(
        "; no live means yet, rewards need time to arrive"
    )
    assert not any(x.startswith("live n") for x in status_lines(status, story.campaign.terms))
    story.live_until(1)
    status = story.campaign.status()
    assert "No live means yet" not in " ".join(status.findings())
    assert "no live means yet" not in campaign_sentence(status, 0.0)
    assert any(x.startswith("live n") for x in status_lines(status, story.campaign.terms))


def test_a_new_worker_estimates_as_one_that_was_there_all_the_time(store: Store) -> None:
    """It counts the last two windows alone."""
    story = Story(store, evenly, reward_window=2 * DAY, exposure="report")
    expose = story.campaign.expose
    story.delay = lambda rng: float(rng.integers(1, 12))
    for day in range(1, 9):
        story.live_until(day, 10)
        for one in story.ids[-50::3]:
            expose(one)
    old = writer_of(story.workers[0])._counts
    assert old is not None
    story.clock.now += STEP
    new = CohortCounts(*old.terms)
    with story.campaign.at_one_moment() as reading:
        old.catch_up(reading.reader, story.clock.now)
        new.catch_up(reading.reader, story.clock.now)
        estimates = [x.estimate(reading.current, story.clock.now) for x in (old, new)]
    for one, other in zip(*estimates, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    assert estimates[0][0].sum() > 50


def test_workers_see_the_same_numbers(store: Store) -> None:
    story = Story(store, instantly)
    story.live_until(2, 10)
    for worker in story.workers:
        worker.ask()
    currents = [writer_of(worker)._current for worker in story.workers]
    lives = [None if current is None else current.state.live for current in currents]
    with story.campaign.at_one_moment() as reading:
        lives.append(reading.current.state.live)
    assert all(live is not None for live in lives)
    for live in lives[1:]:
        np.testing.assert_array_equal(lives[0], live)


def test_a_campaign_of_an_older_release_continues(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its decisions are replayed as they were made, and new ones see the estimate."""
    story = Story(store, instantly)
    with monkeypatch.context() as older:
        older.setattr(writer, "counts_for", lambda settings, kept: None)
        story.live_until(1, 10)
        assert story.campaign.status().arms["A"].live_mean == 1.0  # as it was
    for one in story.ids[::17]:
        story.campaign.explain(one)
    story.live_until(2, 10)
    assert story.campaign.status().arms["A"].live_mean < 0.5
    for one in story.ids[::17]:
        story.campaign.explain(one)
    story.campaign.verify()


def test_nothing_is_recorded_while_nothing_changes(store: Store) -> None:
    clock = Clock()
    campaign = create(store, clock=clock, reward_window=60, default_reward=0)
    campaign.tell(asked(campaign), 1.0)
    clock.now += 120
    campaign.status()
    last = campaign.verify().events
    for _ in range(3):
        clock.now += 60
        campaign.status()
    assert campaign.verify().events == last


def test_a_clock_that_was_ahead_does_not_stop_estimates(store: Store) -> None:
    clock = Clock()
    campaign = create(store, clock=clock, reward_window=60, default_reward=0)
    campaign.tell(asked(campaign), 1.0)
    clock.now += 1e6
    campaign.status()
    clock.now -= 1e6 - 100
    campaign.tell(asked(campaign), 1.0)
    clock.now += 100
    status = Campaign.load("c", store=store, clock=clock).status()
    assert sum(arm.live_n for arm in status.arms.values()) == 2
    campaign.verify()


def test_rewards_count_as_they_come_without_a_default(store: Store) -> None:
    clock = Clock()
    campaign = create(store, clock=clock, reward_window=60)
    decision = campaign.ask()
    campaign.tell(str(decision.id), 0.5)
    assert campaign.status().arms[decision.arm].live_mean == 0.5
    assert "matured" not in [event["kind"] for event in campaign.events()]


def test_decisions_that_nobody_saw_do_not_count(store: Store) -> None:
    clock = Clock()
    campaign = create(store, clock=clock, reward_window=60, default_reward=0)
    campaign.ask(n=20)
    campaign.ask(key="k")
    clock.now += 2
    campaign.submit([UseDefault("k", "B", 2.0)])
    clock.now += 100
    status = campaign.status()
    assert sum(arm.live_n for arm in status.arms.values()) == 20


@pytest.mark.parametrize("reward", [0.2, 0.9])
def test_an_arm_that_always_pays_another_reward_than_the_default(
    store: Store, reward: float
) -> None:
    """The default is not 0, and rewards are not all alike."""
    clock = Clock()
    campaign = create(store, clock=clock, reward_window=600, default_reward=0.5)
    length = slot_length(600)
    for _ in range(25):
        clock.now += length
        campaign.tell_many([(str(x.id), reward) for x in campaign.ask(n=12)])
    clock.now += length
    status = campaign.status()
    for arm in status.arms.values():
        assert arm.live_mean == pytest.approx(reward, abs=0.02)
        assert arm.live_variance == pytest.approx(0.0, abs=0.02)
    campaign.verify()


def test_zeros_that_are_sent_change_nothing(store: Store) -> None:
    clock = Clock()
    names = ("sent", "unsent")
    campaigns = [
        create(store, name, clock=clock, reward_window=600, default_reward=0) for name in names
    ]
    for n in range(40):
        clock.now += 40
        for campaign in campaigns:
            for i, decision in enumerate(campaign.ask(n=5)):
                if (n + i) % 3 == 0 or campaign.name == "sent":
                    campaign.tell(str(decision.id), float((n + i) % 3 == 0))
    sent, not_sent = (campaign.status() for campaign in campaigns)
    assert sent.rewards > not_sent.rewards
    for label, arm in sent.arms.items():
        other = not_sent.arms[label]
        assert (arm.decisions, arm.live_n) == (other.decisions, other.live_n)
        assert arm.live_mean == pytest.approx(other.live_mean, rel=1e-12)


def test_snapshots_have_the_estimate(store: Store) -> None:
    story = Story(store, instantly)
    story.live_until(2, 60)
    with story.campaign.at_one_moment() as reading:
        kept = reading.reader.snapshot(reading.current.counters.seq)
    assert kept is not None
    assert len(kept.state["live"]) == 2
    for one in story.ids[::90]:
        story.campaign.explain(one)
    story.campaign.verify()


def test_a_longer_window_learns_its_delays_anew(store: Store) -> None:
    """Decisions of a window that was too short say nothing about delays in a longer one."""
    story = Story(store, lambda rng: float(rng.integers(1, 11)), reward_window=2 * DAY)
    story.live_until(4)
    story.campaign.change("orders take longer", reward_window=WINDOW)
    story.delay = evenly
    story.live_until(25)
    arm = story.campaign.status().arms["A"]
    assert abs(arm.live_mean - RATES["A"]) < 3 * 0.32 / math.sqrt(arm.live_n)
    assert arm.live_n > 1_000
    for worker in story.workers:
        worker.verify()
    assert story.campaign.explain(story.ids[-1]).arm in RATES


def test_without_a_default_rewards_count_as_they_come_again(store: Store) -> None:
    story = Story(store, instantly, zeros=True)
    story.live_until(2)
    assert story.campaign.status().arms["A"].live_n % 1.0
    story.campaign.change("zeros are reported too", default_reward=None)
    story.live_until(9.2)
    for worker in story.workers:
        arm = worker.status().arms["A"]
        assert arm.live_n == arm.rewards
        worker.verify()
    loaded = Campaign.load("c", store=store, clock=story.clock)
    assert loaded.status().arms == story.campaign.status().arms
    loaded.explain(story.ids[-1])
    story.campaign.change("only conversions again", default_reward=0)
    story.live_until(10)
    story.campaign.verify()


def test_decisions_without_a_window_count_as_reported_once_there_is_one(store: Store) -> None:
    """They wait for ever, as agreed: they must not count as zeros when a default is introduced."""
    clock = Clock()
    campaign = create(store, clock=clock)
    ids = [str(x.id) for x in campaign.ask(n=60)]
    campaign.tell_many([(one, float(i % 2)) for i, one in enumerate(ids[:30])])
    campaign.change("only conversions are sent now", reward_window=600, default_reward=0)
    assert _live(campaign, clock, 60) == (30, 15)
    campaign.tell_many([(one, 1.0) for one in ids[30:32]])
    campaign.correct(ids[1], 0.0, before=1.0)
    assert _live(campaign, clock, 60) == (32, 16)
    campaign.ask(n=40)
    pulls, total = _live(campaign, clock, 700)
    assert (pulls, total) == (72, 16)
    campaign.verify()


@pytest.mark.parametrize("window", [300, 900])
def test_decisions_of_an_earlier_window_count_when_that_has_closed(
    store: Store, window: float
) -> None:
    """Neither their missing rewards nor their early ones count before."""
    clock = Clock()
    campaign = create(store, clock=clock, reward_window=600, default_reward=0)
    ids = [str(x.id) for x in campaign.ask(n=60)]
    campaign.tell_many([(one, 1.0) for one in ids[:6]])
    clock.now += 60
    campaign.change("a better window", reward_window=window)
    campaign.tell_many([(one, 1.0) for one in ids[6:9]])
    assert _live(campaign, clock, 100) == (0, 0)
    campaign.correct(ids[0], 0.0, before=1.0)
    assert _live(campaign, clock, 400) == (0, 0)
    assert _live(campaign, clock, 100) == (60, 8)
    campaign.verify()


def test_expired_decisions_of_earlier_terms_take_nothing_from_new_ones(store: Store) -> None:
    clock = Clock()
    campaign = create(store, clock=clock, reward_window=600)
    campaign.ask(n=50)
    campaign.change("zeros are not sent", default_reward=0)
    campaign.tell_many([(str(x.id), 1.0) for x in campaign.ask(n=10)])
    assert _live(campaign, clock, 1_300) == (10, 10)
    campaign.verify()


def _live(campaign: Campaign, clock: Clock, later: float) -> tuple[float, float]:
    """Pulls and totals that policies see after some seconds, of all arms."""
    clock.now += later
    campaign.status()
    with campaign.at_one_moment() as reading:
        state = reading.current.state
    return float(state.live_pulls.sum()), float(state.live_totals.sum())


def test_an_estimate_is_made_again_with_a_transaction_that_is_repeated(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store may call the work of a transaction again after a break. It runs twice here."""
    clock = Clock()
    campaign = create(store, clock=clock, reward_window=600, default_reward=0)
    campaign.tell_many([(str(x.id), 1.0) for x in campaign.ask(n=10)])
    clock.now += 1_000
    transact = store.transact

    def twice(name: int, work: Callable[[Any], Any]) -> None:
        transact(name, lambda reader: (work(reader), work(reader))[1])

    monkeypatch.setattr(store, "transact", twice)
    campaign.ask()
    monkeypatch.undo()
    with campaign.at_one_moment() as reading:
        assert reading.current.state.live_totals.sum() == 10
    campaign.verify()


def test_a_clock_that_was_ahead_for_a_while_does_not_delay_estimates(store: Store) -> None:
    """It was ahead by less than a window."""
    clock = Clock()
    campaign = create(store, clock=clock, reward_window=600, default_reward=0)
    campaign.tell_many([(str(x.id), 1.0) for x in campaign.ask(n=10)])
    clock.now += 500
    campaign.status()
    clock.now -= 400
    campaign.tell_many([(str(x.id), 1.0) for x in campaign.ask(n=10)])
    times = [event["at"] for event in campaign.events() if event["kind"] == "matured"]
    assert times[-1] == clock.now
    campaign.ask()
    assert [event["kind"] for event in campaign.events()].count("matured") == len(times)


def test_a_worker_whose_clock_was_ahead_counts_young_decisions_again(store: Store) -> None:
    clock = Clock()
    campaign = create(store, clock=clock, reward_window=600, default_reward=0)
    for _ in range(2):
        campaign.tell_many([(str(x.id), 1.0) for x in campaign.ask(n=1_000)[:100]])
    clock.now += 6_000
    campaign.ask(peek=True)  # closes 500 decisions
    clock.now -= 6_000 - 100
    campaign.ask()
    with campaign.at_one_moment() as reading:
        seen = reading.current.state.live
        new = CohortCounts(600.0, 0.0)
        new.catch_up(reading.reader, clock.now)
        expected = new.estimate(reading.current, clock.now)
    assert seen is not None
    np.testing.assert_allclose(seen[0], expected[0], atol=1)
    np.testing.assert_allclose(seen[1], expected[1], atol=1)


def test_rewards_without_a_range_can_be_delayed(store: Store) -> None:
    """Such as money: an arm without decisions has 0 pulls, and its total has no bounds."""
    clock = Clock()
    campaign = create(store, clock=clock, reward_range=None, reward_window=600, default_reward=0)
    campaign.tell(asked(campaign), 1_234.5)
    assert _live(campaign, clock, 700) == (1, 1_234.5)
    campaign.verify()


def test_a_campaign_whose_default_was_removed_loads_its_sums_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = create(store, reward_window=60, default_reward=0)
    campaign.change("zeros are reported too", default_reward=None)
    loads: list[int] = []
    load = CampaignState.load

    def counted(*args: Any) -> Any:
        loads.append(1)
        return load(*args)

    monkeypatch.setattr(CampaignState, "load", counted)
    for _ in range(5):
        campaign.tell(asked(campaign), 1.0)
    assert not loads


def test_early_rewards_count_when_their_windows_have_closed_without_a_default(store: Store) -> None:
    """Decisions keep their default: their conversions alone must not be the live mean meanwhile."""
    clock = Clock()
    campaign = create(store, clock=clock, reward_window=600, default_reward=0)
    ids = [str(x.id) for x in campaign.ask(n=60)]
    campaign.tell_many([(one, 1.0) for one in ids[:6]])
    clock.now += 60
    campaign.change("zeros are reported too", default_reward=None)
    assert _live(campaign, clock, 60) == (0, 0)
    campaign.tell_many([(str(x.id), float(i % 2)) for i, x in enumerate(campaign.ask(n=10))])
    assert _live(campaign, clock, 60) == (10, 5)
    campaign.correct(ids[0], 0.0, before=1.0)
    assert _live(campaign, clock, 60) == (10, 5)
    assert _live(campaign, clock, 600) == (70, 10)
    campaign.tell_many([(str(x.id), 1.0) for x in campaign.ask(n=10)])
    assert _live(campaign, clock, 0) == (80, 20)
    assert _live(Campaign.load("c", store=store, clock=clock), clock, 0) == (80, 20)
    campaign.verify()
