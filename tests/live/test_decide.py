"""A decision depends on terms, state and its number alone; so do its probabilities."""

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest
from pupils import MOVED, OFFLINE, UNITS, neglected, play_moved

from driftanchor import (
    POLICIES,
    UCB,
    AnchorTS,
    ArmEvidence,
    ArtificialReplay,
    Draws,
    Evidence,
    GuardedAnchorTS,
    HybridTS,
    InvalidInput,
    Learner,
    OfflineData,
    Policy,
    Round,
)
from driftanchor.core.noise import Stream
from driftanchor.live import compiling
from driftanchor.live import decide as module
from driftanchor.live.decide import Decider, next_decision, situation
from driftanchor.live.state import State, fold
from driftanchor.live.state_events import (
    ArmAdded,
    Decided,
    Distrusted,
    Event,
    Matured,
    Paused,
    Rewarded,
)
from driftanchor.live.terms import Terms

LOGS = OfflineData.from_summary({"A": (20, 0.5), "B": (20, 0.4), "C": (5, 0.6)})


SEEN = (["A", "B", "C", "A"], [0.5, 0.6, 0.1, 0.7])


def learner(policy: Policy, seed: int = 1) -> Learner:
    made = Learner(policy, offline=LOGS, bias_bound=0.1, seed=seed)
    made.update(*SEEN)
    return made


def fresh(policy: Policy | None = None) -> Learner:
    return Learner(policy or AnchorTS(), offline=OFFLINE, bias_bound=0.05, seed=1)


def test_an_excluded_arm_is_not_pulled_and_changes_no_other_draw() -> None:
    free, bound = fresh(UCB()), fresh(UCB())
    assert {bound.pull(exclude=["A", "C"]) for _ in range(20)} == {"B"}
    free, bound = fresh(), fresh()
    for pupil in (free, bound):
        pupil.update(["A", "B", "C"], [0.1, 0.2, 0.3])  # no two arms alike, so no ties
    for _ in range(50):
        arm = free.pull()
        spare = next(label for label in "ABC" if label != arm)
        assert bound.pull(exclude=[spare]) == arm


def test_excluding_every_arm_is_refused_and_costs_no_decision() -> None:
    pupil = fresh()
    with pytest.raises(InvalidInput, match="exclude leaves no arm to play"):
        pupil.pull(exclude=["A", "B", "C"])
    assert pupil.decisions == 0


def test_where_no_arm_is_left_nothing_is_said_of_excluding() -> None:
    record = fresh().to_json()
    record["playable"] = [False] * 3
    del record["digest"]
    with pytest.raises(InvalidInput, match="no arm can be played: all are retired; add one"):
        Learner.from_json(record).pull()


@dataclass(frozen=True, kw_only=True)
class Greedy(Policy):
    """A policy of one's own."""

    name = "greedy"
    formula = "S/T"
    source = "this test"

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        return arm.total / arm.pulls if arm.pulls else math.inf


@dataclass(frozen=True, kw_only=True)
class Astray(Greedy):
    """Plays the first arm, whatever can be played."""

    def choose(self, evidence: Evidence, now: Round, stream: Stream) -> int:
        return 0


def test_a_rule_that_chooses_an_excluded_arm_is_refused() -> None:
    pupil = Learner(Astray(), arms=["A", "B"], seed=2)
    assert pupil.pull() == "A"
    assert pupil.explain().arms == {}  # its own rule: no numbers are put down to arms
    with pytest.raises(
        InvalidInput, match="'greedy' chose 0, which is not an arm that can be played"
    ):
        pupil.pull(exclude=["A"])
    assert pupil.decisions == 1


