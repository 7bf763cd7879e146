"""A state changes in place with each event, whole or not at all; `fold` changes a copy."""

import json
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftanchor import (
    AnchorTS,
    Arms,
    ArtificialReplay,
    GuardedAnchorTS,
    InvalidInput,
    Learner,
    OfflineData,
    Policy,
    Tally,
    UnreadableState,
)
from driftanchor.live import changes, records
from driftanchor.live.decide import next_decision
from driftanchor.live.state import State, changed_rows, fold
from driftanchor.live.state_events import (
    ArmAdded,
    Decided,
    Distrusted,
    Event,
    GivenUp,
    Matured,
    Paused,
    Resumed,
    Rewarded,
)
from driftanchor.live.terms import Terms

ARMS = Arms(["A", "B", "C"])
COLUMNS = st.integers(0, 2)
EVENTS = st.one_of(
    st.builds(Decided, st.just(1), COLUMNS, st.just(((1, (0.5, -2.0)),))),
    st.lists(st.tuples(COLUMNS, st.floats(-9, 9)), max_size=5).map(
        lambda pairs: Rewarded(tuple(i for i, _ in pairs), tuple(x for _, x in pairs))
    ),
    st.builds(GivenUp, COLUMNS, st.just(1)),
    st.builds(Paused, COLUMNS),
    st.builds(Resumed, COLUMNS),
    st.just(ArmAdded("D")),
    st.builds(Distrusted, COLUMNS),
)


def bits(state: State) -> tuple[object, ...]:
    arrays = (state.tally.pulls, state.tally.totals, state.pending, state.playable, state.memory)
    return state.decisions, *(x.tobytes() for x in arrays)


def folded(state: State, *events: Event) -> State:
    for event in events:
        state = fold(state, event)
    return state


@given(EVENTS)
def test_fold_is_pure(event: Event) -> None:
    state = State.start(ARMS, memory=2)
    before = bits(state)
    after = fold(state, event)
    assert bits(state) == before
    assert after == fold(state, event)


@given(EVENTS)
def test_nothing_in_a_state_can_be_written(event: Event) -> None:
    state: Any = fold(State.start(ARMS, memory=2), event)
    for array in (state.pending, state.playable, state.memory, state.tally.totals):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(TypeError, match="read-only"):
        state.apply(event)


def test_each_event_changes_what_it_says() -> None:
    state = folded(State.start(ARMS, memory=2), Decided(1, 2, ((2, (1.0, 0.5)),)), Decided(2, 0))
    assert (state.decisions, state.pending.tolist()) == (2, [1, 0, 1])
    assert state.memory.tolist() == [[0.0, 0.0], [0.0, 0.0], [1.0, 0.5]]
    state = fold(state, Rewarded((0, 1), (0.25, 4.0)))  # nothing waits for the second
    assert state.pending.tolist() == [0, 0, 1]
    assert state.tally == Tally(ARMS, np.array([1, 1, 0]), np.array([0.25, 4.0, 0.0]))
    assert fold(state, GivenUp(2, 1)).pending.tolist() == [0, 0, 0]
    state = folded(state, Paused(1), Paused(2), Resumed(2))
    assert state.playable.tolist() == [True, False, True]
    state = fold(state, ArmAdded("D"))
    assert list(state.tally.arms) == ["A", "B", "C", "D"]
    assert (state.pending.tolist(), state.playable.tolist()) == (
        [0, 0, 1, 0],
        [True, False, True, True],
    )
    assert state.memory.shape == (4, 2)
    assert state.decisions == 2


def test_a_copy_goes_on_and_leaves_the_original_alone() -> None:
    state = folded(State.start(ARMS, memory=2), Decided(1, 2, ((2, (1.0, 0.5)),)), Paused(0))
    before, copy = bits(state), state.copy()
    assert bits(copy) == before
    copy.apply(Rewarded((2,), (0.25,)))
    assert bits(state) == before
    assert copy == fold(state, Rewarded((2,), (0.25,)))


