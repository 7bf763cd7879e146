"""The laws of rewards: heavy tails, rewards drawn from observed ones, and logs that are given."""

import math
import pickle
import re
from typing import Any

import numpy as np
import pytest
from driftanchor.simulation.engines.rewards import draw_mean, draw_reward, student, world_of

from driftanchor import TS, UCB, AnchorTS, Bandit, GuardedAnchorTS, InvalidInput, simulate
from driftanchor.core.noise import key, start, wrapping
from driftanchor.policies.base import Policy

POOLS = [[0.0, 1.0, 1.0, 5.0], [0.5], [-1.0, 2.0, 0.25]]
WORLDS = {
    "student": Bandit([0.6, 0.5], [0.5, 0.6], [20, 9], noise=0.7, reward="student"),
    "resampled": Bandit.resampling(POOLS, [1.0, 0.5, 0.5], [20, 0, 9], 0.3),
    "given": Bandit([0.6, 0.5], [0.5, 0.6], [20, 9], logs="given"),
}
RULES = [TS(), UCB(), AnchorTS(), GuardedAnchorTS()]


def stream(seed: int) -> Any:
    made = np.empty(4, np.uint64)
    with wrapping():
        start(made, key(seed, "test"), 0, 0)
    return made


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("policy", RULES, ids=lambda policy: policy.name)
def test_compiled_and_interpreted_draw_the_same_rewards(policy: Policy, world: str) -> None:
    effort: dict[str, Any] = {"horizon": 60, "runs": 5, "seed": 2}
    slow = simulate(policy, WORLDS[world], engine="interpreted", **effort)
    fast = simulate(policy, WORLDS[world], engine="every-round", **effort)
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
    world, pulls = world_of(WORLDS["student"]), 20
    one, other = stream(2), stream(2)
    with wrapping():
        mean = draw_mean(world, 0, pulls, one)
        by_hand = np.mean([student(other) for _ in range(pulls)])
    assert mean == pytest.approx(0.5 + 0.7 * by_hand)


def test_observed_rewards_come_back_equally_often() -> None:
    """Shares of 4 places in 20,000 draws, 5 sd: false alarm 2e-6."""
    world, source = world_of(Bandit.resampling([[7.0, 8.0, 9.0, 10.0], [1.0]])), stream(3)
    with wrapping():
        drawn = np.array([draw_reward(world, 0, source) for _ in range(20_000)])
        assert draw_reward(world, 1, source) == 1.0
    for value in (7.0, 8.0, 9.0, 10.0):
        assert abs((drawn == value).mean() - 0.25) < 5 * math.sqrt(0.25 * 0.75 / 20_000)


def test_a_resampling_world_has_the_means_of_what_was_observed() -> None:
    bandit = WORLDS["resampled"]
    assert bandit.online.tolist() == [1.75, 0.5, pytest.approx(1.25 / 3)]
    assert (bandit.reward, bandit.logs) == ("resampled", "given")
    again = pickle.loads(pickle.dumps(bandit))
    assert [pool.tolist() for pool in again.pools] == POOLS
    assert again.offline.tolist() == bandit.offline.tolist()
    assert not again.pools[0].flags.writeable


def test_a_bandit_is_the_same_in_another_process() -> None:
    late = Bandit([0.6, 0.5], [0.5, 0.6], 9, logs="given", delay=3, batch=2, reward="student")
    again = pickle.loads(pickle.dumps(late))
    assert (again.logs, again.delay, again.batch, again.reward) == ("given", 3, 2, "student")


def test_given_logs_are_what_a_policy_sees() -> None:
    """A policy that follows the logs alone then plays the arm they call best, in every run."""
    bandit = Bandit([0.6, 0.5, 0.4], [0.2, 0.1, 0.21], 10**9, 0.0, logs="given")
    result = simulate("hybrid-ts", bandit, horizon=50, runs=20)
    assert (result.pulls[0, :, 2] == 50).all()


@pytest.mark.parametrize(
    ("rewards", "message"),
    [
        ([[1.0], []], "rewards of arm 2 must be a list of at least one number, got []"),
        ([[1.0], 3.0], "rewards of arm 2 must be a list of at least one number, got 3.0"),
        ([["a"]], "rewards of arm 1 must be a list of numbers, got ['a']"),
        ([[1.0, math.nan]], "rewards of arm 1 must be finite and at most 1e+90, got nan"),
        ([[math.inf]], "rewards of arm 1 must be finite and at most 1e+90, got inf"),
        (3, "rewards must be a list of values, got 3"),
        ([], "rewards is empty: give the rewards of at least one arm"),
    ],
)
def test_impossible_rewards_are_refused(rewards: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match="^" + re.escape(message)):
        Bandit.resampling(rewards)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"logs": "fixed"}, "unknown logs 'fixed'; known: drawn, given"),
        ({"delay": -1}, "delay must be between 0 and 1e+07, got -1"),
        ({"delay": 1.5}, "delay must be a whole number, got 1.5"),
        ({"batch": 0}, "batch must be between 1 and 1e+07, got 0"),
        ({"batch": 10**9}, "batch must be between 1 and 1e+07"),
    ],
)
def test_impossible_words_are_refused(words: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        Bandit([0.5, 0.4], **words)
