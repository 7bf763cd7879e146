"""What callers ask for is checked before anything changes."""

import importlib
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
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

pandas: Any = importlib.import_module("pandas")


def test_rewards_outside_the_declared_range_and_unknown_arms_are_refused() -> None:
    pupil = Learner(arms=["A", "B"], reward_range=(0, 1))
    with pytest.raises(InvalidInput, match=r"reward of arm 'A' must be between 0 and 1, got 1\.5"):
        pupil.update("A", 1.5)
    with pytest.raises(UnknownName, match="unknown arm 'a'"):
        pupil.update("a", 1.0)
    with pytest.raises(InvalidInput, match="reward has 1 values for 2 arms"):
        pupil.update(["A", "B"], [1.0])
    assert pupil.tally.pulls.sum() == 0


OFFLINE = OfflineData.from_summary({"A": (200, 0.51), "B": (200, 0.48), "C": (50, 0.2)})


def learner(policy: Policy | None = None, seed: int = 1) -> Learner:
    return Learner(policy or AnchorTS(), offline=OFFLINE, bias_bound=0.05, seed=seed)


REWARDS: list[Any] = [1, True, np.True_, np.int8(1), np.float32(1), np.array(1.0)]


@pytest.mark.parametrize("reward", [*REWARDS, Decimal("1.0"), Fraction(3, 3)])
def test_a_reward_is_a_number_of_any_kind(reward: Any) -> None:
    pupil = learner()
    pupil.update("A", reward)
    pupil.update(["A"], [reward])
    assert pupil.tally.totals.tolist() == [2.0, 0.0, 0.0]
    assert type(pupil.state.tally.totals.item(0)) is float


@pytest.mark.parametrize(
    "reward",
    [
        *("1", "0.5", np.str_("1"), b"1", 1 + 0j, np.complex128(1), None, [1.0], np.array([1.0])),
        *(np.timedelta64(1, "s"), np.datetime64("2026-01-01"), pandas.NA, pandas.NaT, np.ma.masked),
        *(Decimal("NaN"), Decimal("sNaN"), np.float32("nan"), 1e91, -1e300, 10**400),
    ],
)
def test_what_is_no_number_or_out_of_all_size_is_no_reward(reward: Any) -> None:
    pupil: Any = learner()
    with pytest.raises(InvalidInput, match="reward of arm 'A' must ") as caught:
        pupil.update("A", reward)
    assert caught.value.argument == "reward"
    with pytest.raises(InvalidInput, match="reward of arm 'B' must "):
        pupil.update(["A", "B"], [0.5, reward])
    assert pupil.tally.pulls.sum() == 0


@pytest.mark.parametrize(
    "batch", [list, tuple, iter, np.array, pandas.Series, pl.Series, lambda x: (y for y in x)]
)
def test_a_batch_comes_in_anything_that_has_an_order(batch: Callable[[Any], Any]) -> None:
    pupil = learner()
    pupil.update(batch(["A", "B", "A"]), batch([1.0, 2.0, 3.0]))
    pupil.update(batch(["C", "C"]), batch([True, False]))
    assert pupil.tally.totals.tolist() == [4.0, 2.0, 1.0]
    assert pupil.tally.pulls.tolist() == [2, 1, 2]


@pytest.mark.parametrize(
    ("arm", "reward", "argument"),
    [
        ({"A", "B"}, [1.0, 0.0], "arm"),
        (["A", "B"], {1.0, 0.0}, "reward"),
        ({"A": 1.0, "B": 0.0}.keys(), [1.0, 0.0], "arm"),
        ({"A": 1.0, "B": 0.0}, [1.0, 0.0], "arm"),
        (["A", "B"], {1.0: "A", 0.0: "B"}, "reward"),
        (["A"], 1.0, "reward"),
        (7, 1.0, "arm"),
    ],
)
def test_a_batch_in_no_order_is_refused(arm: Any, reward: Any, argument: str) -> None:
    update: Any = learner().update
    with pytest.raises(InvalidInput, match=r"^(arm|reward) must be ") as caught:
        update(arm, reward)
    assert caught.value.argument == argument


@pytest.mark.parametrize(
    ("arguments", "argument", "message"),
    [
        ((7,), "label", "label must be text, got the label 7"),
        (("",), "label", "label must be printable text"),
        (([1],), "label", "label must be text"),
        (("A",), "label", "label 'A' is already an arm"),
        (("D", (5,)), "offline", "offline is refused: mean of arm 'D' is missing"),
        (("D", (-1, 0.5)), "offline", "offline is refused: n of arm 'D' must be at least 0"),
        (("D", (1, 2, 3, 4)), "offline", "offline of arm 'D' must be .n, mean. or"),
        (("D", 5), "offline", "offline of arm 'D' must be a list of values, got 5"),
        (
            ("D", (5, 7.0), 0.1),
            "offline",
            "refused: reward_range is 0 to 2, and the means of the logs",
        ),
        (("D", (5, 0.5), -1), "bias_bound", "bias_bound of arm 'D' must be at least 0"),
        (("D", (5, 0.5), 1e91), "bias_bound", "must be at most 1e.90, got 1e.91: give inf"),
        (("D", (5, 0.5), None, "x"), "relative_bound", "must be a number, a list"),
        (("D", (5, 0.5)), "bias_bound", "bias_bound is missing and arm 'D'"),
    ],
)
def test_a_new_arm_that_cannot_be_is_refused_by_its_argument(
    arguments: Any, argument: str, message: str
) -> None:
    pupil = Learner(TS(), offline=OFFLINE, bias_bound=0.1, reward_range=(0, 2))
    before = pupil.terms
    with pytest.raises(InvalidInput, match=message) as caught:
        pupil.add_arm(*arguments)
    assert caught.value.argument == argument
    assert pupil.terms is before


def test_the_last_playable_arm_cannot_be_retired() -> None:
    pupil = Learner(TS(), arms=["A", "B"])
    pupil.retire_arm("A")
    with pytest.raises(InvalidInput, match="label 'B' is the last arm"):
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
