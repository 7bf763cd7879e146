"""Numbers out of all size are refused when a policy is made; at the limits every policy works."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

from driftanchor import (
    POLICIES,
    TS,
    Bandit,
    Evidence,
    InvalidInput,
    Learner,
    OfflineData,
    Policy,
    Round,
    simulate,
)
from driftanchor.core.check import LARGEST, SMALLEST
from driftanchor.core.noise import keyed_stream, wrapping
from driftanchor.policies import make

WORDS: dict[str, list[Any]] = {
    "base": ["ucb", "ts"],
    "radius": ["ucb1", "cheung-lyu"],
    "reward": ["bernoulli", "gaussian"],
}
SHARES = ("eps", "epsilon", "guard_share")  # between 0 and 1
MEANS = [-LARGEST, -1e10, -1.0, 0.0, 1e-40, 1.0, LARGEST]
BOUNDS = [0.0, 1e-300, 1e-160, SMALLEST, 0.1, 1e50, LARGEST, math.inf]
COUNTS = [0, 1, 9, 10**15]


def limits(policy: type[Policy], parameter: str) -> list[Any]:
    """The ends of what a parameter may be, and what it is by default."""
    usual = getattr(policy(), parameter)
    if parameter in WORDS:
        return WORDS[parameter]
    if parameter in SHARES:
        return [SMALLEST if parameter == "guard_share" else 0.0, usual, 1.0]
    zero = ("alpha", "budget", "clip", "horizon", *(["c"] if policy.name == "kl-ucb" else []))
    lowest = -LARGEST if parameter == "prior_mean" else 0.0 if parameter in zero else SMALLEST
    return [lowest, usual, LARGEST]


@pytest.mark.parametrize("name", POLICIES)
def test_a_parameter_beyond_its_limits_is_refused(name: str) -> None:
    for parameter in {*POLICIES[name]().parameters()} - {*WORDS, *SHARES}:
        low, _, high = limits(POLICIES[name], parameter)
        for beyond in (1e308, 2 * high, *([low / 2] if low == SMALLEST else [low - 1e80])):
            with pytest.raises(InvalidInput, match=f"{parameter} of policy '{name}' must be at "):
                make(name, **{parameter: beyond})


def seen(rng: np.random.Generator, name: str) -> Evidence:
    """Three arms with numbers at their limits."""
    logs = rng.choice(COUNTS[:3] if name == "artificial-replay" else COUNTS, 3)
    pulls = rng.choice(COUNTS, 3)
    return Evidence(
        pulls,
        pulls * rng.choice(MEANS, 3),
        logs,
        np.where(logs > 0, rng.choice(MEANS, 3), 0.0),
        rng.choice(BOUNDS, 3),
        np.ones(3, np.bool_),
        np.zeros((3, POLICIES[name].memory)),
        np.zeros(3, np.int64),
        rng.choice(BOUNDS, 3),
    )


@pytest.mark.parametrize("name", POLICIES)
def test_within_its_limits_every_index_is_a_number(name: str) -> None:
    rng = np.random.default_rng(0)
    for trial in range(150):
        ends = {x: limits(POLICIES[name], x) for x in POLICIES[name]().parameters()}
        rule = make(name, **{x: values[rng.integers(len(values))] for x, values in ends.items()})
        evidence = seen(rng, name)
        now = Round(int(evidence.pulls.sum()) + 1, 3)
        with wrapping(), warnings.catch_warnings():
            warnings.simplefilter("error")
            account = rule.account(evidence, now, keyed_stream(trial, "choose", 0))
        assert 0 <= account.column < 3
        for pulled, (value, parts) in zip(evidence.pulls, account.arms, strict=bool(account.arms)):
            assert -math.inf < value
            assert value < math.inf or pulled == 0
            assert not any(math.isnan(part) for part in parts.values())


def test_noise_at_its_limit_hides_the_arms_and_prefers_none() -> None:
    """Larger noise overflowed, and one arm was played for ever."""
    for engine in ("interpreted", "events"):
        bandit = Bandit([0.9, 0.1, 0.1])
        played = simulate(TS(noise=LARGEST), bandit, horizon=60, runs=30, engine=engine)
        assert (abs(played.pulls.mean(axis=1) - 20) < 2).all()  # 8 standard errors


@pytest.mark.parametrize("variance", [0.0, 1e-200, 1e-101])
def test_logs_that_hardly_vary_leave_the_noise_open(variance: float) -> None:
    logs = OfflineData.from_summary({"A": (9, 0.5, variance), "B": (9, 0.4, variance)})
    with pytest.warns(UserWarning, match="the logs have no variance, so noise=1 is assumed"):
        pupil = Learner(offline=logs, relative_bound=0.1, seed=1)
    assert pupil.policy.noise == 1.0
    ranged = Learner(offline=logs, relative_bound=0.1, reward_range=(0, 1), seed=1)
    assert ranged.policy.noise == 0.5


@pytest.mark.parametrize("name", POLICIES)
def test_the_smallest_noise_serves_a_relative_bound(name: str) -> None:
    logs = OfflineData.from_summary({"A": (9, 0.5 * SMALLEST), "B": (9, 0.4 * SMALLEST)})
    pupil = Learner(make(name, noise=SMALLEST), offline=logs, relative_bound=0.0, seed=1)
    for _ in range(20):
        pupil.update(pupil.pull(), 0.3 * SMALLEST)
    assert pupil.tally.pulls.sum() == 20
    assert pupil.explain().arm in ("A", "B")
