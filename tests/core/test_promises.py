"""What can be promised beside the logs, and what is refused."""

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from driftanchor import Arms, InvalidInput, Learner, OfflineData, UnknownName, plan
from driftanchor.core.promises import (
    bias_bounds,
    check_log_sizes,
    check_promises,
    relative_bounds,
    valid_range,
)

ARMS = Arms(["A", "B"])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.1, [0.1, 0.1]),
        (0, [0.0, 0.0]),
        (math.inf, [math.inf, math.inf]),
        ([0.1, math.inf], [0.1, math.inf]),
        (np.array([0.1, 0.2]), [0.1, 0.2]),
        (np.array(0.1), [0.1, 0.1]),
        (Decimal("0.1"), [0.1, 0.1]),
        ({"B": 0.2, "A": 0.1}, [0.1, 0.2]),
    ],
)
def test_bias_bounds_come_as_a_number_a_list_or_a_mapping(value: object, expected: object) -> None:
    bounds = bias_bounds(value, ARMS)
    assert bounds.tolist() == expected
    with pytest.raises(ValueError, match="read-only"):
        bounds[0] = 1.0


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (-0.2, r"bias_bound of arm 'A' must be at least 0, got -0\.2"),
        ([0.1, -0.2], r"bias_bound of arm 'B' must be at least 0, got -0\.2"),
        ({"A": 0.1, "B": -math.inf}, "bias_bound of arm 'B' must be at least 0, got -inf"),
        ({"A": 0.1}, "bias_bound has no number for arm 'B': give one for each arm, inf"),
        (math.nan, "bias_bound of arm 'A' must be a number, got nan"),
        (None, "bias_bound must be a number, a list, a mapping of arms or a Suggestion, got None"),
        ("0.1", r"bias_bound must be a number, a list, .*, got '0\.1'"),
        ([0.1], "bias_bound has 1 values for 2 arms: give one for each arm"),
        ([[0.1], [0.2]], r"bias_bound of arm 'A' must be a number, got \[0\.1\]"),
        ({0.1, 0.2}, "bias_bound must be in order, got the set"),
        ([0.1, 1e308], "of arm 'B' must be at most 1e.90, got 1e.308: give inf where"),
    ],
)
def test_impossible_bias_bounds_are_refused(value: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        bias_bounds(value, ARMS)


def test_a_bias_bound_for_an_unknown_arm_is_refused() -> None:
    with pytest.raises(UnknownName, match="unknown arm 'X'; known: A, B"):
        bias_bounds({"A": 0.1, "B": 0.1, "X": 0.1}, ARMS)


def test_bias_bounds_need_arms() -> None:
    arms: Any = ["A", "B"]
    with pytest.raises(InvalidInput, match="arms must be Arms such as"):
        bias_bounds(0.1, arms)


class Suggested:
    """What `driftanchor.shift` suggests, as far as the core looks at it."""

    bias_bound = 0.4
    relative_bound = 0.1


def test_of_a_suggestion_the_bound_asked_for_is_taken() -> None:
    assert bias_bounds(Suggested(), ARMS).tolist() == [0.4, 0.4]
    assert relative_bounds(Suggested(), ARMS).tolist() == [0.1, 0.1]
    with pytest.raises(InvalidInput, match="bias_bound must be a number, a list"):
        bias_bounds(object(), ARMS)


def test_an_array_without_dimensions_is_a_number() -> None:
    assert relative_bounds(np.array(0.2), ARMS).tolist() == [0.2, 0.2]


def test_no_relative_bound_promises_nothing() -> None:
    assert relative_bounds(None, ARMS).tolist() == [math.inf, math.inf]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (-0.5, "relative_bound of arm 'A' must be at least 0, got -0.5"),
        ({"A": 0.1, "B": math.nan}, "relative_bound of arm 'B' must be a number, got nan"),
        ({"A": 0.1}, "relative_bound has no number for arm 'B': give one for each"),
        ([0.1] * 3, "relative_bound has 3 values for 2 arms: give one for each arm"),
        ("wide", "relative_bound must be a number, a list, .*, got 'wide'"),
    ],
)
def test_an_unusable_relative_bound_is_refused(value: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        relative_bounds(value, ARMS)


@pytest.mark.parametrize(
    ("relative", "logs", "message"),
    [
        (0.1, [0, 0], "relative_bound is given and no arm has logs"),
        (0.1, [9, 0], "only arm 'A' has both: with one logged arm a common move cannot"),
        ([math.inf, 0.1], [9, 0], "no arm has both"),
        ([math.inf, 0.1], [9, 9], "only arm 'B' has both"),
    ],
)
def test_relative_bounds_that_cannot_be_meant_are_refused(
    relative: object, logs: list[int], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        check_promises(relative_bounds(relative, ARMS), np.array(logs), ARMS)


def test_no_relative_bound_needs_no_logs() -> None:
    check_promises(relative_bounds(math.inf, ARMS), np.array([0, 0]), ARMS)


def test_either_end_may_be_open() -> None:
    assert valid_range((0, math.inf)) == (0.0, math.inf)
    assert valid_range(None) == (-math.inf, math.inf)


@pytest.mark.parametrize("value", [3, "01", (0,), (1, 0), (0, math.nan), (0, "1")])
def test_what_is_no_range_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput, match="reward_range must"):
        valid_range(value)


def logs(mean: float, variance: float | None = None) -> OfflineData:
    return OfflineData.from_summary({"A": (9, 0.5), "B": (9, mean, variance), "C": (0,)})


@pytest.mark.parametrize(
    ("ends", "mean"),
    [
        ((0.0, 1.0), 0.0),
        ((0.0, 1.0), 1.0 + 1e-15),  # a sum of rounded rewards
        ((-math.inf, math.inf), -1e90),
        ((0.0, math.inf), 7.0),
        ((-math.inf, 1.0), -1e3),
    ],
)
def test_logs_whose_means_rewards_of_the_range_can_have_are_taken(ends: Any, mean: float) -> None:
    assert valid_range(ends, logs(mean).mean) == ends
    check_log_sizes(logs(mean))


@pytest.mark.parametrize(
    ("ends", "mean", "message"),
    [
        ((0.0, 1.0), 1.1, "is 0 to 1, and the means of the logs go from 0.5 to 1.1: give the low"),
        ((0.0, 1.0), -1e-3, "go from -0.001 to 0.5"),
        ((0.5, math.inf), 0.4, "is 0.5 to inf, and the means of the logs go from 0.4 to 0.5"),
    ],
)
def test_logs_that_no_rewards_of_the_range_give_are_refused(
    ends: Any, mean: float, message: str
) -> None:
    with pytest.raises(InvalidInput, match=f"reward_range .*{message}"):
        valid_range(ends, logs(mean).mean)


@pytest.mark.parametrize(
    ("mean", "variance", "message"),
    [
        (1e308, None, "at most 1e.90; use a larger unit"),
        (1.0, 1e300, "the variance 1e.300 for arm 'B'"),
    ],
)
def test_logs_of_numbers_out_of_all_size_are_refused(
    mean: float, variance: float | None, message: str
) -> None:
    with pytest.raises(InvalidInput, match=f"offline has .*{message}"):
        check_log_sizes(logs(mean, variance))


@pytest.mark.parametrize("ends", [(0, 1e91), (-1e300, 0), (0, 1e-60)])
def test_a_range_out_of_all_size_is_refused(ends: Any) -> None:
    with pytest.raises(
        InvalidInput, match=r"reward_range .*use a (larger|smaller) unit of rewards"
    ):
        valid_range(ends)


def test_learners_and_plans_refuse_a_range_that_the_logs_are_not_in() -> None:
    offline = OfflineData.from_summary({"A": (100, 0.5, 0.25), "B": (100, 0.45, 0.25)})
    with pytest.raises(InvalidInput, match="reward_range is 5 to 6"):
        Learner(offline=offline, bias_bound=0.1, reward_range=(5, 6), seed=1)
    with pytest.raises(InvalidInput, match="reward_range is 5 to 6"):
        plan(offline, bias_bound=0.1, reward_range=(5, 6), horizon=10, law="gaussian")
    pupil = Learner(offline=offline, bias_bound=0.1, reward_range=(0, 1), seed=1)
    with pytest.raises(InvalidInput, match=r"reward_range is 0 to 1, and .* from 7 to 7"):
        pupil.add_arm("C", offline=(10, 7.0), bias_bound=0.1)
