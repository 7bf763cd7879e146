"""A decider makes the decisions of the pure functions, and takes events in place."""

from dataclasses import dataclass
from typing import Any

import pytest
from pupils import MOVED, OFFLINE

from driftanchor import (
    POLICIES,
    ArtificialReplay,
    Draws,
    Evidence,
    GuardedAnchorTS,
    InvalidInput,
    Policy,
    Round,
)
from driftanchor.core.evidence import ArmEvidence
from driftanchor.core.noise import Stream
from driftanchor.live import compiling, decide
from driftanchor.live import decider as module
from driftanchor.live.decider import Decider
from driftanchor.live.state import State, fold
from driftanchor.live.state_events import ArmAdded, Event, Matured, Paused, Rewarded
from driftanchor.live.terms import Terms


def made(policy: Policy, **promises: Any) -> tuple[Terms, Decider]:
    terms = Terms.declare(policy, offline=OFFLINE, seed=3, **(promises or {"bias_bound": 0.1}))
    return terms, Decider(terms, State.start(terms.arms, policy.memory))


@pytest.mark.parametrize("name", POLICIES)
def test_it_decides_as_the_pure_functions_do(name: str) -> None:
    terms, decider = made(POLICIES[name](prior_mean=0.4, noise=0.5), relative_bound=0.1)
    state, paid = State.start(terms.arms, terms.policy.memory), 0
    for n in range(1, 40):
        exclude = ["B"] if n % 7 == 0 else ()
        event = decider.next_decision(exclude)
        assert event == decide.next_decision(terms, state, exclude)
        happened: list[Event] = [event]
        if n % 3:
            happened.append(Rewarded((event.column,), (float(n % 2),)))
            paid += 1
        if n == 10:
            happened.append(ArmAdded("D", (20, 0.7), None, 0.2))
        if n == 20:
            happened.append(Paused(0))
        for each in happened:
            decider.apply(each)
            terms, state = terms.after(each), fold(state, each)
        assert (decider.terms, decider.state) == (terms, state)
    assert decider.state.reward_count == paid


def test_what_the_policy_sees_is_the_evidence_of_the_ledger() -> None:
    terms = Terms.declare(GuardedAnchorTS(), offline=MOVED, relative_bound=0.05, seed=1)
    decider = Decider(terms, State.start(terms.arms))
    decider.apply(Rewarded((0, 0, 2), (0.5, 0.25, 1.0)))
    evidence, now = decider.situation(2, exclude=["A"])
    assert evidence.totals.tolist() == [0.75, 0.0, 1.0]
    assert evidence.offline_means.tolist() == [0.5, 0.25, 0.0]
    assert evidence.playable.tolist() == [False, True, True]
    assert now == Round(t=4, arms=2)
    assert decider.state.playable.all()


def test_what_a_policy_does_to_its_memory_is_forgotten_unless_applied() -> None:
    _, decider = made(ArtificialReplay())
    once = decider.next_decision()
    assert once.memory
    assert decider.next_decision() == once
    assert not decider.state.memory.any()
    decider.apply(once)
    assert decider.state.memory.any()


def test_it_asks_for_a_kernel_when_much_was_interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Policy] = []
    monkeypatch.setattr(compiling, "ready", lambda kind: None)
    monkeypatch.setattr(compiling, "request", lambda kind, policy, _: asked.append(policy))
    _, decider = made(GuardedAnchorTS())
    monkeypatch.setattr(module, "ENOUGH", 12)  # three arms: four decisions
    for _ in range(3):
        decider.decide(1)
    assert not asked
    decider.decide(1)
    assert asked == [GuardedAnchorTS()]


@dataclass(frozen=True, kw_only=True)
class Outside(Policy):
    """It reads beyond its arms, once there are rewards."""

    name = "outside"
    formula = "wrong"
    source = "this test"

    def choose(self, evidence: Evidence, now: Round, stream: Stream) -> int:
        return int(evidence.playable[evidence.pulls[0] * 100])


@dataclass(frozen=True, kw_only=True)
class Forger(Policy):
    """It writes where it may only look."""

    name = "forger"
    formula = "wrong"
    source = "this test"

    def choose(self, evidence: Evidence, now: Round, stream: Stream) -> int:
        evidence.totals[0] += 1.0
        return 0


def test_a_rule_may_only_look_at_what_happened() -> None:
    _, decider = made(Forger())
    assert not decider.prepare()
    with pytest.raises(InvalidInput, match=r"'forger' raised ValueError: .* read-only"):
        decider.decide(1)
    assert decider.state.totals.tolist() == [0.0, 0.0, 0.0]


@dataclass(frozen=True, kw_only=True)
class Nowhere(Policy):
    """Every index is NaN."""

    name = "nowhere"
    formula = "NaN"
    source = "this test"

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        return float("nan")


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (Outside(), "'outside' raised IndexError"),
        (Nowhere(), "'nowhere' chose -1, which is not an arm"),
    ],
)
def test_a_rule_that_fails_is_named_compiled_or_not(
    policy: Policy, message: str, compiled: bool
) -> None:
    _, decider = made(policy)
    if compiled:
        assert decider.prepare()
    decider.apply(Rewarded((0,), (1.0,)))
    with pytest.raises(InvalidInput, match=message):
        decider.decide(1)


@pytest.mark.parametrize("promise", [{"bias_bound": 0.1}, {"relative_bound": 0.1}])
@pytest.mark.parametrize("name", ["guarded-anchor-ts", "anchor-ts", "beta-ts"])
def test_fractions_of_pulls_are_compiled_alike(
    name: str, promise: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    def decisions(compiled: bool) -> list[Event]:
        _, decider = made(POLICIES[name](prior_mean=0.4, noise=0.5), **promise)
        found: list[Event] = []
        for n in range(60):
            if n in (6, 30):
                worth = [0.3 * x for x in decider.state.pending.tolist()]
                totals = [0.4 * x for x in worth]
                decider.apply(Matured(tuple(worth), tuple(totals)))
                assert not compiled or decider.prepare()
            found.append(decider.next_decision())
            decider.apply(found[-1])
        assert decider.is_compiled == compiled
        return found

    with monkeypatch.context() as patched:
        patched.setattr(compiling, "ready", lambda kind: None)
        interpreted = decisions(False)
    assert decisions(True) == interpreted
