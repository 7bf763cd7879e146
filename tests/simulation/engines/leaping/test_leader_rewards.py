"""The leader's rewards drawn at once stop where, and stand where, rewards one by one do.

All seeds are fixed. Each check states the probability that right code fails it.
"""

import functools
import math

import pytest
from driftanchor.simulation.engines.leaping import leader_rewards as leader
from driftanchor.simulation.engines.rewards import world_of
from exact_walks import Law, Walk, coin_walk, gaussian_walk

from driftanchor.core.noise import Stream, keyed_stream, normal, wrapping
from driftanchor.core.variates import binomial
from driftanchor.simulation.bandit import Bandit

START, DRIFT, STEPS, TRIES = 2.0, 0.05, 40, 1_250
INF = math.inf


def fits(law: Law, walk: Walk) -> bool:
    """Whether walks take as many steps and end where they should: 2e-6 in all.

    Laws 0.1 apart are told apart nine times in ten.
    """
    return law.fits(walk, TRIES, false_alarm=2e-6)


def whole(stream: Stream) -> tuple[int, float]:
    return leader.walk(START, DRIFT, 1.0, STEPS, stream)


@functools.cache
def law() -> Law:
    return gaussian_walk(START, INF, DRIFT, STEPS)


def test_a_gaussian_walk_stops_where_one_taken_step_by_step_may() -> None:
    assert fits(law(), whole)


WORLD = world_of(Bandit([0.6, 0.5], reward="bernoulli"))


@pytest.mark.parametrize(("start", "barrier"), [(1.3, 0.55), (0.7, 0.5), (0.41, 0.307)])
def test_bernoulli_blocks_and_single_rewards_stop_where_they_should(
    start: float, barrier: float
) -> None:
    exact = coin_walk(start, INF, 0.6, barrier, 45)
    assert fits(exact, lambda s: leader.in_blocks(start, 0.6, barrier, 45, s))
    assert fits(exact, lambda s: leader.one_by_one(WORLD, 0, start, barrier, 45, s))


def test_blocks_below_any_barrier_take_all_steps() -> None:
    with wrapping():
        assert leader.in_blocks(1.0, 0.5, -0.2, 10**6, keyed_stream(1, "free", 0))[0] == 10**6


def late(walk: Walk) -> Walk:
    """A barrier off by one: the stop is noticed a step too late."""

    def walked(stream: Stream) -> tuple[int, float]:
        taken, end = walk(stream)
        return (min(taken + 1, STEPS), end) if taken < STEPS or end <= 0.0 else (taken, end)

    return walked


def unreflected(stream: Stream) -> tuple[int, float]:
    """A walk that looks at its end alone."""
    end = START + 0.05 * STEPS + math.sqrt(STEPS) * normal(stream)
    return STEPS, end


def greedy_blocks(stream: Stream) -> tuple[int, float]:
    """Blocks long enough to cross the barrier and come back unseen."""
    position, taken = 1.3, 0
    while taken < 45 and position > 0.0:
        block = min(45 - taken, int(position / 0.55) + 6)
        position += binomial(block, 0.6, stream) - 0.55 * block
        taken += block
    return taken, position


def test_planted_faults_are_caught() -> None:
    assert not fits(law(), late(whole))
    assert not fits(law(), unreflected)
    assert not fits(coin_walk(1.3, INF, 0.6, 0.55, 45), greedy_blocks)
