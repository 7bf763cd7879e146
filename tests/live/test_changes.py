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
from driftanchor.live import changes
from driftanchor.live.state import State, fold
from driftanchor.live.state_events import Decided, Rewarded
from driftanchor.live.terms import Terms

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


def after(terms: Terms, rewards: list[float], waiting: int) -> State:
    """Two arms with these rewards, in turn, and so many decisions that wait."""
    columns = tuple(i % 2 for i in range(len(rewards)))
    state = fold(State.start(terms.arms), Rewarded(columns, tuple(rewards)))
    for n in range(waiting):
        state = fold(state, Decided(n + 1, 0))
    return state


@pytest.mark.parametrize(
    ("reward_range", "rewards", "waiting", "plain"),
    [
        ((0, 1), [1.0] * 20, 21, True),
        ((0, 1), [1.0] * 19, 500, False),  # too few
        ((0, 1), [1.0] * 20, 20, False),  # a batch may be on its way
        ((0, 1), [1.0] * 20 + [0.0], 500, False),  # one other reward is enough
        ((0, 1), [1.0] * 20 + [0.999], 500, False),
        ((0, 0.3), [0.3] * 1_000, 1_001, True),  # sums are rounded
        ((0, 100), [1.0] * 20, 21, False),
        ((-5, 0), [0.0] * 20, 21, True),
        ((-5, 0), [-1e-3] * 20, 21, False),
        (None, [1.0] * 20, 21, True),  # where the range is open, conversions are ones
        (None, [2.0] * 20, 21, False),
        ((0, 1), [], 500, False),
    ],
)
def test_it_is_plain_when_all_are_at_the_top_and_more_wait(
    reward_range: object, rewards: list[float], waiting: int, plain: bool
) -> None:
    terms = Terms.declare(arms=["A", "B"], reward_range=reward_range, seed=1)
    assert changes.only_conversions(terms, after(terms, rewards, waiting)) is plain


def test_the_warning_says_what_to_do() -> None:
    terms = Terms.declare(arms=["A", "B"], reward_range=(0, 5), seed=1)
    state, event = after(terms, [5.0] * 29, 70), Rewarded((0,), (5.0,))
    _, text = changes.check_conversions(terms, state, event)
    assert text.startswith("all 30 rewards so far are 5 and 69 pulls wait for theirs: ")
    assert text.endswith("report the other rewards too (0 for a pull that did not convert)")


@pytest.mark.parametrize(
    ("waiting", "rewards", "still", "warned"),
    [
        (60, [1.0] * 19, True, False),  # too few to say
        (60, [1.0] * 20, False, True),
        (40, [1.0] * 20, True, False),  # no more wait than came
        (60, [1.0] * 20 + [0.0], False, False),
        (60, [], True, False),
    ],
)
def test_it_is_looked_for_until_something_is_known(
    waiting: int, rewards: list[float], still: bool, warned: bool
) -> None:
    terms = Terms.declare(arms=["A", "B"], reward_range=(0, 1), seed=1)
    state = after(terms, [], waiting).copy()
    event = Rewarded((0,) * len(rewards), tuple(rewards))
    checks_on, warning = changes.check_conversions(terms, state, event)
    assert (checks_on, bool(warning)) == (still, warned)
    assert (state.reward_count, state.pending_count) == (0, waiting)
