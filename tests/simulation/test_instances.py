"""Random bandits: every run has means of its own, and the engines play in them exactly."""

from __future__ import annotations

import pickle
import re
from typing import Any

import numpy as np
import pytest

from driftanchor import Bandit, InvalidInput, Law, random_bandit, simulate
from driftanchor.simulation import ENGINES, instance_of

WORLDS = {
    "normal, V of each run": random_bandit(Law.normal(0, 1), 3, 20, bias=Law.uniform(-0.5, 0.1)),
    "V declared, noise of each arm": random_bandit(
        Law.uniform(0, 1), 3, [9, 0, 4], 0.2, noise=[0.5, 1, 2], bias=Law.normal(0, 0.1)
    ),
    "Bernoulli": random_bandit(
        Law.beta(2, 3), 2, 5, reward="bernoulli", bias=Law.uniform(-0.9, 0.9)
    ),
    "late and moved together": random_bandit(
        Law.normal(0, 1), 2, 5, relative_bound=0.1, common_shift=-3, delay=2, batch=3
    ),
}
EFFORT: dict[str, Any] = {"horizon": 60, "seed": 4, "checkpoints": 3}


@pytest.mark.parametrize("engine", sorted({*ENGINES} - {"processes"}))
@pytest.mark.parametrize("world", WORLDS)
def test_a_run_is_that_of_the_bandit_it_drew(world: str, engine: str) -> None:
    """To the bit, in every engine: the means, the logs, the bounds and the gaps are its own."""
    bandit = WORLDS[world]
    # Where rewards come late, those whose kernels are compiled for other tests too.
    policies = ["ts", "guarded-anchor-ts"] if bandit.is_late else ["anchor-ts", "min-ucb"]
    found = simulate(policies, bandit, runs=3, engine=engine, **EFFORT)
    for run in range(3):
        alone = instance_of(bandit, seed=4, run=run)
        played = simulate(policies, alone, runs=run + 1, engine=engine, **EFFORT)
        assert np.array_equal(found.regret[:, run], played.regret[:, run])
        assert np.array_equal(found.pulls[:, run], played.pulls[:, run])


def test_instances_differ_by_run_and_seed_alone() -> None:
    bandit = WORLDS["normal, V of each run"]
    one = instance_of(bandit, seed=4, run=0)
    again = instance_of(pickle.loads(pickle.dumps(bandit)), seed=4, run=0)
    assert np.array_equal(one.online, again.online)
    assert np.array_equal(one.bias_bound, np.abs(one.shift))
    for seed, run in ((4, 1), (5, 0)):
        other = instance_of(bandit, seed=seed, run=run)
        assert not np.isin(other.online, one.online).any()
        assert not np.isin(other.offline, one.offline).any()
    assert bandit.online.tolist() == [0.0, 0.0, 0.0]  # the mean of the law, as it was
    plain = Bandit([1.0])
    assert instance_of(plain, seed=1, run=1) is plain


def test_logged_means_of_chances_are_chances() -> None:
    drawn = [instance_of(WORLDS["Bernoulli"], seed=1, run=run).offline for run in range(50)]
    assert np.min(drawn) == 0.0
    assert np.max(drawn) == 1.0


def test_gaps_are_the_most_that_a_pull_may_lose() -> None:
    bandit = random_bandit(Law.uniform(-1, 2), 3)
    assert bandit.gaps.tolist() == [3.0] * 3
    result = simulate("ucb", bandit, runs=50, horizon=10, engine="interpreted")
    assert result.final("ucb").max() <= 10 * bandit.gaps.max()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"means": 0.5}, "means must be a Law such as Law.normal(0, 1), got 0.5"),
        ({"bias": "small"}, "bias must be a Law such as Law.normal(0, 1), got 'small'"),
        ({"arms": 0}, "arms must be between 1 and 1e+06, got 0"),
        ({"common_shift": None}, "common_shift must be a number, got None"),
        ({"reward": "bernoulli"}, "means are normal(mean=0, sd=1), moved by 0, and may leave 0 to"),
        (
            {"reward": "bernoulli", "means": Law.beta(1, 1), "common_shift": 0.1},
            "means are beta(a=1, b=1), moved by 0.1, and may leave 0 to 1",
        ),
        ({"offline_pulls": [1]}, "offline_pulls has 1 values for 2 arms"),
    ],
)
def test_an_impossible_one_is_refused(arguments: dict[str, Any], message: str) -> None:
    possible: dict[str, Any] = {"means": Law.normal(0, 1), "arms": 2}
    with pytest.raises(InvalidInput, match=re.escape(message)):
        random_bandit(**(possible | arguments))
