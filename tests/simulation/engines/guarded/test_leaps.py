"""The leaping loop of guarded Anchor-TS has the law of playing every round.

All seeds are fixed. Each statistical check states the probability that a right engine fails it.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from benchmarks.pages.exactness import chance_of_gap
from driftanchor import Bandit, Evidence, GuardedAnchorTS, Round, simulate
from driftanchor.core.noise import Stream, wrapping
from driftanchor.simulation import ENGINES
from driftanchor.simulation.engines.desk import keys_of
from driftanchor.simulation.engines.guarded import GUARDED_EVENTS, GUARDED_THINNED
from driftanchor.simulation.engines.reference import EVERY_ROUND
from driftanchor.simulation.engines.rewards import world_of

RULE = GuardedAnchorTS()
PROVED = GuardedAnchorTS(budget=0.0, eps=0.0)
HALF = GuardedAnchorTS(guard_share=0.5)
COINS = GuardedAnchorTS(noise=0.5)
INF = math.inf
CASES: dict[str, tuple[Bandit, GuardedAnchorTS]] = {
    "no logs": (Bandit([0.8, 0.5, 0.5]), RULE),
    "V": (Bandit([0.8, 0.5, 0.4], [0.5, 0.6, 0.4], [40, 7, 200], [0.3, 0.1, INF]), RULE),
    "V, half of the guard pulls": (Bandit([0.8, 0.5], [0.5, 0.6], 40, 0.3), HALF),
    "V, proved": (Bandit([0.8, 0.5, 0.4], [0.7, 0.6, 0.3], [40, 7, 200], 0.1), PROVED),
    "W": (Bandit([0.8, 0.5, 0.4], [0.8, 0.5, 0.3], [40, 7, 0], relative_bound=0.1), RULE),
    "W = 0": (Bandit([0.8, 0.5, 0.5], [0.8, 0.5, 0.5], 200, relative_bound=0.0), RULE),
    "both": (
        Bandit([0.8, 0.5, 0.4], [0.7, 0.5, 0.3], 30, 0.2, relative_bound=[0.1, 0.2, INF]),
        RULE,
    ),
    "coins": (Bandit([0.7, 0.3], [0.2, 0.5], [11, 6], 0.1, reward="bernoulli"), COINS),
    "coins, W": (
        Bandit([0.3, 0.2], [0.3, 0.25], [300, 30], relative_bound=0.05, reward="bernoulli"),
        COINS,
    ),
    "heavy tails": (Bandit([0.8, 0.5], [0.5, 0.6], [30, 9], reward="student"), RULE),
    "one arm": (Bandit([0.4]), RULE),
}
LATE = ("W = 0", "coins, W")  # the first leap comes after some 400 rounds
LOOPS = {"thinned": GUARDED_THINNED, "events": GUARDED_EVENTS}


@pytest.mark.parametrize("engine", LOOPS)
@pytest.mark.parametrize("case", CASES)
def test_interpreted_and_compiled_leap_alike(case: str, engine: str) -> None:
    bandit, policy = CASES[case]
    world, loop = world_of(bandit), LOOPS[engine]
    regret, pulls = np.empty((1, 3)), np.empty((1, len(world.online)), np.int64)
    checkpoints, desk = np.array([10, 90, 500]), loop.lay_out(world, policy)
    with wrapping():
        keys = keys_of(3, policy.name)
        assert loop.play_runs(policy, world, keys, 0, checkpoints, desk, regret, pulls)
    fast = simulate(
        policy, bandit, horizon=500, runs=1, seed=3, engine=engine,
        checkpoints=checkpoints.tolist(),
    )  # fmt: skip
    assert np.array_equal(fast.pulls[0], pulls)
    assert np.array_equal(fast.regret[0], regret)
    assert pulls.sum() == 500


@pytest.mark.slow
@pytest.mark.parametrize("case", list(CASES)[:10])
def test_regret_and_pulls_have_the_same_law(case: str, times: int) -> None:
    """False alarms: 10 cases × 2 engines × 3 checks at 1e-6 each.

    Laws 0.21 apart are told apart nine times in ten; over the 5,000 runs of `make torture`, all
    of 1,000 rounds, those 0.07 apart. `make claims` compares 30,000 runs.
    """
    bandit, policy = CASES[case]
    rounds = 500 if times == 1 and case not in LATE else 1_000
    effort: dict[str, Any] = {"horizon": rounds, "runs": 500 * times, "checkpoints": [150, rounds]}
    every = simulate(policy, bandit, seed=11, engine="every-round", **effort)
    for seed, engine in ((12, "thinned"), (13, "events")):
        leapt = simulate(policy, bandit, seed=seed, engine=engine, **effort)
        for i in range(2):
            assert chance_of_gap(every.regret[0, :, i], leapt.regret[0, :, i]) > 1e-6
        assert chance_of_gap(every.pulls[0, :, 0], leapt.pulls[0, :, 0]) > 1e-6


def test_a_long_run_is_leapt_through() -> None:
    result = simulate(RULE, Bandit([0.8, 0.2]), horizon=10**8, runs=1, engine="events")
    assert result.pulls.sum() == 10**8
    assert result.pulls[0, 0, 0] > 0.99 * 10**8


@dataclass(frozen=True, kw_only=True)
class Stubborn(GuardedAnchorTS):
    """A child that chooses by itself."""

    name = "stubborn"

    def choose(self, evidence: Evidence, now: Round, stream: Stream) -> int:
        return 0


@dataclass(frozen=True, kw_only=True)
class Renamed(GuardedAnchorTS):
    """A child that changes nothing."""

    name = "renamed"


def test_it_serves_the_rule_as_it_is() -> None:
    events, bandit = ENGINES["events"], CASES["W"][0]
    assert events.loop_for(GuardedAnchorTS, bandit) is GUARDED_EVENTS
    assert events.loop_for(Renamed, bandit) is GUARDED_EVENTS
    assert events.loop_for(Stubborn, bandit) is EVERY_ROUND
    assert ENGINES["thinned"].loop_for(GuardedAnchorTS, bandit) is GUARDED_THINNED
    assert ENGINES["every-round"].loop_for(GuardedAnchorTS, bandit) is EVERY_ROUND