def test_a_guard_pull_is_not_repeated_while_its_reward_is_on_its_way() -> None:
    learner = neglected(4_000)
    guarded: Counter[str] = Counter()
    for _ in range(80):
        arm = learner.pull()
        guarded[arm] += learner.explain().guard
    # With n = 3 and what waits, an upper bound is below the leader's mean of 0.5, and the arm left
    # alone, once √(2 log(4,030/(3 n))/n) < 0.5 − mean: both rivals wait for as many, or
    # nearly, so that n + R is not less than 3 n.
    for arm, gap in {"B": 1.1, "C": 1.2}.items():
        due = next(n for n in range(3, 99) if math.sqrt(2 * math.log(1_343 / n) / n) < gap)
        assert abs(guarded[arm] - (due - 3)) <= 1
        assert guarded[arm] > 2
    assert guarded["A"] == 0

    forgetful = neglected(4_000)
    again = set()
    for _ in range(40):
        again.add(forgetful.pull())
        assert forgetful.explain().guard
        forgetful.drop_pending()
    assert again == {"B"}


def test_other_policies_do_not_look_at_what_waits() -> None:
    patient, forgetful = (Learner(AnchorTS(), arms=["A", "B"], seed=2) for _ in range(2))
    for _ in range(30):
        assert patient.pull() == forgetful.pull()
        forgetful.drop_pending()


def test_an_arm_without_rewards_is_not_left_out_while_a_first_batch_is_on_its_way() -> None:
    logs = OfflineData.from_summary({"A": (50, 0.5, 1.0), "B": (50, 0.4, 1.0), "C": (0,)})
    learner = Learner(offline=logs, bias_bound=0.2, seed=1)
    pulled = Counter(learner.pull() for _ in range(60))
    assert min(pulled[label] for label in "ABC") >= 5


def test_logs_that_are_off_by_the_same_are_trusted_again() -> None:
    pupil = Learner(HybridTS(**UNITS), offline=MOVED, relative_bound=0.0, seed=3)
    pulled = play_moved(pupil, 200)
    assert pulled[20:].count("B") == 0
    levels = Learner(HybridTS(**UNITS), offline=MOVED, bias_bound=0.0, seed=3)
    assert play_moved(levels, 200)[20:].count("C") > 0  # the only arm whose logs do not mislead


def test_they_are_how_often_learners_with_other_seeds_pull() -> None:
    """600 learners against 4,000 draws: 4.5 standard errors, false alarm 2e-5 for the three."""
    shares = learner(AnchorTS()).probabilities(draws=4_000)
    pulled = Counter(learner(AnchorTS(), seed).pull() for seed in range(600))
    assert sum(shares.values()) == pytest.approx(1.0)
    assert 0.05 < shares["A"] < 0.95
    for arm, p in shares.items():
        sd = math.sqrt(p * (1 - p) * (1 / 600 + 1 / 4_000))
        assert abs(pulled[arm] / 600 - p) < 4.5 * sd


def test_asking_changes_nothing() -> None:
    asked, unasked = learner(AnchorTS()), learner(AnchorTS())
    assert asked.probabilities(draws=50) == asked.probabilities(draws=50)
    assert asked.to_json() == unasked.to_json()
    assert [asked.pull() for _ in range(20)] == [unasked.pull() for _ in range(20)]


def test_a_policy_that_remembers_forgets_what_it_was_asked() -> None:
    replay = learner(ArtificialReplay())
    before = replay.to_json()
    assert sum(replay.probabilities(draws=20).values()) == pytest.approx(1.0)
    assert replay.to_json() == before


def test_a_guard_pull_has_probability_one() -> None:
    pupil = Learner(GuardedAnchorTS(noise=0.5), arms=["A", "B"], seed=3)
    pupil.update(["A", "B"], [1.0, 0.0])
    for _ in range(300):
        shares = pupil.probabilities(draws=40)
        arm = pupil.pull()
        if pupil.explain().guard:
            assert shares[arm] == 1.0
            return
        pupil.update(arm, {"A": 1.0, "B": 0.5}[arm])
    pytest.fail("no guard pull in 300 rounds")


