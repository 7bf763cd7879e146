"""Scalar functions over lanes give each lane the bits of a call of its own, or raise."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftanchor.simulation.lanes import Unsuited, each_way, lanes, over_lanes

TABLE = np.array([3.0, 7.0, 11.0])
AWKWARD = [0.0, -0.0, 1.0, -1.5, 0.1, 3.7, 1e-300, 1e300, math.inf, -math.inf, math.nan]


class Pair(NamedTuple):
    low: float
    high: float


def ordered(x: float, y: float) -> Pair:
    return Pair(min(x, y), max(x, y))


def middle(x: float, y: float) -> float:
    pair = ordered(x, y)
    return max(pair.low, min(pair.high, 0.5), -1.0)


def branches(x: float, y: float) -> float:
    if x < 0.0 < y:
        return -1.0
    if x != y or x > 2.0:
        return x if math.isnan(y) else max(y, 0.25)
    return 0


def pairs(x: float, y: float) -> Pair:
    return Pair(x, y) if x <= y else Pair(y, -x)


def loops(x: float, y: float) -> float:
    steps = 0
    while abs(x) > 1.0 and steps < 8:
        x, steps = x / 16.0, steps + 1
    return float(steps) + x


def powers(x: float, y: float) -> Any:
    return abs(x) ** 0.5 + (1.0 + abs(y)) ** -2.5 + 2.0 ** min(x, 9.0)


def functions(x: float, y: float) -> float:
    size = min(abs(x), 700.0)
    return math.sqrt(size) + math.exp(-size) + math.log1p(size) + math.atan2(y, x) + math.pi


def looked_up(x: float, y: float) -> Any:
    return TABLE[int(min(abs(x), 2.0))] ** 0.5


def with_default(x: float, y: float, scale: float = 3.0) -> float:
    return scale * x


def holding(held: Any) -> Callable[[float, float], Any]:
    return lambda x, y: held * x


FUNCTIONS = [
    ordered,
    middle,
    branches,
    pairs,
    loops,
    powers,
    functions,
    looked_up,
    with_default,
    holding(2.5),
]


def bits(value: Any) -> bytes:
    """The bits of a number or of a tuple of them, all NaN alike."""
    return np.nan_to_num(
        np.array(value, np.float64), nan=-7.5, posinf=np.inf, neginf=-np.inf
    ).tobytes()


def over(function: Any, values: list[tuple[float, float]]) -> list[bytes]:
    """What each lane gets."""
    x, y = np.array(values).T
    with np.errstate(divide="raise", invalid="raise", over="ignore"):
        answer = each_way(over_lanes(function), lanes(x), lanes(y))
    parts = np.broadcast_arrays(*answer, x)[:-1] if isinstance(answer, tuple) else answer
    return [
        bits(each) for each in np.broadcast_to(np.array(parts).T, (len(x), *np.shape(parts)[:-1]))
    ]


def alone(function: Any, values: list[tuple[float, float]]) -> list[bytes]:
    """What calls of their own give."""
    with np.errstate(all="ignore"):
        return [bits(function(np.float64(x), np.float64(y))) for x, y in values]


@pytest.mark.parametrize("function", FUNCTIONS)
@given(values=st.lists(st.tuples(*[st.floats(-50.0, 50.0)] * 2), min_size=1))
def test_every_lane_gets_the_bits_of_its_own_call(
    function: Any, values: list[tuple[float, float]]
) -> None:
    assert over(function, values) == alone(function, values)


@pytest.mark.parametrize("function", FUNCTIONS)
@given(values=st.lists(st.tuples(*[st.sampled_from(AWKWARD) | st.floats()] * 2), min_size=1))
def test_of_awkward_numbers_too_or_none_at_all(
    function: Any, values: list[tuple[float, float]]
) -> None:
    try:
        got = over(function, values)
    except (ArithmeticError, ValueError, IndexError, Unsuited):
        return
    assert got == alone(function, values)


def test_numbers_that_all_lanes_share_stay_numbers() -> None:
    assert type(over_lanes(middle)(1.0, 2.0)) is float
    assert over_lanes(functions)(1.0, 2.0) == functions(1.0, 2.0)


def test_lanes_that_part_are_put_together_as_the_type_they_came_in() -> None:
    answer: Any = each_way(over_lanes(pairs), lanes([1.0, 5.0]), 3.0)
    assert type(answer) is Pair
    assert [np.asarray(part).tolist() for part in answer] == [[1.0, 3.0], [3.0, -5.0]]


def with_sum(x: float, y: float) -> float:
    return sum([x, y, 0.1])


def with_median(x: float, y: float) -> float:
    return float(np.median([x, y, 0.0]))


def with_type(x: float, y: float) -> float:
    kind: Any = float
    return x if isinstance(x, kind) else y


def with_import(x: float, y: float) -> float:
    import statistics

    return statistics.mean([x, y])


def with_list(x: float, y: float) -> float:
    return [3.0, 4.0][int(x)]


def of_two_kinds(x: float, y: float) -> Any:
    return Pair(x, y) if x < y else y


def never_together(x: float, y: float) -> float:
    steps = 0.0
    while steps < x:
        steps += 1.0
    return steps


@pytest.mark.parametrize(
    "function",
    [
        with_sum,
        with_median,
        with_type,
        with_import,
        with_list,
        of_two_kinds,
        never_together,
        holding("words"),
        holding(math.sqrt),
        math.sqrt,
        Pair,
    ],
)
def test_what_cannot_be_had_to_the_last_bit_raises(function: Any) -> None:
    x = lanes(np.arange(100.0))
    with pytest.raises((Unsuited, NameError, AttributeError, TypeError, ImportError)):
        each_way(over_lanes(function), x, lanes(x[::-1]))


def test_a_function_can_be_put_in_place_of_another() -> None:
    assert over_lanes(middle)(0.0, 9.0) == 0.5
    assert over_lanes(middle, {ordered: lambda x, y: Pair(8.0, 9.0)})(0.0, 9.0) == 8.0
