"""What a learner shows of itself: one line, a table in notebooks, a frame."""

import sys

import pytest

from driftanchor import AnchorTS, Learner, OfflineData
from driftanchor.live.state import State, fold
from driftanchor.live.state_events import Decided, Paused, Rewarded
from driftanchor.live.terms import Terms
from driftanchor.live.view import arm_columns, summary

LOGS = OfflineData.from_summary({"A": (10, 0.5), "B": (0,)})
TERMS = Terms.declare(AnchorTS(), offline=LOGS, bias_bound=0.1, seed=3)


def learner() -> Learner:
    logs = OfflineData.from_summary({"A": (1_200, 0.5), "<b>B</b>": (0,), "C": (30, 0.25)})
    pupil = Learner(AnchorTS(), offline=logs, bias_bound=0.1, seed=3)
    pupil.update(["A", "A", "C"], [1.0, 0.0, 0.5])
    pupil.retire_arm("C")
    pupil.pull(exclude=["A"])
    return pupil


def test_the_repr_is_one_line_that_says_where_it_stands() -> None:
    assert repr(learner()) == (
        "<Learner: anchor-ts, 3 arms (1 paused), 1,230 logged rewards, 1 decision, 3 rewards, "
        "1 pending, seed 3>"
    )


def test_a_repr_of_many_arms_is_as_short() -> None:
    many = Learner(AnchorTS(), arms=[f"arm {i}" for i in range(5_000)], seed=1)
    assert len(repr(many)) < 120
    assert "… and 4,980 more" in many._repr_html_()


def test_in_a_notebook_it_is_a_table_with_escaped_labels() -> None:
    shown = learner()._repr_html_()
    assert shown.startswith("<table><caption>Learner: anchor-ts, 3 arms (1 paused), ")
    assert (
        "<td>A</td><td>1,200</td><td>0.5</td><td>2</td><td>0.5</td><td>0</td><td>false</td>"
        in shown
    )
    assert "<td>&lt;b&gt;B&lt;/b&gt;</td><td>0</td><td>–</td><td>0</td><td>–</td>" in shown
    assert "<b>" not in shown
    assert "<th>logs n</th><th>logs mean</th><th>live n</th><th>live mean</th>" in shown
    assert "<td>0.25</td><td>1</td><td>0.5</td><td>0</td><td>true</td>" in shown


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_it_is_a_frame_of_whichever_library_is_there(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = {"pandas": "polars", "polars": "pandas"}[library]
    monkeypatch.setitem(sys.modules, other, None)
    frame = learner().to_frame()
    assert type(frame).__module__.startswith(library)
    assert list(frame.columns) == [
        "arm",
        "logs_n",
        "logs_mean",
        "live_n",
        "live_mean",
        "pending",
        "paused",
    ]
    assert list(frame["arm"]) == ["A", "<b>B</b>", "C"]
    assert list(frame["live_n"]) == [2, 0, 1]
    assert list(frame["paused"]) == [False, False, True]
    assert frame["logs_mean"][2] == 0.25


def test_all_that_was_agreed_and_happened_can_be_read() -> None:
    pupil = learner()
    terms, state = pupil.terms, pupil.state
    assert (pupil.policy, pupil.offline, pupil.reasons) == (terms.policy, terms.offline, ())
    assert pupil.bias_bounds.tolist() == [0.1] * 3
    assert (pupil.reward_range, pupil.seed) == (terms.reward_range, 3)
    assert (pupil.tally, pupil.decisions) == (state.tally, 1)
    assert pupil.pending.tolist() == [0, 1, 0]
    assert pupil.playable == ("A", "<b>B</b>")


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
