"""A state is a fold over events: pure, cheap, and the same whoever folds."""

import json
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftanchor import Arms, Tally, UnreadableState
from driftanchor.live.state import State, changed_rows, fold
from driftanchor.live.state_events import (
    ArmAdded,
    Decided,
    Distrusted,
    Event,
    GivenUp,
    Paused,
    Resumed,
    Rewarded,
)

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
    assert hash(after) == hash(fold(state, event))


@given(EVENTS)
def test_nothing_in_a_state_can_be_written(event: Event) -> None:
    state: Any = fold(State.start(ARMS, memory=2), event)
    for array in (state.pending, state.playable, state.memory, state.tally.totals):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError):
        state.decisions = 5


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


def test_a_ledger_goes_on_from_a_state_and_leaves_it_alone() -> None:
    state = folded(State.start(ARMS, memory=2), Decided(1, 2, ((2, (1.0, 0.5)),)), Paused(0))
    before, ledger = bits(state), state.ledger()
    assert bits(State.of(ledger)) == before
    ledger.apply(Rewarded((2,), (0.25,)))
    assert bits(state) == before
    assert State.of(ledger) == fold(state, Rewarded((2,), (0.25,)))


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
