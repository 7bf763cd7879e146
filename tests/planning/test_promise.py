from __future__ import annotations

import math

import numpy as np
import pytest

from driftanchor import OfflineData
from driftanchor.errors import InvalidInput
from driftanchor.planning.promise import promised

LOGS = OfflineData.from_summary({"A": (9, 0.5), "B": (9, 0.4), "C": (9, 0.3)})


def test_a_promise_of_levels_alone() -> None:
    promise = promised({"A": 0.1, "B": 0.2, "C": 0.0}, None, LOGS)
    assert promise.reach.tolist() == [0.1, 0.2, 0.0]
    assert (promise.letter, promise.size, promise.told) == ("V", 0.2, "V = 0.2")
    assert not promise.is_relative
    assert promise.sizes() == {"bias_bound": 0.2}


def test_a_relative_promise_alone() -> None:
    promise = promised(None, 0.1, LOGS)
    assert promise.reach.tolist() == [0.1] * 3
    assert (promise.letter, promise.told) == ("W", "W = 0.1")
    assert promise.to_json(LOGS.arms) == {
        "bias_bound": None,
        "relative_bound": dict.fromkeys("ABC", 0.1),
    }


def test_each_arm_needs_one_finite_bound() -> None:
    promise = promised({"A": 0.1, "B": math.inf, "C": 0.3}, [0.2, 0.1, math.inf], LOGS)
    assert promise.reach.tolist() == [0.1, 0.1, 0.3]
    with pytest.raises(InvalidInput, match="bias_bound of arm 'B' or relative_bound must be fin"):
        promised({"A": 0.1, "B": math.inf, "C": 0.3}, [0.2, math.inf, 0.1], LOGS)


def test_other_promises_are_in_proportion() -> None:
    promise = promised([0.1, math.inf, 0.3], [0.2, 0.1, math.inf], LOGS)
    twice = promise.times(2.0, 9.0)
    assert twice.levels == pytest.approx([0.2, math.inf, 0.6])
    assert twice.apart == pytest.approx([0.4, 0.2, math.inf])
    assert promise.times(1.0, 9.0) is promise
    assert promised(None, 0.0, LOGS).times(2.0, 0.2).apart.tolist() == [0.4] * 3
    half = promised(0.1, 0.0, LOGS).times(0.5, 9.0)
    assert (half.size, half.sizes()["bias_bound"]) == (0.0, 0.05)
    assert not np.any(promised(0.1, 0.05, LOGS).trusting().apart)
