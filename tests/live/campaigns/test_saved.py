import dataclasses

import numpy as np
import numpy.typing as npt
import pytest

from driftanchor.live.campaigns.saved import Played, saved

MEANS = np.array([0.5, 0.3, 0.2])
NONE = np.zeros(3)
BEST = np.array([2_000.0, 0.0, 0.0])
PLAYED = Played(MEANS, NONE, BEST, NONE, 0.5, (-np.inf, np.inf))


def thompson(worlds: int, rounds: int) -> npt.NDArray[np.float64]:
    """What Thompson sampling without logs loses, one decision after the other."""
    rng = np.random.default_rng(0)
    pulls = np.ones((worlds, 3))
    sums = MEANS + 0.5 * rng.standard_normal((worlds, 3))
    rows = np.arange(worlds)
    for _ in range(rounds - 3):
        drawn = sums / pulls + 0.5 / np.sqrt(pulls) * rng.standard_normal((worlds, 3))
        arm = drawn.argmax(axis=1)
        sums[rows, arm] += MEANS[arm] + 0.5 * rng.standard_normal(worlds)
        pulls[rows, arm] += 1
    lost: npt.NDArray[np.float64] = pulls @ (MEANS.max() - MEANS)
    return lost


def test_a_cold_start_loses_what_thompson_sampling_loses() -> None:
    found, regret = saved(PLAYED, seed=1), thompson(1_000, 2_000)
    error = regret.std() * np.sqrt(1 / 1_000 + 1 / 64)
    # A step of some decisions learns a little later. False alarm: 1e-4 beyond that.
    assert abs(found.cold - regret.mean()) < 0.1 * regret.mean() + 3.9 * error
    assert found.lost == 0.0


def test_decisions_that_were_wrong_count_against_the_logs() -> None:
    worst = dataclasses.replace(PLAYED, decisions=np.array([0.0, 0.0, 2_000.0]))
    found = saved(worst, seed=1)
    assert found.lost == pytest.approx(600.0)
    assert found.high < 0


def test_doubt_about_the_arms_widens_the_interval() -> None:
    sure, unsure = (
        saved(dataclasses.replace(PLAYED, sds=np.full(3, sd)), seed=1) for sd in (0.0, 0.1)
    )
    assert unsure.high - unsure.low > sure.high - sure.low


def test_a_cold_start_has_the_floors_too_and_learns_from_them() -> None:
    floors = np.full(3, 0.1)
    share = np.array([0.8, 0.1, 0.1])
    with_floors = dataclasses.replace(PLAYED, floors=floors, decisions=2_000 * share)
    free, floored = saved(PLAYED, seed=1), saved(with_floors, seed=1)
    assert floored.cold > free.cold
    assert 0 < floored.mean < free.mean


def test_the_same_state_gives_the_same_numbers_and_many_decisions_cost_little() -> None:
    long = dataclasses.replace(PLAYED, decisions=np.array([1e7, 0.0, 0.0]))
    assert saved(long, seed=3) == saved(long, seed=3)


def test_fewer_decisions_than_arms() -> None:
    few = dataclasses.replace(PLAYED, decisions=np.array([1.0, 0.0, 0.0]))
    assert saved(few, seed=1).decisions == 1
