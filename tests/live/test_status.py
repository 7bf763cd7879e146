"""The status of each arm, and of all in one line."""

from driftanchor import AnchorTS, OfflineData
from driftanchor.live.state import State, fold
from driftanchor.live.state_events import Decided, Paused, Rewarded
from driftanchor.live.status import arm_columns, summary
from driftanchor.live.terms import Terms

LOGS = OfflineData.from_summary({"A": (10, 0.5), "B": (0,)})
TERMS = Terms.declare(AnchorTS(), offline=LOGS, bias_bound=0.1, seed=3)


def test_the_columns_are_those_of_the_arms() -> None:
    state = State.start(TERMS.arms)
    for event in (Rewarded((1, 1), (1.0, 0.0)), Decided(1, 0), Paused(1)):
        state = fold(state, event)
    assert arm_columns(TERMS, state) == {
        "arm": ["A", "B"],
        "logs_n": [10, 0],
        "logs_mean": [0.5, None],
        "live_n": [0, 2],
        "live_mean": [None, 0.5],
        "pending": [1, 0],
        "paused": [False, True],
    }


def test_one_thing_is_not_many() -> None:
    one = Terms.declare(AnchorTS(), arms=["A"], seed=1)
    state = fold(fold(State.start(one.arms), Decided(1, 0)), Rewarded((0,), (1.0,)))
    assert summary(one, state) == (
        "anchor-ts, 1 arm, 0 logged rewards, 1 decision, 1 reward, 0 pending, seed 1"
    )
