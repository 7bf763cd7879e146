"""The delay curve and the pulls that live rewards are worth."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from driftanchor.core.check import Floats
from driftanchor.core.delays import Arrival, Cohorts, arrival, effective, slot_count, slot_length

WEEK = 7 * 86_400.0
RATE, PER_DAY = 0.1125, 600
NOISE = math.sqrt(RATE * (1 - RATE))
Delays = Callable[[np.random.Generator, int], Floats]
DELAYS: dict[str, Delays] = {
    "at once": lambda random, size: np.zeros(size),
    "exponential": lambda random, size: np.minimum(random.exponential(1 / 8, size), 0.999),
    "uniform": lambda random, size: random.random(size),
    "all at half": lambda random, size: np.full(size, 0.5),
}


def live_mean(delays: Delays, day: float, seed: int) -> tuple[float, float]:
    """One arm of a campaign with a window of a week: its live mean, and the pulls it is worth."""
    random = np.random.default_rng(seed)
    made = int(day * PER_DAY)
    slot, end = slot_length(WEEK), slot_count(WEEK)
    now = day * 86_400 // slot * slot  # estimates are made when a slot starts
    at = random.random(made) * now
    came = at + delays(random, made) * WEEK
    reported = (random.random(made) < RATE) & (came < now)
    age = round(now / slot) - (at // slot).astype(int)
    late = (came // slot - at // slot).astype(int)
    reports = np.zeros((2 * end + 1, end + 1), int)
    recent = reported & (age <= 2 * end)
    np.add.at(reports, (age[recent], late[recent]), 1)
    shown, gained = np.zeros((1, end + 1), int), np.zeros((1, end + 1))
    young = age <= end
    np.add.at(shown[0], age[young], 1)
    np.add.at(gained[0], age[young & reported], 1.0)
    closed, paid = np.array([(~young).sum()]), np.array([float((reported & ~young).sum())])
    cohorts = Cohorts(shown, gained, closed, paid)
    pulls, totals = effective(cohorts, 0.0, arrival(reports), NOISE, RATE)
    return (totals[0] / pulls[0] if pulls[0] else math.nan), pulls[0]


@pytest.mark.slow
@pytest.mark.parametrize("delays", DELAYS)
@pytest.mark.parametrize("day", [0.5, 1, 2, 3, 5, 7, 8, 10, 21])
def test_live_means_are_as_sure_as_they_say(delays: str, day: float) -> None:
    """The error of the mean has the stated standard error, from the first day on.

    The root mean square of 100 errors in standard errors must stay below 1.4. If all of them were
    standard normal, it would exceed that with probability 4e-8 in each of the 36 cases.
    """
    errors = []
    for seed in range(100):
        mean, pulls = live_mean(DELAYS[delays], day, seed)
        if pulls > 0.0:
            errors.append((mean - RATE) / (NOISE / math.sqrt(pulls)))
    if delays == "all at half" and day < 3.5:
        assert not errors  # nothing came, so nothing is claimed
    else:
        assert math.sqrt(np.mean(np.square(errors))) < 1.4


def test_nothing_is_lost_once_the_window_has_been_seen() -> None:
    """After three windows the live mean is worth nearly all decisions but the youngest."""
    for delays, least in (("at once", 0.98), ("exponential", 0.9), ("uniform", 0.75)):
        assert live_mean(DELAYS[delays], 21, seed=1)[1] > least * 21 * PER_DAY


def test_reports_of_the_window_in_full_give_their_own_shares() -> None:
    reports = np.zeros((200, 65), int)
    reports[66:, [0, 16, 48]] = 5_000, 3_000, 2_000
    shares = arrival(reports).shares
    assert shares[1] == pytest.approx(0.5, abs=1e-3)
    assert shares[20] == pytest.approx(0.8, abs=1e-3)
    assert shares[64] == pytest.approx(1.0, abs=1e-3)
    assert max(arrival(reports).errors) < 0.01


def test_without_reports_the_curve_is_open() -> None:
    curve = arrival(np.zeros((33, 17), int))
    assert curve.errors[1] > 1.0
    assert curve.shares == tuple(sorted(curve.shares))


def test_closed_decisions_count_as_they_are() -> None:
    curve = arrival(np.zeros((33, 17), int))
    none = np.zeros((2, 17), int)
    cohorts = Cohorts(none, none * 1.0, np.array([10, 0]), np.array([3.0, 0.0]))
    pulls, totals = effective(cohorts, 0.5, curve, 0.4, 0.1)
    assert pulls.tolist() == [10.0, 0.0]
    assert totals.tolist() == [8.0, 0.0]


def test_an_unknown_curve_cannot_outweigh_closed_decisions() -> None:
    """Young decisions without any report say little, and closed ones keep their weight."""
    curve = arrival(np.zeros((33, 17), int))
    shown = np.zeros((1, 17), int)
    shown[0, 1:] = 1_000
    cohorts = Cohorts(shown, shown * 0.0, np.array([500]), np.array([50.0]))
    pulls, totals = effective(cohorts, 0.0, curve, 0.3, 0.1)
    assert 500.0 < pulls[0] < 520.0
    assert totals[0] / pulls[0] == pytest.approx(0.1, rel=0.05)


def test_the_slot_in_progress_does_not_count() -> None:
    curve = Arrival((0.5, 1.0), (0.0, 0.0))
    cohorts = Cohorts(np.array([[8, 0]]), np.array([[4.0, 0.0]]), np.array([0]), np.array([0.0]))
    assert [sums.tolist() for sums in effective(cohorts, 0.0, curve, 0.5, 0.5)] == [[0.0], [0.0]]


@pytest.mark.parametrize("window", [2.0, 60.0, 3_600.0, 86_400.0, WEEK, 2 * WEEK])
def test_slots_cover_the_window(window: float) -> None:
    assert 16 <= slot_count(window) <= 128
    assert slot_count(window) * slot_length(window) >= window
