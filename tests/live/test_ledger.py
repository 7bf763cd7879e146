"""A ledger writes events down in place, whole or not at all, and can tell how it was."""

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftanchor import Arms, InvalidInput, UnreadableState
from driftanchor.live.ledger import FEW, LONGEST, Ledger
from driftanchor.live.state import State
from driftanchor.live.state_events import (
    ArmAdded,
    Decided,
    Event,
    GivenUp,
    Matured,
    Paused,
    Resumed,
    Rewarded,
)

ARMS = Arms(["A", "B", "C"])
COLUMNS = st.integers(0, 2)
REWARDS = st.lists(st.tuples(COLUMNS, st.floats(-9, 9)), max_size=4).map(
    lambda pairs: Rewarded(tuple(i for i, _ in pairs), tuple(x for _, x in pairs))
)
OTHERS = st.one_of(REWARDS, st.builds(Paused, COLUMNS), st.builds(Resumed, COLUMNS))
DECISIONS = st.tuples(COLUMNS, st.sampled_from([(), ((1, (0.5, -2.0)),)]))


def applied(ledger: Ledger, steps: Sequence[Any]) -> None:
    """Apply events; a decision is a column and a memory, and gets the next number."""
    for step in steps:
        ledger.apply(Decided(ledger.decisions + 1, *step) if isinstance(step, tuple) else step)


STEPS = st.lists(st.one_of(OTHERS, DECISIONS), max_size=12)


@given(STEPS, DECISIONS, STEPS, st.booleans())
def test_it_can_tell_how_it_was_before_the_last_decision(
    before: list[Any], decision: tuple[int, Any], after: list[Any], wider: bool
) -> None:
    ledger = Ledger.start(ARMS, memory=2)
    applied(ledger, before)
    then = State.of(ledger)
    ledger.decide(*decision, keep=True)
    applied(ledger, after)
    if wider:
        ledger.apply(ArmAdded("D"))
        ledger.apply(Rewarded((3, 0), (1.0, 2.0)))
    found = ledger.before_last()
    assert State.of(found) == then
    assert (found.came, found.waiting) == (then.tally.pulls.sum(), then.pending.sum())


def test_it_can_tell_so_after_many_rewards() -> None:
    ledger = Ledger.start(ARMS)
    ledger.decide(1, keep=True)
    for i in range(3 * LONGEST):
        ledger.apply(Rewarded((i % 3,), (0.1,)))
    assert State.of(ledger.before_last()) == State.start(ARMS)
    ledger.decide(0, keep=True)
    assert ledger.before_last().came == 3 * LONGEST


def test_without_a_decision_there_is_nothing_before_it() -> None:
    with pytest.raises(LookupError, match="no decision"):
        Ledger.start(ARMS).before_last()


@given(STEPS, REWARDS)
def test_it_learns_many_rewards_as_one_by_one(steps: list[Any], rewards: Rewarded) -> None:
    together, apart = Ledger.start(ARMS, memory=2), Ledger.start(ARMS, memory=2)
    for ledger in (together, apart):
        applied(ledger, steps)
    together.apply(rewards)
    for column, reward in zip(rewards.columns, rewards.rewards, strict=True):
        apart.learn(column, reward)
    assert State.of(together) == State.of(apart)
    assert (together.came, together.waiting) == (apart.came, apart.waiting)


@given(STEPS)
def test_its_counts_are_the_sums_of_its_arrays(steps: list[Any]) -> None:
    ledger = Ledger.start(ARMS, memory=2)
    applied(ledger, steps)
    assert (ledger.came, ledger.waiting) == (ledger.pulls.sum(), ledger.pending.sum())


