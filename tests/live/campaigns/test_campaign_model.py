"""Any order of calls, repeats, restarts and late rewards, against a model of dictionaries."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from campaign_model import Model
from campaign_parts import Clock, create
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from store_addresses import postgres_address

from driftanchor import Campaign, Conflict, Decision, InvalidInput
from driftanchor.live.stores.store import open_store

UNITS = st.sampled_from([None, "u", "v", "w"])
REWARDS = st.sampled_from([0.0, 0.25, 0.5, 1.0])  # their sums are exact in any order
ARMS = st.sampled_from("ABC")
OPTIONS = st.fixed_dictionaries(
    {
        "sticky": st.sampled_from(["decision", "campaign", None]),
        "exposure": st.sampled_from(["ask", "report"]),
        "late": st.sampled_from(["ignore", "replace"]),
        "default_reward": st.sampled_from([None, 0.0, 0.5]),
        "reward_window": st.just(60.0),
        "floor": st.sampled_from([0.0, 0.1]),
    }
)


class Machine(RuleBasedStateMachine):
    """One campaign and its model; a subclass says where stores are."""

    address: Callable[[], str]
    ids = Bundle("ids")

    @initialize(options=OPTIONS)
    def begin(self, options: dict[str, Any]) -> None:
        self.model, self.clock = Model(options), Clock()
        self.store = open_store(type(self).address())
        self.campaign = create(self.store, clock=self.clock, **options)
        self.answers: dict[str, Decision] = {}

    @rule(target=ids, unit=UNITS, exclude=st.sets(ARMS, max_size=2))
    def ask(self, unit: str | None, exclude: set[str]) -> Any:
        kept = self.model.replay(unit, exclude)
        if kept is None and (self.model.stopped or not self.model.playable - exclude):
            with pytest.raises((Conflict, InvalidInput)):
                self.campaign.ask(unit, exclude=sorted(exclude))
            return "unknown"
        decision = self.campaign.ask(unit, exclude=sorted(exclude))
        one = str(decision.id)
        assert decision.replayed == (kept is not None)
        if kept is None:
            assert decision.arm in self.model.playable - exclude
            self.model.decided(one, decision.arm, unit)
            self.answers[one] = decision
            return one
        first = self.answers[kept]
        assert (one, decision.arm) == (kept, first.arm)
        assert decision.propensity == first.propensity
        return one

    @rule(one=ids, reward=REWARDS)
    def tell(self, one: str, reward: float) -> None:
        if one not in self.model.decisions:
            return
        expected = self.model.tell(one, reward)
        if expected == "conflict":
            with pytest.raises(Conflict):
                self.campaign.tell(one, reward)
        else:
            assert self.campaign.tell(one, reward).status == expected

    @rule(one=ids)
    def expose(self, one: str) -> None:
        if one in self.model.decisions:
            assert self.campaign.expose(one).status == self.model.expose(one)

    @rule(seconds=st.sampled_from([1.0, 30.0, 61.0, -20.0]))
    def wait(self, seconds: float) -> None:
        self.model.now = self.clock.now = self.clock.now + seconds

    @rule()
    def sweep(self) -> None:
        assert self.campaign.sweep() == self.model.sweep()

    @rule(stopped=st.booleans())
    def pause(self, stopped: bool) -> None:
        (self.campaign.pause if stopped else self.campaign.resume)()
        self.model.sweep()
        self.model.stopped = stopped

    @rule(arm=ARMS, archive=st.booleans())
    def take_out(self, arm: str, archive: bool) -> None:
        with contextlib.suppress(InvalidInput, Conflict):  # the last one, or archived already
            (self.campaign.archive_arm if archive else self.campaign.pause_arm)(arm)
            (self.model.archived if archive else self.model.paused).add(arm)
        self.model.sweep()

    @rule(arm=ARMS)
    def restore(self, arm: str) -> None:
        self.campaign.restore_arm(arm)
        self.model.sweep()
        self.model.archived.discard(arm)
        self.model.paused.discard(arm)

    @rule()
    def new_epoch(self) -> None:
        self.campaign.new_epoch()
        self.model.sweep()
        self.model.holds.clear()

    @rule()
    def restart(self) -> None:
        self.store.close()
        self.campaign = Campaign.load("c", store=self.store, clock=self.clock)

    @rule(one=ids)
    def explain(self, one: str) -> None:
        if one in self.answers:
            explained = self.campaign.explain(one)
            assert explained.arm == self.answers[one].arm
            assert explained.decision == self.answers[one].number

    @invariant()
    def the_sums_are_those_of_the_model(self) -> None:
        if not hasattr(self, "campaign"):
            return
        status = self.campaign.status()
        self.model.sweep()
        assert status.late == self.model.late
        for label, (decisions, rewards, total, waiting) in self.model.sums().items():
            arm = status.arms[label]
            assert (arm.decisions, arm.rewards, arm.pending) == (decisions, rewards, waiting)
            if self.model.options["default_reward"] is None:
                assert arm.live_n == rewards
                assert arm.live_n == 0 or arm.live_mean == total / rewards
            else:
                assert 0 <= arm.live_n <= rewards + waiting

    def teardown(self) -> None:
        if hasattr(self, "campaign"):
            self.campaign.verify()
            self.store.close()


def run(address: Callable[[], str], examples: int) -> None:
    class Here(Machine):
        pass

    Here.address = staticmethod(address)
    run_state_machine_as_test(
        Here,
        settings=settings(
            max_examples=examples,
            stateful_step_count=30,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_sqlite_follows_the_model(tmp_path: Path) -> None:
    numbers = itertools.count()
    run(
        lambda: f"sqlite:///{tmp_path / f'{next(numbers)}.db'}",
        examples=settings().max_examples // 5,
    )


def test_postgresql_follows_the_model(postgres: str) -> None:
    run(lambda: postgres_address(postgres), examples=settings().max_examples // 10)
