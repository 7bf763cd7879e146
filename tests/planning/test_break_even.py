"""The search for a break-even, on savings that are known."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
import pytest

from driftanchor.planning.break_even import break_even, break_even_of, break_evens

GRID = [0.0, 1.0, 2.0, 4.0, 8.0]
NOISE = np.linspace(-0.2, 0.2, 40)
SIZES = (40, 40, 40)


def search(curve: Callable[[float], float]) -> tuple[tuple[float, float, float], list[float]]:
    asked: list[float] = []

    def ask(at: Mapping[str, float], _: int) -> dict[str, np.ndarray]:
        asked.extend(at.values())
        return {name: curve(shift) + NOISE for name, shift in at.items()}

    return break_evens(ask, {"rule": {}}, GRID, seed=0, sizes=SIZES)["rule"], asked


@pytest.mark.parametrize("end", [0.3, 1.7, 3.1, 7.9])
def test_it_is_where_savings_end(end: float) -> None:
    (value, low, high), _ = search(lambda shift: math.atan(end - shift))
    assert value == pytest.approx(end, rel=0.05)
    assert low <= value <= high


def test_the_first_end_counts_even_where_savings_come_back() -> None:
    (value, _, _), asked = search(lambda shift: 1.5 - shift if shift < 3 else 5.0)
    assert value == pytest.approx(1.5, abs=0.01)
    assert 8.0 not in asked  # savings had surely ended before


def test_savings_that_never_end_are_told_from_those_that_never_begin() -> None:
    assert search(lambda _: 1.0)[0] == (math.inf, math.inf, math.inf)
    (value, low, high), asked = search(lambda _: -1.0)
    assert (value, low, high) == (0.0, 0.0, 0.0)
    assert asked == [0.0]


def test_what_is_known_is_not_asked_for_again() -> None:
    asked: list[float] = []

    def ask(at: Mapping[str, float], _: int) -> dict[str, np.ndarray]:
        asked.extend(at.values())
        return {name: 2.5 - shift + NOISE for name, shift in at.items()}

    known = {"rule": {shift: 2.5 - shift + NOISE for shift in GRID}}
    found = break_evens(ask, known, GRID, seed=0, sizes=SIZES)
    assert asked == [3.0, 2.5]
    assert found["rule"].value == pytest.approx(2.5)


def test_worlds_are_played_where_the_sign_is_open() -> None:
    asked: dict[str, dict[float, int]] = {"sharp": {}, "rough": {}}
    noise = np.random.default_rng(0).standard_normal(200)

    def ask(at: Mapping[str, float], worlds: int) -> dict[str, np.ndarray]:
        for name, shift in at.items():
            asked[name][shift] = worlds
        return {name: 2.1 - shift + noise[:worlds] for name, shift in at.items()}

    known: dict[str, dict[float, np.ndarray]] = {name: {} for name in asked}
    break_evens(ask, known, GRID, seed=0, sizes=(20, 40, 200), sharp={"sharp"})
    assert asked["rough"][0.0] == asked["rough"][4.0] == asked["sharp"][0.0] == 20
    assert asked["rough"][2.0] == 40
    assert asked["sharp"][2.0] == 200
    assert list(asked["sharp"].values()).count(200) == 2  # on both sides of the change of sign


def test_known_savings_get_more_worlds_where_their_sign_is_open() -> None:
    noise = np.random.default_rng(0).standard_normal(200)
    asked: list[tuple[float, int]] = []

    def ask(at: Mapping[str, float], worlds: int) -> dict[str, np.ndarray]:
        asked.extend((shift, worlds) for shift in at.values())
        return {name: 2.1 - shift + noise[:worlds] for name, shift in at.items()}

    known = {"rule": {shift: 2.1 - shift + noise[:20] for shift in GRID}}
    break_evens(ask, known, GRID, seed=0, sizes=(20, 40, 200))
    assert (2.0, 40) in asked
    assert not {0.0, 8.0} & {shift for shift, _ in asked}


def test_a_saving_that_falls_slowly_is_looked_at_wherever_it_may_end() -> None:
    """Between 2 and 4 it is nearly 0, and at 8 far below: the end of the interval lies between."""
    noise = np.random.default_rng(0).standard_normal(40)
    asked: list[float] = []

    def ask(at: Mapping[str, float], _: int) -> dict[str, np.ndarray]:
        asked.extend(at.values())
        return {
            name: np.interp(shift, [0, 2, 4, 8], [3, 0.1, -0.1, -5]) + noise
            for name, shift in at.items()
        }

    break_evens(ask, {"rule": {}}, GRID, seed=0, sizes=SIZES)
    assert 6.0 in asked


def test_intervals_cover_though_worlds_are_added_where_the_sign_is_open() -> None:
    """At 95 % fewer than 48 of 60 are hit by chance once in 50,000."""
    hit = {"sharp": 0, "rough": 0}
    for seed in range(60):
        rng = np.random.default_rng(seed)
        level, slope = 2.0 * rng.standard_normal(200), rng.standard_normal((200, 200))

        def ask(
            at: Mapping[str, float],
            worlds: int,
            level: np.ndarray = level,
            own: np.ndarray = slope,
        ) -> dict[str, np.ndarray]:
            return {
                name: (2.7 - shift + level + own[round(10 * shift)])[:worlds]
                for name, shift in at.items()
            }

        known: dict[str, dict[float, np.ndarray]] = {name: {} for name in hit}
        found = break_evens(ask, known, GRID, seed=seed, sizes=(20, 40, 200), sharp={"sharp"})
        for name, even in found.items():
            hit[name] += even.low <= 2.7 <= even.high
    assert min(hit.values()) >= 48, hit


SHIFTS = np.array([0.0, 1.0, 2.0, 4.0])


@pytest.mark.parametrize(
    ("saved", "where"),
    [
        ([3.0, 2.0, 1.0, 0.5], math.inf),
        ([3.0, 2.0, 1.0, -1.0], 3.0),
        ([3.0, -1.0, 5.0, 5.0], 0.75),  # what comes after does not count
        ([0.0, 2.0, 1.0, 1.0], 0.0),
        ([2.0, 1.0, 0.0, 1.0], 2.0),
    ],
)
def test_break_even_is_where_savings_first_end(saved: list[float], where: float) -> None:
    assert break_even(SHIFTS, np.array(saved)) == where


def test_the_interval_of_a_break_even_covers_it() -> None:
    rng = np.random.default_rng(0)
    saved = np.array([3.0, 1.0, -1.0, -5.0])[:, None] + rng.standard_normal((4, 200))
    even = break_even_of(SHIFTS, saved, 0)
    assert even.low < even.value < even.high
    assert even.value == pytest.approx(1.5, abs=0.2)
    assert even.high - even.low == pytest.approx(2 * 1.96 * 0.5 / math.sqrt(200) / 2**0.5, rel=0.3)


def test_a_break_even_that_no_shift_reached_is_infinite() -> None:
    assert break_even_of(SHIFTS, np.ones((4, 9)), 0) == (math.inf, math.inf, math.inf)
