"""The leader's rewards drawn at once stop where, and stand where, rewards one by one do.

All seeds are fixed. Each check states the probability that right code fails it.
"""

import functools
import math
from collections.abc import Callable

import numpy as np
import pytest

from benchmarks.pages.exactness import chance_of_gap
from driftanchor.core.binomial import binomial
from driftanchor.core.noise import Stream, keyed_stream, normal, uniform, wrapping
from driftanchor.simulation.bandit import Bandit
from driftanchor.simulation.engines.leaping import leader_rewards as leader
from driftanchor.simulation.engines.rewards import world_of

Walk = Callable[[Stream], tuple[int, float]]
START, STEPS, TRIES = 2.0, 40, 2_500


def same_walk(first: Walk, second: Walk, steps: int = STEPS) -> bool:
    """Whether two ways to walk stop as often, at the same step, and end at the same place.

    Two Kolmogorov–Smirnov checks at 1e-6 and one of a share (4.9 deviations): 3e-6 in all. Laws of
    the place that are 0.1 apart are told apart nine times in ten, if most walks get there.
    """
    stops, ends = walks(first, steps, 0)
    other_stops, other_ends = walks(second, steps, 1)
    share = len(stops) / TRIES
    apart = abs(len(other_stops) / TRIES - share)
    return (
        chance_of_gap(np.array(ends), np.array(other_ends)) > 1e-6
        and chance_of_gap(np.array(stops), np.array(other_stops)) > 1e-6
        and apart < 4.9 * math.sqrt(2 * share * (1 - share) / TRIES)
    )


@functools.cache
def walks(walk: Walk, steps: int, kind: int) -> tuple[list[int], list[float]]:
    """At which steps walks stopped, and where the others ended."""
    stops, ends = list[int](), list[float]()
    with wrapping():
        for i in range(TRIES):
            taken, end = walk(keyed_stream(8, f"walk {kind}", i))
            if taken < steps or end <= 0.0:
                stops.append(taken)
            else:
                ends.append(round(end, 6))  # the same sums, rounded otherwise
    return stops, ends


def whole(stream: Stream) -> tuple[int, float]:
    return leader.walk(START, 0.05, 1.0, STEPS, stream)


def step_by_step(stream: Stream) -> tuple[int, float]:
    """Between two steps a bridge touches 0 with the chance of reflection."""
    x = START
    for step in range(1, STEPS + 1):
        after = x + 0.05 + normal(stream)
        touched = after <= 0.0 or uniform(stream) < math.exp(-2.0 * x * after)
        x = after
        if touched:
            return step, x
    return STEPS, x


def test_a_gaussian_walk_stops_where_one_taken_step_by_step_may() -> None:
    assert same_walk(whole, step_by_step)


WORLD = world_of(Bandit([0.6, 0.5], reward="bernoulli"))


@functools.cache
def one_by_one(start: float, barrier: float) -> Walk:
    return lambda s: leader.one_by_one(WORLD, 0, start, barrier, 45, s)


@pytest.mark.parametrize(("start", "barrier"), [(1.3, 0.55), (0.7, 0.5), (0.4, 0.3)])
def test_bernoulli_blocks_stop_where_single_rewards_do(start: float, barrier: float) -> None:
    assert same_walk(
        lambda s: leader.in_blocks(start, 0.6, barrier, 45, s),
        one_by_one(start, barrier),
        steps=45,
    )


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
    assert not same_walk(late(whole), step_by_step)
    assert not same_walk(unreflected, step_by_step)
    assert not same_walk(greedy_blocks, one_by_one(1.3, 0.55), steps=45)
