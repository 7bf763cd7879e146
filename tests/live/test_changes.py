"""What callers ask for is checked before anything changes."""

from typing import Any

import pytest

from driftanchor import (
    TS,
    AnchorTS,
    InvalidInput,
    Learner,
    OfflineData,
    Policy,
    UnknownName,
)


def test_rewards_outside_the_declared_range_and_unknown_arms_are_refused() -> None:
    pupil = Learner(arms=["A", "B"], reward_range=(0, 1))
    with pytest.raises(InvalidInput, match=r"reward of arm 'A' must be between 0 and 1, got 1\.5"):
        pupil.update("A", 1.5)
    with pytest.raises(UnknownName, match="unknown arm 'a'"):
        pupil.update("a", 1.0)
    with pytest.raises(InvalidInput, match="2 arms and 1 rewards"):
        pupil.update(["A", "B"], [1.0])
    assert pupil.tally.pulls.sum() == 0


OFFLINE = OfflineData.from_summary({"A": (200, 0.51), "B": (200, 0.48), "C": (50, 0.2)})


def learner(policy: Policy | None = None, seed: int = 1) -> Learner:
    return Learner(policy or AnchorTS(), offline=OFFLINE, bias_bound=0.05, seed=seed)


def test_rewards_in_no_order_are_refused() -> None:
    update: Any = learner().update
    with pytest.raises(InvalidInput, match="must be in order"):
        update({"A", "B"}, [1.0, 0.0])


def test_the_last_playable_arm_cannot_be_retired() -> None:
    pupil = Learner(TS(), arms=["A", "B"])
    pupil.retire_arm("A")
    with pytest.raises(InvalidInput, match="'B' is the last one"):
        pupil.retire_arm("B")
    pupil.retire_arm("A")


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
