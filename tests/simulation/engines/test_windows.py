"""Windows play the very arms that playing every round does, but for ties broken otherwise."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from driftanchor.simulation.engines.desk import keys_of
from driftanchor.simulation.engines.reference import EVERY_ROUND
from driftanchor.simulation.engines.rewards import world_of
from driftanchor.simulation.engines.windows import WINDOWS, serves

from driftanchor import (
    KLUCB,
    MOSS,
    POLICIES,
    UCB,
    ArmEvidence,
    Bandit,
    Draws,
    Policy,
    Round,
    simulate,
)
from driftanchor.core.noise import wrapping
from driftanchor.core.posterior import Posterior
from driftanchor.simulation import ENGINES

BANDITS = {
    "biased": Bandit.paper(biased=True),
    "no logs": Bandit([0.8, 0.5, 0.5], noise=0.7),
    "Bernoulli": Bandit([0.6, 0.5, 0.4], [0.5, 0.5, 0.6], [20, 0, 9], 0.3, reward="bernoulli"),
    "one arm": Bandit([0.4], [0.5], 3),
}
WAITING = [name for name, cls in POLICIES.items() if serves(cls, BANDITS["biased"])]


def test_the_upper_bound_policies_wait() -> None:
    assert WAITING == ["ucb", "hybrid-ucb", "min-ucb", "kl-ucb", "moss"]


@pytest.mark.parametrize("bandit", BANDITS)
@pytest.mark.parametrize("name", WAITING)
@pytest.mark.parametrize("engine", ["thinned", "events"])
def test_the_same_arms_are_played(engine: str, name: str, bandit: str) -> None:
    """Ties occur only among arms not yet pulled: which comes first is drawn, in the same order."""
    effort: dict[str, Any] = {"horizon": 3_000, "runs": 8, "seed": 2, "checkpoints": [7, 800, 3000]}
    policy = POLICIES[name]()
    if not policy.takes(BANDITS[bandit].reward_range):
        policy = KLUCB(reward="gaussian", c=3.0)
    every = simulate(policy, BANDITS[bandit], engine="every-round", **effort)
    window = simulate(policy, BANDITS[bandit], engine=engine, **effort)
    if bandit == "Bernoulli":  # equal rewards make equal indices, and other ties
        apart = every.regret[0, :, -1].mean() - window.regret[0, :, -1].mean()
        assert abs(apart) < 60
    else:
        assert np.array_equal(every.pulls, window.pulls)
        assert np.array_equal(every.regret, window.regret)


@pytest.mark.parametrize("policy", [KLUCB(), MOSS(noise=0.3, horizon=900)])
def test_they_are_for_a_root_that_is_searched_and_for_a_horizon_too(policy: Policy) -> None:
    """Rewards from many in [0, 1], so that nothing ties."""
    rng = np.random.default_rng(5)
    bandit = Bandit.resampling([rng.beta(a, 2, 800) for a in (3, 2.5, 1)])
    effort: dict[str, Any] = {"horizon": 3_000, "runs": 8, "seed": 2, "checkpoints": 9}
    every = simulate(policy, bandit, engine="every-round", **effort)
    window = simulate(policy, bandit, engine="events", **effort)
    assert np.array_equal(every.pulls, window.pulls)
    assert np.array_equal(every.regret, window.regret)


def test_interpreted_and_compiled_windows_are_alike() -> None:
    policy, world = UCB(), world_of(BANDITS["biased"])
    regret, pulls = np.empty((2, 1)), np.empty((2, 10), np.int64)
    desk, rounds = WINDOWS.lay_out(world, policy), np.array([700])
    with wrapping():
        assert WINDOWS.play_runs(
            policy, world, keys_of(3, policy.name), 0, rounds, desk, regret, pulls
        )
    fast = simulate(policy, BANDITS["biased"], horizon=700, runs=2, seed=3, checkpoints=1)
    assert np.array_equal(fast.pulls[0], pulls)


@dataclass(frozen=True, kw_only=True)
class Impatient(UCB):
    """A child whose radius shrinks: its parent's promise does not hold."""

    def sample(self, belief: Posterior, now: Round, z: Draws) -> float:
        return belief.mean + belief.sd / now.t


@dataclass(frozen=True, kw_only=True)
class Patient(UCB):
    """A child that changes nothing of the index."""

    def explain(self, arm: ArmEvidence, now: Round, z: Draws) -> dict[str, float]:
        return {"t": float(now.t)}


def test_a_child_that_changes_the_index_does_not_inherit_the_promise() -> None:
    events = ENGINES["events"]
    assert events.loop_for(Impatient, BANDITS["biased"]) is EVERY_ROUND
    assert events.loop_for(Patient, BANDITS["biased"]) is WINDOWS
