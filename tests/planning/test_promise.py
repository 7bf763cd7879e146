from __future__ import annotations

import math

import pytest

from driftanchor import OfflineData
from driftanchor.errors import InvalidInput
from driftanchor.planning.promise import promised

LOGS = OfflineData.from_summary({"A": (9, 0.5), "B": (9, 0.4), "C": (9, 0.3)})


def test_a_promise_of_levels_alone() -> None:
    promise = promised({"A": 0.1, "B": 0.2, "C": 0.0}, None, LOGS).promise
    assert promise.reach.tolist() == [0.1, 0.2, 0.0]
    assert (promise.letter, promise.size, promise.text) == ("V", 0.2, "V = 0.2")
    assert not promise.is_relative
    assert promise.sizes() == {"bias_bound": 0.2}


def test_a_relative_promise_alone() -> None:
    promise = promised(None, 0.1, LOGS).promise
    assert promise.reach.tolist() == [0.1] * 3
    assert (promise.letter, promise.text) == ("W", "W = 0.1")
    assert promise.to_json(LOGS.arms) == {
        "bias_bound": None,
        "relative_bound": dict.fromkeys("ABC", 0.1),
    }


def test_each_arm_needs_one_finite_bound() -> None:
    promise = promised({"A": 0.1, "B": math.inf, "C": 0.3}, [0.2, 0.1, math.inf], LOGS).promise
    assert promise.reach.tolist() == [0.1, 0.1, 0.3]


def test_the_logs_of_an_arm_of_which_nothing_is_promised_are_left_out() -> None:
    found = promised({"A": 0.1, "B": math.inf, "C": 0.3}, None, LOGS)
    assert found.offline.n.tolist() == [9, 0, 9]
    assert list(found.offline.arms) == ["A", "B", "C"]
    assert found.promise.reach.tolist() == [0.1, 0.3, 0.3]
    assert found.notes == ("nothing is promised of B, so these logs are left out",)
    both = promised({"A": 0.1, "B": math.inf, "C": math.inf}, [0.2, math.inf, 0.1], LOGS)
    assert both.offline.n.tolist() == [9, 0, 9]
    assert both.promise.reach.tolist() == [0.1, 0.2, 0.1]


def test_an_arm_without_logs_needs_no_bound() -> None:
    logs = OfflineData.from_summary({"A": (9, 0.5), "B": (9, 0.4), "new": (0,)})
    found = promised([0.1, 0.2, math.inf], None, logs)
    assert (found.offline, found.notes) == (logs, ())
    assert found.promise.reach.tolist() == [0.1, 0.2, 0.2]


@pytest.mark.parametrize(
    ("bias_bound", "relative_bound", "names"),
    [
        (math.inf, None, "bias_bound"),
        (None, math.inf, "relative_bound"),
        (math.inf, [math.inf] * 3, "bias_bound"),
    ],
)
def test_a_promise_of_nothing_is_refused(
    bias_bound: object, relative_bound: object, names: str
) -> None:
    with pytest.raises(InvalidInput, match=f"^{names} must be finite for at least one arm with"):
        promised(bias_bound, relative_bound, LOGS)
