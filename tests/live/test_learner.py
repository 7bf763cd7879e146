"""The learner decides as the policy says, learns as the sums say, and can be stopped any time."""

import contextlib
import copy
import math
import pickle
import sys
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from any_text import any_text
from hypothesis import given
from hypothesis import strategies as st
from pupils import OFFLINE, learner, play

from driftanchor import (
    POLICIES,
    TS,
    UCB,
    AnchorTS,
    ArtificialReplay,
    DriftanchorError,
    Evidence,
    GuardedAnchorTS,
    InvalidInput,
    Learner,
    OfflineData,
    Policy,
    Round,
)
from driftanchor.core.noise import Stream


def waiting(learner: Learner) -> dict[str, int]:
    return dict(zip(learner.arms, learner.pending.tolist(), strict=True))


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_learns_which_arm_is_best(name: str) -> None:
    pupil = Learner(POLICIES[name](prior_mean=0.5, noise=0.2), arms=["A", "B", "C"], seed=3)
    assert play(pupil, 300).count("B") > 200


def test_decisions_depend_on_seed_and_number_alone() -> None:
    once, again, other = learner(seed=5), learner(seed=5), learner(seed=6)
    pulls = [once.pull() for _ in range(30)]
    assert [again.pull() for _ in range(30)] == pulls
    assert [other.pull() for _ in range(30)] != pulls


@given(st.lists(st.tuples(st.sampled_from("ABC"), st.floats(-10, 10)), max_size=30))
def test_a_batch_equals_the_loop(pairs: list[tuple[str, float]]) -> None:
    batch, loop = learner(), learner()
    batch.update([arm for arm, _ in pairs], [reward for _, reward in pairs])
    for arm, reward in pairs:
        loop.update(arm, reward)
    assert batch.to_json() == loop.to_json()
    assert batch.pull() == loop.pull()


def test_nothing_is_learned_from_a_batch_with_one_bad_reward() -> None:
    pupil = learner()
    with pytest.raises(InvalidInput, match="reward of arm 'B' must be a number, got nan"):
        pupil.update(["A", "B"], [1.0, math.nan])
    assert pupil.tally.pulls.sum() == 0


def test_arms_come_and_go_while_it_runs() -> None:
    pupil = learner()
    pupil.add_arm("D", (1000, 5.0), bias_bound=0.1)
    for _ in range(20):
        pupil.update(pupil.pull(), 0.0)
    pupil.update("D", 50.0)
    assert pupil.pull() == "D"
    pupil.retire_arm("D")
    assert "D" not in {pupil.pull() for _ in range(50)}
    assert pupil.playable == ("A", "B", "C")
    pupil.update("D", 1.0)  # a late reward still counts
    pupil.restore_arm("D")
    assert pupil.pull() == "D"


def test_late_rewards_do_not_stop_pulls() -> None:
    pupil = Learner(UCB(), arms=["A", "B"], seed=0)
    arms = [pupil.pull() for _ in range(10)]
    assert set(arms) == {"A", "B"}
    pupil.update(arms, [1.0] * 10)
    assert pupil.tally.pulls.sum() == 10


def test_a_pull_waits_until_its_reward_comes() -> None:
    learner = Learner(arms=["A", "B"], reward_range=(0, 1), seed=1)
    arms = [learner.pull() for _ in range(7)]
    assert waiting(learner) == {"A": arms.count("A"), "B": arms.count("B")}
    learner.update(arms[0], 1.0)
    learner.update(arms[1:4], [0.0, 1.0, 0.0])
    assert waiting(learner) == {x: arms[4:].count(x) for x in "AB"}
    learner.update(arms[4:], [1.0, 0.0, 1.0])
    assert waiting(learner) == {"A": 0, "B": 0}


def test_rewards_of_pulls_made_elsewhere_end_no_wait() -> None:
    learner = Learner(arms=["A", "B"], reward_range=(0, 1), seed=1)
    learner.update(["A", "A", "B"], [1.0, 0.0, 1.0])
    assert waiting(learner) == {"A": 0, "B": 0}
    other = {"A": "B", "B": "A"}[learner.pull()]
    learner.update(other, 1.0)
    assert sum(waiting(learner).values()) == 1


def test_a_refused_batch_ends_no_wait() -> None:
    learner = Learner(arms=["A"], seed=1)
    learner.pull()
    with pytest.raises(InvalidInput, match="must be a number"):
        learner.update(["A", "A"], [1.0, math.nan])
    assert waiting(learner) == {"A": 1}


