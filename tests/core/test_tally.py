"""Tally: sums that can be added to, saved, compared and never changed."""

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftanchor import Arms, InvalidInput, Tally, UnreadableState

ARMS = Arms(["A", "B", "C"])
REWARDS = st.floats(-1e9, 1e9)
PLAYS = st.lists(st.tuples(st.integers(0, 2), REWARDS), max_size=40)


def bits(tally: Tally) -> tuple[bytes, bytes]:
    return tally.pulls.tobytes(), tally.totals.tobytes()


def tally_of(plays: list[tuple[int, float]]) -> Tally:
    return Tally.empty(ARMS).add_many([arm for arm, _ in plays], [reward for _, reward in plays])


@given(PLAYS)
def test_adding_many_equals_the_loop_to_the_bit(plays: list[tuple[int, float]]) -> None:
    loop = Tally.empty(ARMS)
    for arm, reward in plays:
        loop = loop.add(arm, reward)
    assert bits(tally_of(plays)) == bits(loop)
    by_hand = [0.0, 0.0, 0.0]
    for arm, reward in plays:
        by_hand[arm] += reward
    assert loop.totals.tolist() == by_hand
    assert loop.pulls.tolist() == [sum(a == arm for a, _ in plays) for arm in range(3)]


@given(PLAYS, PLAYS)
def test_parts_add_up_to_the_whole(
    first: list[tuple[int, float]], rest: list[tuple[int, float]]
) -> None:
    part = tally_of(first)
    one_after_the_other = part.add_many([arm for arm, _ in rest], [x for _, x in rest])
    assert bits(one_after_the_other) == bits(tally_of(first + rest))
    assert bits(part) == bits(tally_of(first))  # adding left the part alone


@given(PLAYS)
def test_json_keeps_every_bit(plays: list[tuple[int, float]]) -> None:
    tally = tally_of(plays)
    back = Tally.from_json(json.loads(json.dumps(tally.to_json(), allow_nan=False)))
    assert bits(back) == bits(tally)
    assert back == tally
    assert hash(back) == hash(tally)


def test_the_record_names_its_kind_and_version() -> None:
    sealed = Tally.empty(ARMS).to_json()
    assert (sealed["kind"], sealed["version"]) == ("driftanchor/tally", 1)


def test_means_are_totals_over_pulls_and_nan_without_pulls() -> None:
    tally = Tally(ARMS, np.array([2, 0, 4]), np.array([3.0, 0.0, -2.0]))
    np.testing.assert_array_equal(tally.means, [1.5, math.nan, -0.5])


def test_equal_tallies_hash_alike_even_with_a_negative_zero() -> None:
    plus, minus = (Tally.empty(ARMS).add(0, zero) for zero in (0.0, -0.0))
    assert plus == minus
    assert hash(plus) == hash(minus)
    assert plus != plus.add(0, 0.0)
    assert plus != "a tally"


def test_nothing_in_a_tally_can_be_changed() -> None:
    pulls, totals = np.array([1, 0, 0]), np.array([1.0, 0.0, 0.0])
    tally: Any = Tally(ARMS, pulls, totals)
    pulls[0], totals[0] = 9, 9.0  # the caller's arrays are not the tally's
    assert tally.pulls.tolist() == [1, 0, 0]
    with pytest.raises(ValueError, match="read-only"):
        tally.pulls[0] = 5
    with pytest.raises(ValueError, match="read-only"):
        tally.totals[0] = 5.0
    with pytest.raises(AttributeError):
        tally.arms = Arms(["A"])


def test_a_new_arm_has_no_pulls() -> None:
    wider = Tally.empty(ARMS).add(1, 2.0).with_arm("D")
    assert list(wider.arms) == ["A", "B", "C", "D"]
    assert wider.pulls.tolist() == [0, 1, 0, 0]
    assert wider.totals.tolist() == [0.0, 2.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["A"], [1], [1.0]), r"arms must be Arms such as Arms\(\['A', 'B'\]\), got \['A'\]"),
        ((ARMS, [1, 2], 0), "pulls has 2 values for 3 arms: give one for each arm"),
        ((ARMS, [1, -2, 0], 0), "pulls of arm 'B' must be at least 0, got -2"),
        ((ARMS, 1, [1, math.nan, 1]), "totals of arm 'B' must be a number, got nan"),
        ((ARMS, [1, 0, 1], 2.0), "totals of arm 'B' is 2 after no pulls: it must be 0"),
    ],
)
def test_impossible_sums_are_refused(arguments: tuple[Any, Any, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Tally(*arguments)


@pytest.mark.parametrize(
    ("columns", "rewards", "message"),
    [
        ([-1], [1.0], "column must be between 0 and 2, got -1"),
        ([3], [1.0], "column must be between 0 and 2, got 3"),
        ([0], [math.nan], "reward must be a number, got nan"),
        ([0, 1, 0], [1.0], "3 columns and 1 rewards: give one for each"),
        ([0, 1], [1.0, 2.0, 3.0], "2 columns and 3 rewards: give one for each"),
        ({0, 1}, [1.0, 2.0], "columns must be in order, got the set"),
        ([0, 0], [1.7e308, 1.7e308], "totals of arm 'A' must be finite, got inf"),
    ],
)
def test_impossible_rewards_are_refused(columns: Any, rewards: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Tally.empty(ARMS).add_many(columns, rewards)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"arms": ["A", "A", "B"]}, "the tally record is damaged: arms has the label 'A' twice"),
        ({"pulls": [1, 2]}, "the tally record is damaged: pulls has 2 values for 3 arms"),
        ({"pulls": [1, 2, -3]}, "the tally record is damaged: pulls of arm 'C'"),
        ({"totals": [0, 0, "x"]}, "the tally record is damaged: totals of arm 'C'"),
        ({"totals": [0, 0, 1.0]}, "the tally record is damaged: totals of arm 'C' is 1 after no"),
    ],
)
def test_a_damaged_or_newer_record_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(UnreadableState, match=message):
        Tally.from_json(Tally.empty(ARMS).to_json() | change)
