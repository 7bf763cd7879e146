"""Pulls that wait for their reward are counted, so that a guard pull on its way is not repeated."""

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from driftanchor import AnchorTS, GuardedAnchorTS, InvalidInput, Learner, OfflineData, UnknownName


def waiting(learner: Learner) -> dict[str, int]:
    return dict(zip(learner.arms, learner.pending.tolist(), strict=True))


def neglected(rounds: int, policy: GuardedAnchorTS | None = None) -> Learner:
    """A leader that was pulled in almost every round, and two arms that were pulled three times."""
    learner = Learner(policy or GuardedAnchorTS(), arms=["A", "B", "C"], seed=4)
    learner.update(["A"] * rounds + ["B"] * 3 + ["C"] * 3, [0.5] * rounds + [-0.6] * 3 + [-0.7] * 3)
    return learner


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


def test_the_explanation_tells_a_guard_pull_from_a_draw() -> None:
    learner = neglected(4_000)
    assert learner.pull() == "B"
    why = learner.explain()
    assert why.guard
    assert why.policy == "guarded-anchor-ts"
    assert why.reason.startswith(
        "guard pull beside the leader 'A': 'B' has the largest upper bound"
    )
    for told in why.arms.values():
        assert list(told.parts) == ["guess", "audit_bound", "online_bound", "hybrid_bound"]
        assert told.index == told.parts["online_bound"]  # there are no logs
        assert told.parts["hybrid_bound"] == math.inf
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
    for told in why.arms.values():
        assert told.index == sorted(told.parts.values())[1]
    assert max(why.arms, key=lambda label: why.arms[label].index) == arm
    assert json.loads(json.dumps(why.to_json()))["guard"] is False


def test_a_guard_pull_of_an_arm_with_logs_is_explained_by_a_median() -> None:
    logs = OfflineData.from_summary({"A": (400, 0.5, 1.0), "B": (400, 0.3, 1.0)})
    learner = Learner(offline=logs, bias_bound=0.0, seed=1)
    learner.update(["A"] * 300 + ["B"] * 2, [0.5] * 300 + [0.4] * 2)
    assert learner.pull() == "B"
    why = learner.explain()
    told = why.arms["B"]
    three = [told.parts[f"{name}_bound"] for name in ("audit", "online", "hybrid")]
    assert told.index == sorted(three)[1]
    assert told.decided_by in ("audit_bound", "online_bound")  # the logs alone rule it out
    assert three[2] < why.arms["A"].index < told.index
    assert f"its {told.decided_by} (against guess " in why.reason


def test_an_explanation_is_of_what_was_waiting_then() -> None:
    learner = neglected(4_000)
    for _ in range(12):
        arm = learner.pull()
        why = learner.explain()
        assert why.arm == arm
        learner.update(["A"], [0.5])
        learner.drop_pending("B")
        assert learner.explain() == why


def test_other_policies_do_not_look_at_what_waits() -> None:
    patient, forgetful = (Learner(AnchorTS(), arms=["A", "B"], seed=2) for _ in range(2))
    for _ in range(30):
        assert patient.pull() == forgetful.pull()
        forgetful.drop_pending()


def test_what_waits_is_saved(tmp_path: Path) -> None:
    learner = neglected(4_000)
    for _ in range(3):
        learner.pull()
    learner.add_arm("D")
    learner.save(tmp_path / "learner.json")
    loaded = Learner.load(tmp_path / "learner.json")
    assert waiting(loaded) == waiting(learner)
    assert sum(waiting(loaded).values()) == 3
    assert [loaded.pull() for _ in range(10)] == [learner.pull() for _ in range(10)]


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


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("A", 9), InvalidInput, "count must be at most 0, what arm 'A' has, got 9"),
        (("A", -1), InvalidInput, "count must be at least 0, got -1"),
        (("A", 0.5), InvalidInput, "count must be a whole number, got 0.5"),
        ((None, 1), InvalidInput, "count is 1 and arm is missing: say of which arm"),
        (("X",), UnknownName, "unknown arm 'X'"),
    ],
)
def test_giving_up_what_does_not_wait_is_refused(
    arguments: Any, error: type[Exception], message: str
) -> None:
    learner = Learner(arms=["A", "B"], seed=3)
    with pytest.raises(error, match=message):
        learner.drop_pending(*arguments)


def test_an_arm_without_rewards_is_not_left_out_while_a_first_batch_is_on_its_way() -> None:
    logs = OfflineData.from_summary({"A": (50, 0.5, 1.0), "B": (50, 0.4, 1.0), "C": (0,)})
    learner = Learner(offline=logs, bias_bound=0.2, seed=1)
    pulled = Counter(learner.pull() for _ in range(60))
    assert min(pulled[label] for label in "ABC") >= 5