def test_a_late_reward_ends_no_wait() -> None:
    """The decision it is for was given up; another decision of the same arm still waits."""
    state = folded(State.start(ARMS), Decided(1, 0), GivenUp(0, 1, (1,)), Decided(2, 0))
    late = fold(state, Rewarded((0,), (1.0,), (1,), late=True))
    assert (late.pending.tolist(), late.tally.pulls.tolist()) == ([1, 0, 0], [1, 0, 0])


@pytest.mark.parametrize("number", [0, 1, 3])
def test_a_decision_that_does_not_follow_the_last_is_refused(number: int) -> None:
    state = fold(State.start(ARMS), Decided(1, 0))
    with pytest.raises(UnreadableState, match=f"decision {number} comes after decision 1: events"):
        fold(state, Decided(number, 0))


@given(st.lists(st.tuples(COLUMNS, st.floats(-9, 9)), max_size=20), st.integers(0, 9))
def test_a_batch_equals_the_loop_to_the_bit(pairs: list[tuple[int, float]], pulls: int) -> None:
    state = folded(State.start(ARMS), *(Decided(n + 1, n % 3) for n in range(pulls)))
    batch = Rewarded(tuple(i for i, _ in pairs), tuple(x for _, x in pairs))
    loop = folded(state, *(Rewarded((i,), (x,)) for i, x in pairs))
    assert bits(fold(state, batch)) == bits(loop)


@given(st.lists(st.tuples(st.sampled_from(["decide", "reward", "give up"]), st.integers(0, 99))))
def test_pending_is_the_number_of_open_decisions(steps: list[tuple[str, int]]) -> None:
    """Whoever keeps decisions one by one, and knows which is meant, gets the same counts."""
    state = State.start(ARMS)
    waiting: dict[int, int] = {}
    for step, x in steps:
        if step == "decide":
            number = state.decisions + 1
            waiting[number] = x % 3
            state = fold(state, Decided(number, x % 3))
        elif waiting:
            number = sorted(waiting)[x % len(waiting)]
            column = waiting.pop(number)
            event: Event = GivenUp(column, 1, (number,))
            if step == "reward":
                event = Rewarded((column,), (1.0,), (number,))
            state = fold(state, event)
        assert state.pending.tolist() == [Counter(waiting.values())[i] for i in range(3)]


