"""The shared checks: what they let through, and what they say of the rest."""

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftanchor import InvalidInput, UnknownName
from driftanchor.core import check
from driftanchor.errors import shown


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_finite_number_passes_unchanged(x: float) -> None:
    assert check.number(x, "x") == x


KINDS = [3, True, np.float32(0.5), np.int8(3), Fraction(1, 2)]
ODD_KINDS = [np.True_, Decimal("0.5"), np.array(0.5), np.array(True), np.array(3, np.uint8)]


@pytest.mark.parametrize("value", [*KINDS, *ODD_KINDS])
def test_a_number_of_any_kind_becomes_a_plain_float(value: Any) -> None:
    number = check.number(value, "x")
    assert type(number) is float
    assert number == value


@pytest.mark.parametrize(
    ("value", "limits", "message"),
    [
        (math.nan, {}, "x must be a number, got nan: drop or fill the missing value"),
        (math.inf, {}, "x must be finite, got inf"),
        (-0.1, {"low": 0.0}, "x must be at least 0, got -0.1"),
        (2, {"high": 1.0}, "x must be at most 1, got 2"),
        (2, {"low": 0.0, "high": 1.0}, "x must be between 0 and 1, got 2"),
        (0, {"above": 0.0}, "x must be greater than 0, got 0"),
        (np.float64(-1), {"low": 0.0}, "x must be at least 0, got -1.0"),
        ("1", {}, "x must be a number, got '1'"),
        (Decimal("sNaN"), {}, "x must be a number, got nan"),
        (np.ma.masked, {}, "x must be a number, got"),
        (np.array([1.0]), {}, "x must be a number, got array"),
        (np.array(1, "M8[ns]"), {}, "x must be a number, got"),
        (np.timedelta64(1, "s"), {}, "x must be a number, got datetime.timedelta"),
        (10**400, {}, "x must fit a 64-bit float, got 1000"),
    ],
)
def test_an_unusable_number_is_named(value: Any, limits: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as error:
        check.number(value, "x", **limits)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    "refuse",
    [
        lambda: check.number("x", "noise"),
        lambda: check.number(-1, "noise", of="arm 'A'", low=0.0),
        lambda: check.whole(0.5, "noise"),
        lambda: check.choice("x", "noise", ["y"]),
        lambda: check.choice(1, "noise", ["y"], of="policy 'ts'"),
        lambda: check.items("x", "noise"),
        lambda: check.items(np.array(1), "noise"),
        lambda: check.ordered({1}, "noise"),
        lambda: check.per_arm([1, -1], "noise", ["A", "B"], low=0.0),
        lambda: check.per_arm([1], "noise", ["A", "B"]),
        lambda: check.pulls_per_arm(0.5, "noise", ["A"]),
        lambda: check.rising_pair((1, 0), "noise"),
        lambda: check.rising_pair((1, 2, 3), "noise"),
    ],
)
def test_every_refusal_carries_the_argument(refuse: Callable[[], object]) -> None:
    with pytest.raises(InvalidInput) as refused:
        refuse()
    assert refused.value.argument == "noise"


def test_infinity_passes_where_it_means_something() -> None:
    assert check.number(math.inf, "x", infinite=True) == math.inf


@given(st.integers(0, 2**62))
def test_a_whole_number_keeps_every_digit(n: int) -> None:
    assert check.whole(n, "n") == n


@pytest.mark.parametrize("value", [200, 200.0, np.int32(200), np.float64(200), Fraction(200)])
def test_a_whole_number_of_any_kind_becomes_a_plain_int(value: Any) -> None:
    number = check.whole(value, "n")
    assert type(number) is int
    assert number == 200


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (1.5, "n must be a whole number, got 1.5"),
        (True, "n must be a whole number, got True"),
        (np.True_, "n must be a whole number, got True"),
        (math.nan, "n must be a whole number, got nan"),
        (math.inf, "n must be a whole number, got inf"),
        ("3", "n must be a whole number, got '3'"),
        (np.timedelta64(1, "s"), "n must be a whole number, got datetime.timedelta"),
        (-1, "n must be at least 0, got -1"),
        (2**63, "n must be at most 4.61169e+18, got 9223372036854775808"),
        (10**400, "n must be at most 4.61169e+18, got 1000"),
    ],
)
def test_an_unusable_whole_number_is_named(value: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as error:
        check.whole(value, "n")
    assert str(error.value).startswith(message)


def test_a_number_too_long_to_print_is_refused_all_the_same() -> None:
    with pytest.raises(InvalidInput, match="x must fit a 64-bit float, got a huge int"):
        check.number(10**5000, "x")
    with pytest.raises(InvalidInput, match=r"n must be at most 4\.61169e\+18, got a huge int"):
        check.whole(10**5000, "n")


def test_a_choice_is_one_of_the_words() -> None:
    assert check.choice("ucb1", "radius", ("ucb1", "cheung-lyu")) == "ucb1"
    with pytest.raises(UnknownName, match=r"unknown radius 'ucb'; did you mean 'ucb1'\?"):
        check.choice("ucb", "radius", ("ucb1", "cheung-lyu"))
    for junk in (None, 3, ["ucb1"], np.array(["ucb1", "x"])):
        with pytest.raises(InvalidInput, match="radius must be one of ucb1, cheung-lyu, got"):
            check.choice(junk, "radius", ("ucb1", "cheung-lyu"))


def test_a_scalar_counts_for_every_arm_and_a_list_for_one_each() -> None:
    assert check.per_arm(0.5, "x", "AB").tolist() == [0.5, 0.5]
    assert check.per_arm(np.array([1, 2]), "x", "AB").tolist() == [1.0, 2.0]
    with pytest.raises(InvalidInput, match="x has 3 values for 2 arms: give one for each arm"):
        check.per_arm([1, 2, 3], "x", "AB")
    with pytest.raises(InvalidInput, match="x of arm 'B' must be a number, got None"):
        check.per_arm([1, None], "x", "AB")
    with pytest.raises(InvalidInput, match="x must be in order, got the set"):
        check.per_arm({1.0, 2.0}, "x", "AB")


def test_counts_keep_every_digit() -> None:
    assert check.pulls_per_arm([2**53 + 1, 0], "n", "AB").tolist() == [2**53 + 1, 0]
    with pytest.raises(InvalidInput, match=r"n of arm 'A' must be a whole number, got 2\.5"):
        check.pulls_per_arm(np.array([2.5, 1.0]), "n", "AB")


def test_what_a_message_shows_is_short_and_plain() -> None:
    assert shown(np.float64(0.5)) == "0.5"
    assert shown("a") == "'a'"
    assert shown(10**308) == "1e+308"
    assert len(shown(list(range(10_000)))) == 201


def test_a_function_or_nothing() -> None:
    check.optional_function(None, "progress")
    check.optional_function(print, "progress")
    with pytest.raises(InvalidInput, match="progress must be a function, got 5"):
        check.optional_function(5, "progress")


def test_a_flag_is_true_or_false_and_nothing_that_counts_as_one() -> None:
    assert (check.flag(True, "it"), check.flag(np.False_, "it")) == (True, False)
    for value in ("no", 0, None, np.array([True])):
        with pytest.raises(InvalidInput, match="it must be True or False, got "):
            check.flag(value, "it")
