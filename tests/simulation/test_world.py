"""The laws of rewards, of sums of rewards, and of the means of logs."""

import math
from typing import Any

import numpy as np
import pytest

from driftanchor import Bandit, simulate
from driftanchor.core.noise import Stream, keyed_stream, wrapping
from driftanchor.simulation.world import draw_mean, draw_reward, draw_total, student, world_of

POOLS = [[0.0, 1.0, 1.0, 5.0], [0.5], [-1.0, 2.0, 0.25]]
WORLDS = {
    "gaussian": Bandit([0.6, 0.5], [0.5, 0.6], [20, 9], noise=0.7),
    "bernoulli": Bandit([0.6, 0.5], [0.5, 0.6], [20, 9], reward="bernoulli"),
    "student": Bandit([0.6, 0.5], [0.5, 0.6], [20, 9], noise=0.7, reward="student"),
    "resampled": Bandit.resampling(POOLS, [1.0, 0.5, 0.5], [20, 0, 9], 0.3),
    "given": Bandit([0.6, 0.5], [0.5, 0.6], [20, 9], logs="given"),
}


def stream(number: int) -> Stream:
    return keyed_stream(number, "test", 0)


@pytest.mark.parametrize("world", WORLDS)
def test_compiled_and_interpreted_draw_the_same_rewards(world: str) -> None:
    effort: dict[str, Any] = {"horizon": 60, "runs": 5, "seed": 2}
    slow = simulate("anchor-ts", WORLDS[world], engine="interpreted", **effort)
    fast = simulate("anchor-ts", WORLDS[world], engine="every-round", **effort)
    assert np.array_equal(slow.pulls, fast.pulls)
    assert np.array_equal(slow.regret, fast.regret)


def test_student_has_the_tail_of_three_degrees_of_freedom() -> None:
    """Shares of |t| above the 50, 95 and 99 % points, 20,000 draws, 4.5 sd: false alarm 2e-5."""
    source = stream(1)
    with wrapping():
        drawn = np.array([student(source) for _ in range(20_000)]) * math.sqrt(3)
    for point, share in ((0.764892, 0.5), (3.182446, 0.05), (5.840909, 0.01)):
        sd = math.sqrt(share * (1 - share) / drawn.size)
        assert abs((np.abs(drawn) > point).mean() - share) < 4.5 * sd
        assert abs((drawn > point).mean() - share / 2) < 4.5 * sd


def test_the_mean_of_student_logs_is_a_mean_of_students() -> None:
    world, pulls, one, other = world_of(WORLDS["student"]), 20, stream(2), stream(2)
    with wrapping():
        mean = draw_mean(world, 0, pulls, one)
        by_hand = np.mean([student(other) for _ in range(pulls)])
    assert mean == pytest.approx(0.5 + 0.7 * by_hand)


def test_observed_rewards_are_drawn_equally_often() -> None:
    """Shares of 4 places in 20,000 draws, 5 sd: false alarm 2e-6."""
    world, source = world_of(Bandit.resampling([[7.0, 8.0, 9.0, 10.0], [1.0]])), stream(3)
    with wrapping():
        drawn = np.array([draw_reward(world, 0, source) for _ in range(20_000)])
        assert draw_reward(world, 1, source) == 1.0
    for value in (7.0, 8.0, 9.0, 10.0):
        assert abs((drawn == value).mean() - 0.25) < 5 * math.sqrt(0.25 * 0.75 / 20_000)


@pytest.mark.parametrize("law", ["gaussian", "bernoulli", "resampled"])
def test_a_sum_of_rewards_has_the_mean_and_the_variance_of_a_sum(law: str) -> None:
    """4,000 sums of 12 rewards: both within 5 standard errors, false alarm 2e-6."""
    world, source = world_of(WORLDS[law]), stream(4)
    mean = world.online[0]
    pool = np.array(POOLS[0])
    variance = {"gaussian": 0.49, "bernoulli": mean * (1 - mean), "resampled": pool.var()}[law]
    with wrapping():
        sums = np.array([draw_total(world, 0, 12, source) for _ in range(4_000)])
        assert draw_total(world, 0, 0, source) == 0.0
    squares = (sums - 12 * mean) ** 2
    assert abs(sums.mean() - 12 * mean) < 5 * math.sqrt(12 * variance / 4_000)
    assert abs(squares.mean() - 12 * variance) < 5 * squares.std() / math.sqrt(4_000)


def test_sums_of_other_laws_are_drawn_one_by_one() -> None:
    world, one, other = world_of(WORLDS["student"]), stream(5), stream(5)
    with wrapping():
        total = draw_total(world, 0, 7, one)
        assert total == pytest.approx(sum(draw_reward(world, 0, other) for _ in range(7)))


def test_a_policy_sees_the_given_logs() -> None:
    """A policy that follows the logs alone plays the arm they call best, in every run."""
    bandit = Bandit([0.6, 0.5, 0.4], [0.2, 0.1, 0.21], 10**9, 0.0, logs="given")
    result = simulate("hybrid-ts", bandit, horizon=50, runs=20)
    assert (result.pulls[0, :, 2] == 50).all()


def test_a_world_has_the_promises_and_arrays_of_its_own() -> None:
    bandit = Bandit([0.75, 0.5], 0.5, 16, 0.5, relative_bound=0.125, delay=3, batch=2)
    world = world_of(bandit)
    assert (world.delay, world.batch, world.relative) == (3, 2, True)
    assert world.bias_bounds.tolist() == [0.5, 0.5]
    assert world.relative_bounds.tolist() == [0.125, 0.125]
    world.online[0] = 9.0  # as the means of a run are set
    assert bandit.online[0] == 0.75