def test_a_reward_neither_builds_nor_checks_the_whole_tally(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state = State.start(ARMS)

    def refuse(self: Tally) -> None:
        pytest.fail("the whole tally was checked")

    monkeypatch.setattr(Tally, "__post_init__", refuse)
    assert fold(state, Rewarded((1,), (2.5,))).tally.totals.tolist() == [0.0, 2.5, 0.0]


def test_memory_that_changed_is_found_to_the_bit() -> None:
    before = np.array([[0.0, 1.0], [2.0, 3.0], [np.nan, 0.0]])
    assert changed_rows(before, before.copy()) == ()
    after = before.copy()
    after[0, 0] = -0.0
    ((column, row),) = changed_rows(before, after)
    assert (column, json.dumps(row)) == (0, "[-0.0, 1.0]")
    assert changed_rows(np.zeros((3, 0)), np.zeros((3, 0))) == ()


def test_states_that_differ_are_not_equal() -> None:
    state = State.start(ARMS)
    assert state == State.start(ARMS)
    assert state != State.start(Arms(["A", "B", "X"]))
    assert state != State.start(ARMS, memory=1)
    assert state != fold(state, Paused(0))
    assert state != "a state"


REWARDS = st.lists(st.tuples(COLUMNS, st.floats(-9, 9)), max_size=4).map(
    lambda pairs: Rewarded(tuple(i for i, _ in pairs), tuple(x for _, x in pairs))
)
OTHERS = st.one_of(REWARDS, st.builds(Paused, COLUMNS), st.builds(Resumed, COLUMNS))
DECISIONS = st.tuples(COLUMNS, st.sampled_from([(), ((1, (0.5, -2.0)),)]))


def applied(state: State, steps: Sequence[Any]) -> None:
    """Apply events; a decision is a column and a memory, and gets the next number."""
    for step in steps:
        state.apply(Decided(state.decisions + 1, *step) if isinstance(step, tuple) else step)


STEPS = st.lists(st.one_of(OTHERS, DECISIONS), max_size=12)


@given(STEPS, REWARDS)
def test_it_learns_many_rewards_as_one_by_one(steps: list[Any], rewards: Rewarded) -> None:
    together, apart = State.start(ARMS, memory=2), State.start(ARMS, memory=2)
    for state in (together, apart):
        applied(state, steps)
    together.apply(rewards)
    for column, reward in zip(rewards.columns, rewards.rewards, strict=True):
        apart.learn(column, reward)
    assert together.frozen() == apart.frozen()
    assert (together.reward_count, together.pending_count) == (
        apart.reward_count,
        apart.pending_count,
    )


@given(STEPS)
def test_its_counts_are_the_sums_of_its_arrays(steps: list[Any]) -> None:
    state = State.start(ARMS, memory=2)
    applied(state, steps)
    assert (state.reward_count, state.pending_count) == (state.pulls.sum(), state.pending.sum())


def test_an_event_writes_into_the_same_arrays() -> None:
    """So that whoever decides from them need not look for others."""
    state = State.start(ARMS)
    arrays = state.pulls, state.totals, state.pending
    applied(state, [Decided(1, 0), Decided(2, 0), Rewarded((0,), (0.5,)), GivenUp(0, 1)])
    assert [x.tolist() for x in arrays] == [[1, 0, 0], [0.5, 0, 0], [0, 0, 0]]
    assert (state.reward_count, state.pending_count, state.decisions) == (1, 0, 2)


@pytest.mark.parametrize(
    ("event", "error"),
    [
        (Rewarded((0, 1, 1), (1.0, 1e308, 1e308)), InvalidInput),
        (Rewarded((1,), (math.inf,)), InvalidInput),
        (Decided(3, 0), UnreadableState),
    ],
)
def test_what_is_refused_changes_nothing(event: Event, error: type[Exception]) -> None:
    state = State.start(ARMS)
    state.apply(Decided(1, 1))
    before = state.frozen()
    with pytest.raises(error):
        state.apply(event)
    assert state.frozen() == before
    assert (state.reward_count, state.pending_count) == (0, 1)


def test_an_estimate_is_what_policies_see_until_the_next_one() -> None:
    state = State.start(Arms(["A", "B"]))
    applied(state, [(0, ()), (0, ()), (1, ()), Rewarded((0,), (1.0,))])
    assert state.live is None
    assert state.live_pulls is state.pulls
    state.apply(Matured((0.75, 0.5), (0.25, 0.0)))
    applied(state, [(1, ()), Rewarded((1,), (1.0,)), ArmAdded("C"), GivenUp(1, 1), (2, ())])
    assert state.live_pulls.tolist() == [0.75, 0.5, 0.0]
    assert state.live_totals.tolist() == [0.25, 0.0, 0.0]
    assert state.live_pending.tolist() == [1.25, 0.5, 1.0]  # of 2, 1 and 1 decisions
    assert (state.pulls.tolist(), state.pending.tolist()) == ([1, 1, 0], [1, 0, 1])
    again = state.frozen().copy()
    assert again.frozen() == state.frozen()
    assert again.live_pending.tolist() == state.live_pending.tolist()
    state.apply(Matured((2.0, 1.0, 0.0), (1.0, 1.0, 0.0)))
    assert again.frozen() != state.frozen()
    assert state.live_pending.tolist() == [0.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("pulls", "totals"),
    [
        ((1.0,), (1.0,)),
        ((1.5, 0.0), (1.0, 0.0)),
        ((-0.5, 0.0), (0.0, 0.0)),
        ((1.0, 0.0), (math.nan, 0.0)),
    ],
)
def test_an_estimate_that_cannot_be_is_refused(
    pulls: tuple[float, ...], totals: tuple[float, ...]
) -> None:
    state = State.start(Arms(["A", "B"]))
    state.decide(0)
    with pytest.raises(UnreadableState, match="pulls of"):
        state.apply(Matured(pulls, totals))
    assert state.live is None


LOGS = OfflineData.from_summary({"A": (20, 0.5), "B": (20, 0.4), "C": (5, 0.6)})
REQUESTS = st.lists(
    st.tuples(
        st.sampled_from(["pull", "pull", "reward", "give up", "pause", "resume", "add"]),
        st.integers(0, 5),
    ),
    max_size=25,
)
RULES = [AnchorTS(), ArtificialReplay(base="ts"), GuardedAnchorTS()]


def step(terms: Terms, state: State, what: str, x: int) -> tuple[Terms, list[Event]]:
    """What happens next, as whoever keeps the events would write it down."""
    label = terms.arms[x % len(terms.arms)]
    if what == "pull":
        return terms, [next_decision(terms, state)]
    if what == "reward":
        return terms, [changes.rewards(terms, [label, "A"], [0.3 * x, 1.0])]
    if what == "give up":
        return terms, list(changes.give_up(state, label, None))
    if what == "resume":
        return terms, [changes.resume(state, label)]
    if what == "pause" and state.playable.sum() > 1:
        return terms, [changes.pause(state, label)]
    if what == "add" and len(terms.arms) < 5:
        new = f"new {x}-{len(terms.arms)}"
        added = changes.add_arm(terms, new, (5, 0.5), 0.1, None)
        return terms.after(added), [added]
    if what == "distrust":
        doubt = Distrusted(x % len(terms.arms))
        return terms.after(doubt), [doubt]
    return terms, []


@given(REQUESTS, st.sampled_from(RULES))
def test_replaying_the_events_gives_the_same_state_and_the_same_next_decisions(
    steps: list[tuple[str, int]], policy: Policy
) -> None:
    steps = [("distrust", x) if what == "add" and x % 2 else (what, x) for what, x in steps]
    first = terms = Terms.declare(policy, offline=LOGS, bias_bound=0.1, seed=5)
    start = state = State.start(terms.arms, policy.memory)
    events: list[Event] = []
    for what, x in steps:
        terms, new = step(terms, state, what, x)
        for event in new:
            state = fold(state, event)
        events += new
    again = start
    for event in events:
        first, again = first.after(event), fold(again, event)
    assert (first, again) == (terms, state)
    assert records.to_record(terms, again) == records.to_record(terms, state)
    for _ in range(5):
        decided = next_decision(terms, state)
        assert next_decision(terms, again) == decided
        state, again = fold(state, decided), fold(again, decided)


@given(REQUESTS, st.sampled_from(RULES))
def test_a_learner_does_what_the_events_say(steps: list[tuple[str, int]], policy: Policy) -> None:
    pupil = Learner(policy, offline=LOGS, bias_bound=0.1, seed=5)
    terms, state = pupil.terms, pupil.state
    for what, x in steps:
        label = terms.arms[x % len(terms.arms)]
        terms, new = step(terms, state, what, x)
        for event in new:
            state = fold(state, event)
        if what == "pull":
            assert isinstance(new[0], Decided)
            assert pupil.pull() == terms.arms[new[0].column]
        elif what == "reward":
            pupil.update([label, "A"], [0.3 * x, 1.0])
        elif what == "give up":
            pupil.drop_pending(label)
        elif what == "resume":
            pupil.restore_arm(label)
        elif what == "pause" and new:
            pupil.retire_arm(label)
        elif new:
            pupil.add_arm(terms.arms[-1], (5, 0.5), bias_bound=0.1)
        assert (pupil.terms, pupil.state) == (terms, state)