def test_rewards_that_never_come_are_given_up() -> None:
    learner = Learner(GuardedAnchorTS(), arms=["A", "B"], seed=3)
    while min(waiting(learner).values()) < 3:
        learner.pull()
    before = waiting(learner)
    learner.drop_pending("A", 2)
    assert waiting(learner) == before | {"A": before["A"] - 2}
    learner.drop_pending("A")
    assert waiting(learner) == before | {"A": 0}
    learner.drop_pending()
    assert waiting(learner) == {"A": 0, "B": 0}
    assert learner.tally.pulls.sum() == 0


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | any_text(3)
    | st.binary(max_size=3)
    | st.sampled_from(["A", "B", np.nan, np.array([1.0, 2.0]), np.int64(3), object()]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text(2), inner, max_size=3),
    max_leaves=5,
)


@given(JUNK, JUNK, JUNK, JUNK)
def test_junk_gets_success_or_an_error_of_ours(a: object, b: object, c: object, d: object) -> None:
    build: Any = Learner
    pupil: Any = Learner(AnchorTS(), arms=["A", "B"], seed=0)
    attempts = [
        (build, (), {"arms": a, "bias_bound": b, "reward_range": c, "seed": d}),
        (build, (a,), {"offline": OFFLINE, "bias_bound": b}),
        (pupil.update, (a, b), {}),
        (pupil.pull, (), {"exclude": a}),
        (pupil.add_arm, (a, b, c), {}),
        (pupil.retire_arm, (a,), {}),
        (pupil.restore_arm, (a,), {}),
        (pupil.drop_pending, (a, b), {}),
        (build, (), {"arms": "AB", "bias_bound_source": a}),
        (Learner.from_json, (a,), {}),
        (Learner.from_json, (learner().to_json() | {"memory": a, "playable": b, "tally": c},), {}),
        (Learner.from_json, (learner().to_json() | {"pending": a},), {}),
        (
            Learner.from_json,
            (learner().to_json() | {"policy": a, "seed": b, "reward_range": c},),
            {},
        ),
    ]
    for call, arguments, named in attempts:
        with contextlib.suppress(DriftanchorError, UserWarning):  # warnings are errors in tests
            call(*arguments, **named)


@dataclass(frozen=True, kw_only=True)
class Counting(Policy):
    """Counts its decisions in its memory and plays the first arm, whatever can be played."""

    name = "counting"
    formula = "1"
    source = "this test"
    memory = 1

    def choose(self, evidence: Evidence, now: Round, stream: Stream) -> int:
        evidence.memory[0, 0] += 1.0
        return 0


def test_a_refused_pull_leaves_everything_as_it_was() -> None:
    pupil = Learner(Counting(), arms=["A", "B"], seed=2)
    pupil.pull()
    terms, state, why = pupil.terms, pupil.state, pupil.explain()
    for _ in range(3):
        with pytest.raises(InvalidInput, match="which is not an arm that can be played"):
            pupil.pull(exclude=["A"])
    assert (pupil.terms, pupil.state, pupil.explain()) == (terms, state, why)
    assert (pupil.state.memory[0, 0], pupil.decisions) == (1.0, 1)


@pytest.mark.parametrize(
    "change",
    [
        lambda pupil: pupil.update(["A", "B"], [1.0, math.inf]),
        lambda pupil: pupil.update("A", 2e90),
        lambda pupil: pupil.drop_pending("A", 99),
        lambda pupil: pupil.add_arm("A"),
        lambda pupil: pupil.add_arm("D", (5, 0.3)),
        lambda pupil: pupil.retire_arm("X"),
        lambda pupil: pupil.restore_arm("X"),
    ],
)
def test_whatever_is_refused_changes_nothing(change: Any) -> None:
    pupil = learner()
    pupil.update("A", 1e90)
    terms, state = pupil.terms, pupil.state
    with pytest.raises(InvalidInput):
        change(pupil)
    assert pupil.terms is terms
    assert pupil.state == state


def test_reporting_only_conversions_is_warned_of_once() -> None:
    pupil = Learner(arms=["A", "B"], reward_range=(0, 1), seed=1)
    arms = [pupil.pull() for _ in range(60)]
    pupil.update(arms[:19], [1.0] * 19)  # too few to say
    with pytest.warns(UserWarning, match="all 20 rewards so far are 1 and 40 pulls wait") as caught:
        pupil.update(arms[19], 1.0)
    assert caught[0].filename == __file__
    pupil.update(arms[20], 1.0)  # once is enough: warnings are errors in tests
    Learner.from_json(pupil.to_json()).update(arms[21], 1.0)  # whoever saved it knows


def test_a_warning_that_is_an_error_leaves_everything_as_it_was() -> None:
    pupil = Learner(arms=["A", "B"], reward_range=(0, 1), seed=1)
    arms = [pupil.pull() for _ in range(60)]
    state = pupil.state
    with pytest.raises(UserWarning, match="all 20 rewards so far are 1"):
        pupil.update(arms[:20], [1.0] * 20)
    assert pupil.state == state
    pupil.update(arms[:20], [1.0] * 20)
    assert pupil.tally.pulls.sum() == 20


