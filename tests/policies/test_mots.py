"""MOTS by hand, and against a naive simulator with a false-alarm rate of 1e-6."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from driftanchor import MOSS, MOTS, ArmEvidence, Bandit, Draws, InvalidInput, Round, simulate

if TYPE_CHECKING:
    from conftest import Chance

FALSE_ALARM = 1e-6
ARM = ArmEvidence(pulls=4, total=2.0, offline_pulls=50, offline_mean=9.0, bias_bound=0.1)
CAP = 0.5 + math.sqrt(4 * math.log(2) / 4)  # n/(K T) = 16/8


@pytest.mark.parametrize(
    ("z", "expected"), [(-3.0, 0.5 - 3.0), (0.0, 0.5), (0.5, 0.5 + 0.5), (1.0, CAP), (9.0, CAP)]
)
def test_a_sample_is_capped(z: float, expected: float) -> None:
    # θ = 2/4 + z/√(4/4), with ρ = 1/4
    policy = MOTS(rho=0.25, horizon=16)
    assert policy.index(ARM, Round(9, 2), Draws(z, 0, 0)) == pytest.approx(expected, rel=1e-14)


def test_the_cap_is_the_index_of_moss() -> None:
    now = Round(50, 3)
    for horizon in (0, 70):
        capped = MOTS(noise=2.0, horizon=horizon).index(ARM, now, Draws(99.0, 0, 0))
        assert capped == MOSS(noise=2.0, horizon=horizon).index(ARM, now, Draws(0, 0, 0))


def test_an_arm_that_had_its_share_is_capped_by_its_mean() -> None:
    assert MOTS().index(ARM, Round(8, 2), Draws(2.0, 0, 0)) == 0.5


def test_an_unpulled_arm_comes_first() -> None:
    unpulled = ARM._replace(pulls=0, total=0.0)
    assert MOTS().index(unpulled, Round(9, 2), Draws(-3.0, 0, 0)) == math.inf


def test_the_parts_of_the_index() -> None:
    parts = MOTS(rho=0.25, horizon=16).explain(ARM, Round(9, 2), Draws(1.0, 0, 0))
    assert parts == {"sample": 1.5, "cap": pytest.approx(CAP)}


def test_a_naive_simulator_pulls_as_often(chance: Chance) -> None:
    means, sd, runs, horizon = np.array([0.6, 0.4, 0.1]), 0.5, 300, 150
    rng = np.random.default_rng(4)
    pulls, totals = np.ones((runs, 3)), rng.normal(means, sd, (runs, 3))
    for _ in range(horizon - 3):
        centre = totals / pulls
        theta = rng.normal(centre, sd / np.sqrt(0.9 * pulls))
        share = np.log(np.maximum(horizon / (3 * pulls), 1))
        arm = np.minimum(theta, centre + sd * np.sqrt(4 * share / pulls)).argmax(axis=1)
        np.add.at(pulls, (np.arange(runs), arm), 1)
        np.add.at(totals, (np.arange(runs), arm), rng.normal(means[arm], sd))
    policy, bandit = MOTS(noise=sd, horizon=horizon), Bandit(means, noise=sd)
    ours = simulate(policy, bandit, horizon=horizon, runs=runs, engine="every-round")
    for arm in range(3):
        theirs = pulls[:, arm]
        chance.same_mean(ours.pulls[0, :, arm], theirs, false_alarm=FALSE_ALARM / 3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rho": 0}, "rho of policy 'mots' must be greater than 0, got 0"),
        ({"alpha": -1}, "alpha of policy 'mots' must be at least 0, got -1"),
        ({"horizon": math.inf}, "horizon of policy 'mots' must be finite, got inf"),
    ],
)
def test_unusable_parameters_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        MOTS(**parameters)
