"""An explanation is of the pull that was made, with every number behind it."""

import json
import math
from typing import Any

import pytest
from pupils import MOVED, OFFLINE, UNITS, learner, moved_learner, neglected, play, play_moved

from driftanchor import (
    TS,
    UCB,
    ArtificialReplay,
    GuardedAnchorTS,
    InvalidInput,
    Learner,
    OfflineData,
)
from driftanchor.core.noise import keyed_stream, normal, wrapping


def test_explain_gives_three_numbers_their_median_and_what_decided() -> None:
    pupil = learner()
    play(pupil, 20)
    before = pupil.tally
    arm = pupil.pull()
    why = pupil.explain()
    pupil.update(arm, 3.0)
    assert pupil.explain() == why  # it speaks of the pull, whatever came later
    assert why.arm == arm
    assert why.decision == 21
    stream = keyed_stream(1, "decision", 21)
    for column, label in enumerate("ABC"):
        numbers = why.arms[label]
        total, pulls = before.totals[column], before.pulls[column]
        n, mean = OFFLINE.n[column], OFFLINE.mean[column]
        with wrapping():
            z_on, z_hyb = normal(stream), normal(stream)
        anchor = total / (pulls + 1)
        expected = {
            "anchor": anchor,
            "online_sample": anchor + z_on / math.sqrt(pulls + 1),
            "hybrid_sample": (total + n * mean) / (pulls + n + 1)
            + n * 0.05 / (pulls + n)
            + z_hyb / math.sqrt(pulls + n + 1),
        }
        assert numbers.parts == pytest.approx(expected)
        assert numbers.index == sorted(numbers.parts.values())[1]
        assert numbers.decided_by is not None
        assert numbers.parts[numbers.decided_by] == numbers.index
    assert max(why.arms, key=lambda label: why.arms[label].index) == arm
    assert arm in str(why)
    assert "online_sample" in str(why)
    assert json.loads(json.dumps(why.to_json(), allow_nan=False))["arm"] == arm


def test_explain_before_the_first_pull_says_so() -> None:
    with pytest.raises(InvalidInput, match=r"call pull\(\) first"):
        learner().explain()


def test_explain_names_a_tie() -> None:
    pupil = Learner(UCB(), arms=["A", "B"], seed=0)
    pupil.pull()
    assert "broken at random" in pupil.explain().reason


def test_explain_does_not_consume_the_memory_of_a_policy() -> None:
    pupil, silent = learner(ArtificialReplay(base="ts")), learner(ArtificialReplay(base="ts"))
    for _ in range(10):
        assert pupil.pull() == silent.pull()
        pupil.explain()
    assert pupil.to_json() == silent.to_json()


@pytest.mark.parametrize("promise", ["bias_bound", "relative_bound"])
def test_a_rule_that_names_no_numbers_is_explained_in_one_line(promise: str) -> None:
    """It draws several times for one decision; and it does not look at what is promised."""
    bounds: dict[str, Any] = {promise: 0.05}
    pupil = Learner(ArtificialReplay(base="ts"), offline=OFFLINE, seed=1, **bounds)
    arm = pupil.pull()
    why = pupil.explain()
    assert (why.arm, why.guard, why.arms, why.common_move) == (arm, False, {}, None)
    assert str(why) == f"Decision 1: {arm!r} was chosen by the policy's own rule"
    saved = json.loads(json.dumps(why.to_json(), allow_nan=False))
    assert (saved["arm"], saved["arms"], saved["common_move"]) == (arm, {}, None)
    pupil.update(arm, 0.5)
    assert pupil.explain() == why


def test_the_explanation_tells_a_guard_pull_from_a_draw() -> None:
    learner = neglected(4_000)
    assert learner.pull() == "B"
    why = learner.explain()
    assert why.guard
    assert why.policy == "guarded-anchor-ts"
    assert why.reason.startswith(
        "guard pull beside the leader 'A': 'B' has the largest upper bound"
    )
    for numbers in why.arms.values():
        assert list(numbers.parts) == ["guess", "audit_bound", "online_bound", "hybrid_bound"]
        assert numbers.index == numbers.parts["online_bound"]  # there are no logs
        assert numbers.parts["hybrid_bound"] == math.inf
    assert why.arms["B"].index > why.arms["A"].index
    assert json.loads(json.dumps(why.to_json()))["guard"] is True

    drawn = neglected(5)
    arm = drawn.pull()
    why = drawn.explain()
    assert not why.guard
    assert why.arm == arm
    # The draw is that of Anchor-TS with the guess for its anchor: here the live mean.
    assert why.arms["B"].parts["guess"] == pytest.approx(-0.6)
    assert list(why.arms["B"].parts) == ["guess", "online_sample", "hybrid_sample"]
    for numbers in why.arms.values():
        assert numbers.index == sorted(numbers.parts.values())[1]
    assert max(why.arms, key=lambda label: why.arms[label].index) == arm
    assert json.loads(json.dumps(why.to_json()))["guard"] is False


