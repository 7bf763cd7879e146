"""The break-even, on savings made up for the purpose."""

from __future__ import annotations

import math

import numpy as np
import pytest

from driftanchor.planning.break_even import break_even, break_even_of

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
    even = break_even_of(SHIFTS, [*saved], 0)
    assert even.low < even.value < even.high
    assert even.value == pytest.approx(1.5, abs=0.2)
    assert even.high - even.low == pytest.approx(2 * 1.96 * 0.5 / math.sqrt(200) / 2**0.5, rel=0.3)


def test_a_break_even_that_no_shift_reached_is_infinite() -> None:
    assert break_even_of(SHIFTS, [*np.ones((4, 9))], 0) == (math.inf, math.inf, math.inf)
