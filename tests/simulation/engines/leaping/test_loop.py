"""The leaping engine has the law of the every-round engine, and fails the tests when broken.

All seeds are fixed. Each statistical check states the probability that a right engine fails it.
"""

import math
from typing import Any

import numpy as np
import pytest
from driftanchor.simulation.engines.desk import keys_of
from driftanchor.simulation.engines.leaping import EVENTS, THINNED
from driftanchor.simulation.engines.leaping.loop import serves
from driftanchor.simulation.engines.reference import EVERY_ROUND
from driftanchor.simulation.engines.rewards import world_of

from benchmarks.pages.exactness import chance_of_gap
from driftanchor import POLICIES, Bandit, simulate
from driftanchor.core.noise import wrapping

BANDITS = {
    "biased": Bandit.paper(biased=True, arms=4),
    "unbiased, small gap": Bandit.paper(biased=False, gap=0.1, arms=4, coverage="suboptimal"),
    "no logs": Bandit([0.8, 0.5, 0.5]),
    "two arms, V = inf": Bandit([0.5, 0.0], [0.2, 0.1], [30, 0], [math.inf, 0.0]),
    "Bernoulli": Bandit([0.6, 0.5, 0.4], [0.5, 0.5, 0.5], [20, 0, 100], reward="bernoulli"),
    "heavy tails": Bandit([0.8, 0.5], [0.5, 0.6], [30, 9], reward="student"),
    "equal means": Bandit([0.3, 0.3], noise=0.5),
    "one arm": Bandit([0.4]),
    "sure rewards": Bandit([1.0, 0.0], reward="bernoulli"),
    "noise of each arm": Bandit([0.5, 0.2, 0.2], [0.3, 0.4, 0.2], 20, noise=[0.3, 1.0, 2.0]),
}
LOOPS = {"thinned": THINNED, "events": EVENTS}
LEAPING = [name for name, cls in POLICIES.items() if serves(cls, BANDITS["biased"])]


def test_the_sampling_policies_leap() -> None:
    assert LEAPING == ["anchor-ts", "ts", "hybrid-ts", "optimistic-ts"]


@pytest.mark.parametrize("engine", LOOPS)
@pytest.mark.parametrize("bandit", BANDITS)
@pytest.mark.parametrize("name", LEAPING)
def test_interpreted_and_compiled_leap_alike(name: str, bandit: str, engine: str) -> None:
    policy, world, loop = POLICIES[name](), world_of(BANDITS[bandit]), LOOPS[engine]
    regret, pulls = np.empty((1, 4)), np.empty((1, len(world.online)), np.int64)
    checkpoints, desk = np.array([10, 90, 200, 500]), loop.lay_out(world, policy)
    with wrapping():
        keys = keys_of(3, policy.name)
        assert loop.play_runs(policy, world, keys, 0, checkpoints, desk, regret, pulls)
    fast = simulate(
        policy, BANDITS[bandit], horizon=500, runs=1, seed=3, engine=engine,
        checkpoints=checkpoints.tolist(),
    )  # fmt: skip
    assert np.array_equal(fast.pulls[0], pulls)
    assert np.array_equal(fast.regret[0], regret)
    assert pulls.sum() == 500


@pytest.mark.slow
@pytest.mark.parametrize("bandit", [*list(BANDITS)[:6], "noise of each arm"])
@pytest.mark.parametrize("name", LEAPING)
def test_regret_and_pulls_have_the_same_law(name: str, bandit: str, times: int) -> None:
    """False alarms: 28 cells × 2 engines × 3 checks at 1e-6 each, 0.02 % in all.

    Laws 0.17 apart are told apart nine times in ten; over the 8,000 runs of `make torture`, which
    are twice as long, those 0.06 apart. `make claims` compares 30,000 runs of up to 100,000 rounds.
    """
    rounds = 1_000 if times == 1 else 2_000
    effort: dict[str, Any] = {"horizon": rounds, "runs": 800 * times, "checkpoints": [300, rounds]}
    every = simulate(name, BANDITS[bandit], seed=11, engine="every-round", **effort)
    for seed, engine in ((12, "thinned"), (13, "events")):
        leapt = simulate(name, BANDITS[bandit], seed=seed, engine=engine, **effort)
        for i in range(2):
            assert chance_of_gap(every.regret[0, :, i], leapt.regret[0, :, i]) > 1e-6
        assert chance_of_gap(every.pulls[0, :, 0], leapt.pulls[0, :, 0]) > 1e-6


def test_thinned_meets_the_rewards_that_playing_every_round_meets() -> None:
    """One arm: nothing but rewards decides what its total is, and they come from its stream."""
    totals = []
    for loop in (EVERY_ROUND, THINNED):
        policy, world = POLICIES["ts"](), world_of(Bandit([0.4]))
        desk = loop.lay_out(world, policy)
        with wrapping():
            regret, pulls = np.empty((1, 1)), np.empty((1, 1), np.int64)
            keys, rounds = keys_of(3, policy.name), np.array([400])
            loop.play_runs(policy, world, keys, 0, rounds, desk, regret, pulls)
        totals.append(desk.evidence.totals[0])
    assert totals[0] == pytest.approx(totals[1], rel=1e-12)


def test_regret_inside_a_leap_is_the_sum_that_every_round_gives() -> None:
    bandit = Bandit([0.8, 0.5], [0.4, 0.7], 500)  # logs so wrong that hybrid TS stays on arm 2
    result = simulate("hybrid-ts", bandit, horizon=900, runs=20, checkpoints=90, engine="events")
    gap = bandit.gaps[1]
    assert np.array_equal(result.regret, gap * np.round(result.regret / gap))
    assert result.regret[0, :, -1].max() > 250