def test_an_event_writes_into_the_same_arrays() -> None:
    """So that whoever decides from them need not look for others."""
    ledger = Ledger.start(ARMS)
    arrays = ledger.pulls, ledger.totals, ledger.pending, ledger.playable
    applied(ledger, [Decided(1, 0), Decided(2, 0), Rewarded((0,), (0.5,)), GivenUp(0, 1)])
    ledger.apply(Paused(2))
    assert [x.tolist() for x in arrays] == [[1, 0, 0], [0.5, 0, 0], [0, 0, 0], [1, 1, 0]]
    assert (ledger.came, ledger.waiting, ledger.decisions) == (1, 0, 2)


@pytest.mark.parametrize(
    ("event", "error"),
    [
        (Rewarded((0, 1, 1), (1.0, 1e308, 1e308)), InvalidInput),
        (Rewarded((1,), (math.inf,)), InvalidInput),
        (Decided(3, 0), UnreadableState),
    ],
)
def test_what_is_refused_changes_nothing(event: Event, error: type[Exception]) -> None:
    ledger = Ledger.start(ARMS)
    ledger.apply(Decided(1, 1))
    before = State.of(ledger)
    with pytest.raises(error):
        ledger.apply(event)
    assert State.of(ledger) == before
    assert (ledger.came, ledger.waiting) == (0, 1)


def test_it_copies_the_arrays_that_it_starts_from() -> None:
    one = Ledger.start(ARMS)
    other = Ledger(
        one.arms, one.pulls, one.totals, one.pending, one.playable, one.memory, one.decisions
    )
    other.apply(Rewarded((0,), (1.0,)))
    assert (one.pulls.tolist(), other.pulls.tolist()) == ([0, 0, 0], [1, 0, 0])


def test_it_names_the_columns_that_changed() -> None:
    ledger = Ledger.start(ARMS)
    assert ledger.changes > FEW  # nobody looked yet
    ledger.changes = 0
    applied(ledger, [Decided(1, 2), Rewarded((0,), (1.0,)), Decided(2, 1), GivenUp(1, 1)])
    assert ledger.changed[: ledger.changes].tolist() == [2, 0, 1, 1]
    ledger.apply(Rewarded((1, 0, 1), (1.0, 0.5, 0.0)))
    assert ledger.changed[: ledger.changes].tolist() == [2, 0, 1, 1, 1, 0]
    applied(ledger, [Rewarded((0,), (1.0,))] * FEW)
    assert ledger.changes > FEW
    for event in (Paused(0), ArmAdded("D")):
        ledger.changes = 0
        ledger.apply(event)
        assert ledger.changes > FEW


def test_an_estimate_is_what_policies_see_until_the_next_one() -> None:
    ledger = Ledger.start(Arms(["A", "B"]))
    applied(ledger, [(0, ()), (0, ()), (1, ()), Rewarded((0,), (1.0,))])
    assert ledger.live is None
    assert ledger.live_pulls is ledger.pulls
    ledger.apply(Matured((0.75, 0.5), (0.25, 0.0)))
    applied(ledger, [(1, ()), Rewarded((1,), (1.0,)), ArmAdded("C"), GivenUp(1, 1), (2, ())])
    assert ledger.live_pulls.tolist() == [0.75, 0.5, 0.0]
    assert ledger.live_totals.tolist() == [0.25, 0.0, 0.0]
    assert ledger.live_pending.tolist() == [1.25, 0.5, 1.0]  # of 2, 1 and 1 decisions
    assert (ledger.pulls.tolist(), ledger.pending.tolist()) == ([1, 1, 0], [1, 0, 1])
    again = State.of(ledger).ledger()
    assert State.of(again) == State.of(ledger)
    assert again.live_pending.tolist() == ledger.live_pending.tolist()
    ledger.apply(Matured((2.0, 1.0, 0.0), (1.0, 1.0, 0.0)))
    assert State.of(again) != State.of(ledger)
    assert ledger.live_pending.tolist() == [0.0, 0.0, 1.0]


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
    ledger = Ledger.start(Arms(["A", "B"]))
    ledger.decide(0)
    with pytest.raises(UnreadableState, match="pulls of"):
        ledger.apply(Matured(pulls, totals))
    assert ledger.live is None