def test_the_explanation_says_that_a_guard_pull_was_left_to_chance() -> None:
    rule = GuardedAnchorTS(guard_share=0.5)
    logs = OfflineData.from_summary({"A": (400, 0.5, 1.0), "B": (400, 0.3, 1.0)})
    said = set()
    for seed in range(20):  # all alike with chance 1e-6
        learner = Learner(rule, offline=logs, bias_bound=0.0, seed=seed)
        learner.update(["A"] * 300 + ["B"] * 2, [0.5] * 300 + [0.4] * 2)
        learner.pull()
        why = learner.explain()
        said.add((why.guard, why.reason.partition(":")[0]))
    assert said == {
        (True, "guard pull of probability 0.5 beside the leader 'A'"),
        (
            False,
            "a guard pull of probability 0.5 beside the leader 'A' was due and, by chance, "
            "not played",
        ),
    }


def test_a_guard_pull_of_an_arm_with_logs_is_explained_by_a_median() -> None:
    logs = OfflineData.from_summary({"A": (400, 0.5, 1.0), "B": (400, 0.3, 1.0)})
    learner = Learner(offline=logs, bias_bound=0.0, seed=1)
    learner.update(["A"] * 300 + ["B"] * 2, [0.5] * 300 + [0.4] * 2)
    assert learner.pull() == "B"
    why = learner.explain()
    numbers = why.arms["B"]
    three = [numbers.parts[f"{name}_bound"] for name in ("audit", "online", "hybrid")]
    assert numbers.index == sorted(three)[1]
    assert numbers.decided_by in ("audit_bound", "online_bound")  # the logs alone rule it out
    assert three[2] < why.arms["A"].index < numbers.index
    assert f"its {numbers.decided_by} (against guess " in why.reason


def test_an_explanation_is_of_what_was_waiting_then() -> None:
    learner = neglected(4_000)
    for _ in range(12):
        arm = learner.pull()
        why = learner.explain()
        assert why.arm == arm
        learner.update(["A"], [0.5])
        learner.drop_pending("B")
        assert learner.explain() == why


def test_an_explanation_says_what_the_common_move_is_believed_to_be() -> None:
    pupil = moved_learner()
    pupil.retire_arm("C")
    pupil.pull()
    first = pupil.explain()
    assert first.to_json()["common_move"] == {"mean": 0.0, "sd": 0.5}
    play_moved(pupil, 40)
    pupil.pull()
    believed = pupil.explain()
    assert believed.common_move is not None
    assert believed.common_move.mean == pytest.approx(2.0)
    assert believed.to_json()["common_move"] == believed.common_move._asdict()
    spread = f"(standard deviation {believed.common_move.sd:.4g})"
    assert f"moved by 2 together since the logs {spread}" in str(believed)
    json.dumps(believed.to_json(), allow_nan=False)


def test_nothing_is_said_of_a_move_that_decides_nothing() -> None:
    ignorant = Learner(TS(**UNITS), offline=MOVED, relative_bound=0.1, seed=1)
    for pupil in (ignorant, moved_learner(bias_bound=0.1)):
        pupil.pull()
        assert pupil.explain().common_move is None
        assert pupil.explain().to_json()["common_move"] is None
        assert "common" not in str(pupil.explain())


@pytest.mark.parametrize("policy", ["anchor-ts", "hierarchical-ts", "sam-ts", "min-ucb"])
def test_the_explanation_is_of_the_pull_that_was_made(policy: str) -> None:
    pupil = moved_learner(policy)
    for _ in range(30):
        (arm,) = play_moved(pupil, 1)
        why = pupil.explain()
        assert why.arm == arm
        assert why.arms[arm].index == max(x.index for x in why.arms.values())
