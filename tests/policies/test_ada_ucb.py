"""ADA-UCB by hand, and against a naive simulator that plays the same arms."""

import math
from typing import Any

import numpy as np
import pytest
from naive_runs import Array, naive_pulls

from driftanchor import AdaUCB, Bandit, Evidence, InvalidInput, Learner, Round, simulate
from driftanchor.policies.ada_ucb import rivals, upper_bound

BANDIT = Bandit([0.8, 0.5, 0.45, 0.1], noise=0.6)


def evidence(pulls: list[int], totals: list[float], playable: list[bool]) -> Evidence:
    n, none = np.array(pulls), np.zeros(len(pulls))
    return Evidence(
        n,
        np.array(totals),
        n * 0,
        none,
        none,
        np.array(playable),
        np.zeros((len(n), 0)),
        n * 0,
        none,
    )


def test_rivals_by_hand() -> None:
    seen = evidence([16, 4, 1, 0], [0.0] * 4, [True] * 4)
    assert [rivals(seen, i) for i in range(4)] == [16 + 8 + 4, 4 + 4 + 2, 1 + 1 + 1, 0]


def test_arms_that_cannot_be_played_are_no_rivals() -> None:
    seen = evidence([16, 4, 1], [0.0] * 3, [True, False, True])
    assert [rivals(seen, i) for i in range(3)] == [16 + 4, 4 + 4 + 2, 1 + 1]


@pytest.mark.parametrize(
    ("policy", "t"), [(AdaUCB(noise=3.0, horizon=56), 9), (AdaUCB(noise=3.0), 56)]
)
def test_the_bound_by_hand(policy: AdaUCB, t: int) -> None:
    seen = evidence([16, 4, 1], [8.0, 2.0, 1.0], [True] * 3)
    x = 56 / 28 + math.e  # H = 16 + 8 + 4
    wide = 0.5 + 3 * math.sqrt(2 * math.log(x * math.sqrt(math.log(x))) / 16)
    assert upper_bound(policy, seen, 0, Round(t, 3)) == pytest.approx(wide, rel=1e-14)


def test_an_unpulled_arm_comes_first() -> None:
    seen = evidence([16, 0], [8.0, 0.0], [True, True])
    assert upper_bound(AdaUCB(), seen, 1, Round(17, 2)) == math.inf


@pytest.mark.parametrize("horizon", [0, 300])
def test_a_naive_simulator_plays_the_same_arms(horizon: int) -> None:
    def indices(pulls: Array, totals: Array, t: int) -> Array:
        crowd: Array = np.minimum(pulls[:, None], np.sqrt(np.outer(pulls, pulls))).sum(axis=1)
        x = (horizon or t) / crowd + math.e
        width = np.log(x * np.sqrt(np.log(x)))
        return totals / pulls + 0.6 * np.sqrt(2 / pulls * width)

    policy = AdaUCB(noise=0.6, horizon=horizon)
    result = simulate(policy, BANDIT, horizon=300, runs=3, seed=6, engine="every-round")
    ours = result.pulls[0]
    for run in range(3):
        assert naive_pulls(indices, BANDIT, 300, 6, run).tolist() == ours[run].tolist()


def test_a_live_kernel_plays_the_same_arms_while_arms_come_and_go() -> None:
    def played(*, compiled: bool) -> list[str]:
        learner = Learner(AdaUCB(), arms=[f"arm {i}" for i in range(9)], seed=5)
        assert not compiled or learner._decider.prepare()
        arms = []
        for i in range(80):
            arms.append(learner.pull(exclude=[f"arm {i % 9}"] if i % 3 == 0 else []))
            learner.update(arms[-1], float(i % 2))
        return arms

    interpreted = played(compiled=False)  # first: later learners find the kernel
    assert played(compiled=True) == interpreted


def test_its_explanation_has_the_bound_of_every_arm() -> None:
    learner = Learner(AdaUCB(), arms=["A", "B"], seed=4)
    learner.update(["A", "A", "B"], [0.5, 0.7, 0.1])
    arm, told = learner.pull(), learner.explain()
    assert told.arms[arm].index == max(one.index for one in told.arms.values())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"c": -2}, "c of policy 'ada-ucb' must be greater than 0, got -2"),
        ({"horizon": "all"}, "horizon of policy 'ada-ucb' must be a number, got 'all'"),
    ],
)
def test_unusable_parameters_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        AdaUCB(**parameters)