def test_a_learner_that_was_given_another_reward_stops_looking(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pupil = Learner(arms=["A", "B"], reward_range=(0, 1), seed=1)
    for _ in range(60):
        pupil.pull()
    pupil.update(["A", "B"], [1.0, 0.0])
    monkeypatch.setattr("driftanchor.live.changes.only_highest", None)  # it would be called
    pupil.update(["A"] * 25, [1.0] * 25)


def test_threads_that_share_a_learner_lose_nothing() -> None:
    """Without a lock this fails: most of the updates are lost."""
    pupil = Learner(TS(), arms=["A", "B"], seed=1)
    together, pulled = threading.Barrier(6), list[str]()

    def work(first: int) -> None:
        together.wait()
        for i in range(50):
            arm = pupil.pull()
            pupil.update([arm, "A"], [1.0, 2.0])
            pulled.append(arm)
            if i == first:
                pupil.add_arm(f"new {first}")
                pupil.retire_arm(f"new {first}")

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(usual)
    paid = [pulled.count(label) for label in pupil.arms]  # a new arm may be pulled before it goes
    assert pupil.decisions == sum(paid) == 300
    assert pupil.tally.pulls.tolist() == [paid[0] + 300, *paid[1:]]
    assert pupil.tally.totals.tolist() == [paid[0] + 600.0, *paid[1:]]
    assert (len(pupil.arms), pupil.playable) == (8, ("A", "B"))


def test_a_copy_and_a_pickle_go_on_by_themselves() -> None:
    pupil = learner(ArtificialReplay(base="ts"))
    play(pupil, 5)
    for twin in (copy.copy(pupil), copy.deepcopy(pupil), pickle.loads(pickle.dumps(pupil))):
        assert (twin.terms, twin.state, twin.explain()) == (
            pupil.terms,
            pupil.state,
            pupil.explain(),
        )
        assert play(twin, 5) == play(copy.deepcopy(pupil), 5)
    assert pupil.decisions == 5


LOGS = OfflineData.from_summary({"A": (10, 0.5), "B": (0,)})


def shown_learner() -> Learner:
    logs = OfflineData.from_summary({"A": (1_200, 0.5), "<b>B</b>": (0,), "C": (30, 0.25)})
    pupil = Learner(AnchorTS(), offline=logs, bias_bound=0.1, seed=3)
    pupil.update(["A", "A", "C"], [1.0, 0.0, 0.5])
    pupil.retire_arm("C")
    pupil.pull(exclude=["A"])
    return pupil


def test_the_repr_is_one_line_that_says_where_it_stands() -> None:
    assert repr(shown_learner()) == (
        "<Learner: anchor-ts, 3 arms (1 paused), 1,230 logged rewards, 1 decision, 3 rewards, "
        "1 pending, seed 3>"
    )


def test_a_repr_of_many_arms_is_as_short() -> None:
    many = Learner(AnchorTS(), arms=[f"arm {i}" for i in range(5_000)], seed=1)
    assert len(repr(many)) < 120
    assert "… and 4,980 more" in many._repr_html_()


def test_in_a_notebook_it_is_a_table_with_escaped_labels() -> None:
    shown = shown_learner()._repr_html_()
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
    frame = shown_learner().to_frame()
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
    pupil = shown_learner()
    terms, state = pupil.terms, pupil.state
    assert (pupil.policy, pupil.offline, pupil.reasons) == (terms.policy, terms.offline, ())
    assert pupil.bias_bounds.tolist() == [0.1] * 3
    assert (pupil.reward_range, pupil.seed) == (terms.reward_range, 3)
    assert (pupil.tally, pupil.decisions) == (state.tally, 1)
    assert pupil.pending.tolist() == [0, 1, 0]
    assert pupil.playable == ("A", "<b>B</b>")


def test_the_columns_are_those_of_the_arms() -> None:
    pupil = Learner(AnchorTS(), offline=LOGS, bias_bound=0.1, seed=3)
    pupil.update(["B", "B"], [1.0, 0.0])
    pupil.pull(exclude=["B"])
    pupil.retire_arm("B")
    assert pupil._columns() == {
        "arm": ["A", "B"],
        "logs_n": [10, 0],
        "logs_mean": [0.5, None],
        "live_n": [0, 2],
        "live_mean": [None, 0.5],
        "pending": [1, 0],
        "paused": [False, True],
    }


def test_one_thing_is_not_many() -> None:
    pupil = Learner(AnchorTS(), arms=["A"], seed=1)
    pupil.update(pupil.pull(), 1.0)
    assert repr(pupil) == (
        "<Learner: anchor-ts, 1 arm, 0 logged rewards, 1 decision, 1 reward, 0 pending, seed 1>"
    )