def test_what_draws_nothing_is_sure() -> None:
    assert sorted(learner(UCB()).probabilities(draws=5).values()) == [0.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"draws": 0}, "draws must be between 1 and 1e+07, got 0"),
        ({"exclude": ["Z"]}, "unknown arm 'Z'"),
        ({"exclude": ["A", "B", "C"]}, "exclude leaves no arm to play"),
    ],
)
def test_probabilities_that_cannot_be_asked_for_are_refused(words: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        learner(AnchorTS()).probabilities(**words)
    assert message in str(caught.value)


def columns(terms: Terms, state: State, count: int) -> list[int]:
    """Return the decisions 1 to `count` on the same evidence."""
    played, state = [], state.copy()
    for number in range(count):
        state.decisions = number
        played.append(next_decision(terms, state).column)
    return played


def test_deciding_changes_nothing_and_the_number_names_the_noise() -> None:
    policy = ArtificialReplay(base="ts")
    terms = Terms.declare(policy, offline=LOGS, bias_bound=0.1, seed=5)
    state = State.start(terms.arms, policy.memory)
    first = next_decision(terms, state)
    assert first.memory
    assert not state.memory.any()
    assert next_decision(terms, state) == first
    assert len(set(columns(terms, state, 29))) > 1


@pytest.mark.parametrize(("decisions", "rewards", "round_"), [(0, 0, 1), (5, 2, 6), (2, 5, 6)])
def test_the_round_follows_decisions_or_rewards(decisions: int, rewards: int, round_: int) -> None:
    terms = Terms.declare(AnchorTS(), offline=LOGS, bias_bound=0.1, seed=5)
    state = State.start(terms.arms)
    for n in range(decisions):
        state = fold(state, Decided(n + 1, 0))
    state = fold(state, Rewarded((0,) * rewards, (0.5,) * rewards))
    _, now = situation(terms, state, exclude=["B"])
    assert now == Round(round_, 2)


@dataclass(frozen=True, kw_only=True)
class Undecided(Greedy):
    """Gives no arm a number."""

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        return math.nan


def test_a_rule_without_an_answer_has_no_probabilities() -> None:
    pupil = Learner(Undecided(), arms=["A", "B"], seed=2)
    for ask in (pupil.pull, pupil.probabilities):
        with pytest.raises(InvalidInput, match="'greedy' chose -1, which is not an arm"):
            ask()


@pytest.mark.parametrize("promise", [{"bias_bound": 0.05}, {"relative_bound": 0.05}])
@pytest.mark.parametrize("policy", [AnchorTS(**UNITS), GuardedAnchorTS(**UNITS)])
def test_decisions_ignore_logs_that_are_distrusted(policy: Policy, promise: Any) -> None:
    def chosen(mean: float, *events: Distrusted) -> list[int]:
        logs = OfflineData.from_summary({"A": (50, mean), "B": (50, 0.4), "C": (50, 0.45)})
        terms = Terms.declare(policy, offline=logs, seed=5, **promise)
        for event in events:
            terms = terms.after(event)
        state = fold(State.start(terms.arms), Rewarded((0, 1, 2) * 3, (0.5, 0.4, 0.4) * 3))
        return columns(terms, state, 39)

    assert chosen(0.5) != chosen(0.2)
    assert chosen(0.5, Distrusted(0)) == chosen(0.2, Distrusted(0))


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
        assert event == next_decision(terms, state, exclude)
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
    evidence, now = decider.situation(exclude=["A"])
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
    requests: list[object] = []
    monkeypatch.setattr(compiling, "_rules", {})
    monkeypatch.setattr(compiling, "compile_once", lambda _, *given: requests.append(given[0]))
    monkeypatch.setattr(module, "ENOUGH", 12)  # three arms: four decisions
    _, decider = made(GuardedAnchorTS())
    for _ in range(3):
        decider.next_decision()
    assert not requests
    decider.next_decision()
    assert requests == [GuardedAnchorTS()]


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
        decider.next_decision()
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
        decider.next_decision()


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
        patched.setattr(compiling, "_rules", {})
        interpreted = decisions(False)
    assert decisions(True) == interpreted
