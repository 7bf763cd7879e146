"""The leader's rewards within a band stop where, and stand where, rewards one by one do.

All seeds are fixed. Each check states the probability that right code fails it.
"""

import functools
import math

import numpy as np
import pytest
from exact_walks import Law, Walk, coin_walk, gaussian_walk

from driftanchor.simulation.bandit import Bandit
from driftanchor.simulation.engines.guarded import band
from driftanchor.simulation.engines.rewards import world_of

STEPS, TRIES = 40, 750
START, TOP, DRIFT = 4.0, 9.0, 0.05


def fits(law: Law, walk: Walk) -> bool:
    """Whether walks take as many steps and end where they should: 2e-6 in all.

    Laws 0.12 apart are told apart nine times in ten.
    """
    return law.fits(walk, TRIES, false_alarm=2e-6)


def whole(top: float) -> Walk:
    return lambda s: band.walk_within(START, top, DRIFT, 1.0, STEPS, s)


@functools.cache
def law(top: float) -> Law:
    return gaussian_walk(START, top, DRIFT, STEPS)


@pytest.mark.parametrize("top", [TOP, 5.0, math.inf])
def test_a_gaussian_walk_stops_where_one_taken_step_by_step_may(top: float) -> None:
    assert fits(law(top), whole(top))


def test_a_path_stays_as_often_as_one_of_many_small_steps() -> None:
    """Where a path is looked at only now and then, the edges are moved inwards.

    By 0.5826 of a step's deviation (Broadie, Glasserman & Kou 1997): the share is then right within
    0.005; without it 0.04 to 0.06 too many paths stay.
    """
    rng = np.random.default_rng(3)
    looks, tries = 250, 6_000
    nearer = 0.5826 / math.sqrt(looks)
    times = np.arange(1, looks) / looks
    for end, top in ((0.8, 1.5), (0.3, 1.1), (1.2, math.inf)):
        steps = rng.normal(0, 1 / math.sqrt(looks), (tries, looks)).cumsum(1)
        paths = 0.5 + steps[:, :-1] - times * (steps[:, -1:] - (end - 0.5))
        share = float(((paths > nearer) & (paths < top - nearer)).all(1).mean())
        # 6,000 paths: 5 standard errors are 0.033
        assert abs(band.stays(0.5, end, top, 1.0) - share) < 0.04


WORLD = world_of(Bandit([0.6, 0.5], reward="bernoulli"))


@pytest.mark.parametrize(
    ("start", "top", "low"), [(1.31, 4.03, 0.553), (0.713, 1.23, 0.517), (0.41, 9.0, 0.307)]
)
def test_bernoulli_blocks_and_single_rewards_stop_where_they_should(
    start: float, top: float, low: float
) -> None:
    exact = coin_walk(start, top, 0.6, low, 45)
    assert fits(exact, lambda s: band.blocks_within(start, top, 0.6, low, 45, s))
    assert fits(exact, lambda s: band.steps_within(WORLD, 0, start, top, low, 45, s))


def test_planted_faults_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A band without its top, and a path that is looked at only at its end."""
    assert not fits(law(TOP), whole(math.inf))
    real = band.stays
    monkeypatch.setattr(band, "stays", lambda x, y, top, v: float(real(x, y, top, v) > 0.0))
    assert not fits(law(TOP), whole(TOP))
