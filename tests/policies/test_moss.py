"""MOSS by hand, and against a naive simulator that plays the same arms."""

import math
from typing import Any

import numpy as np
import pytest
from naive_runs import Array, naive_pulls

from driftanchor import MOSS, ArmEvidence, Bandit, Draws, InvalidInput, Round, simulate

SILENT = Draws(0.0, 0.0, 0.0)
ARM = ArmEvidence(pulls=2, total=1.0, offline_pulls=50, offline_mean=9.0, bias_bound=0.1)
BANDIT = Bandit([0.8, 0.5, 0.1], noise=0.6)


@pytest.mark.parametrize(
    ("policy", "t", "expected"),
    [
        (MOSS(horizon=16), 3, 0.5 + 2 * math.sqrt(math.log(4) / 2)),  # n/(K T) = 16/4
        (MOSS(horizon=16), 900, 0.5 + 2 * math.sqrt(math.log(4) / 2)),  # the round does not matter
        (MOSS(), 16, 0.5 + 2 * math.sqrt(math.log(4) / 2)),  # it stands for n
        (MOSS(), 4, 0.5),  # the share is used up
        (MOSS(), 1, 0.5),
        (MOSS(noise=3.0, c=2.0), 16, 0.5 + 3 * math.sqrt(math.log(4))),
    ],
)
def test_the_index_by_hand(policy: MOSS, t: int, expected: float) -> None:
    assert policy.index(ARM, Round(t, 2), SILENT) == pytest.approx(expected, rel=1e-14)


def test_an_unpulled_arm_comes_first() -> None:
    assert MOSS().index(ARM._replace(pulls=0, total=0.0), Round(5, 2), SILENT) == math.inf


@pytest.mark.parametrize("horizon", [0, 400])
def test_a_naive_simulator_plays_the_same_arms(horizon: int) -> None:
    def indices(pulls: Array, totals: Array, t: int) -> Array:
        share = (horizon or t) / (3 * pulls)
        return totals / pulls + 0.6 * np.sqrt(4 * np.log(np.maximum(share, 1)) / pulls)

    policy = MOSS(noise=0.6, horizon=horizon)
    result = simulate(policy, BANDIT, horizon=400, runs=3, seed=6, engine="every-round")
    ours = result.pulls[0]
    for run in range(3):
        assert naive_pulls(indices, BANDIT, 400, 6, run).tolist() == ours[run].tolist()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"c": 0}, "c of policy 'moss' must be greater than 0, got 0"),
        ({"horizon": -5}, "horizon of policy 'moss' must be at least 0, got -5"),
        ({"horizon": None}, "horizon of policy 'moss' must be a number, got None"),
    ],
)
def test_unusable_parameters_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        MOSS(**parameters)
