"""Whoever keeps the events has everything: the state, and the decisions that follow."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from driftanchor import AnchorTS, ArtificialReplay, GuardedAnchorTS, Learner, OfflineData, Policy
from driftanchor.live import changes, records
from driftanchor.live.decide import decide, next_decision
from driftanchor.live.state import State, changed_rows, fold
from driftanchor.live.state_events import Decided, Distrusted, Event
from driftanchor.live.terms import Terms

LOGS = OfflineData.from_summary({"A": (20, 0.5), "B": (20, 0.4), "C": (5, 0.6)})
STEPS = st.lists(
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


@given(STEPS, st.sampled_from(RULES))
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
        number = state.decisions + 1
        (here, memory), (there, other) = (decide(terms, x, number) for x in (state, again))
        assert (here, memory.tobytes()) == (there, other.tobytes())
        decided = Decided(number, here, changed_rows(state.memory, memory))
        state, again = fold(state, decided), fold(again, decided)
    np.testing.assert_array_equal(state.memory, memory)


@given(STEPS, st.sampled_from(RULES))
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
