"""Beta-TS against exact chances and against a naive simulator, with false-alarm rates of 1e-6."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from driftanchor import TS, Bandit, BetaTS, Evidence, InvalidInput, Learner, Round, simulate
from driftanchor.core.noise import keyed_stream, wrapping

if TYPE_CHECKING:
    from conftest import Chance

FALSE_ALARM = 1e-6


def evidence(pulls: list[int], totals: list[float]) -> Evidence:
    n, none = np.array(pulls), np.zeros(len(pulls))
    return Evidence(
        n, np.array(totals), n * 0, none, none, n >= 0, np.zeros((len(n), 0)), n * 0, none
    )


def beats(a: int, b: int, c: int, d: int) -> Fraction:
    """P(Beta(a, b) > Beta(c, d)), exactly: integrate the binomial sum of the one over the other."""
    n, rest = a + b - 1, Fraction(0)
    for k in range(a, n + 1):  # P(Beta(a, b) ≤ x) = Σ comb x^k (1−x)^(n−k)
        top = Fraction(comb(c + d - 2, c - 1) * (c + d - 1))
        ways = comb(n, k) * top
        rest += ways / ((n + c + d - 1) * comb(n + c + d - 2, k + c - 1))
    return 1 - rest


@pytest.mark.parametrize(
    ("pulls", "wins"), [([3, 2], [2, 1]), ([0, 9], [0, 5]), ([20, 20], [9, 11])]
)
def test_arms_are_played_with_the_exact_chance_to_be_better(
    pulls: list[int], wins: list[float], chance: Chance
) -> None:
    seen, draws, stream = evidence(pulls, wins), 6_000, keyed_stream(1, f"{pulls}", 0)
    with wrapping():
        first = sum(BetaTS().choose(seen, Round(9, 2), stream) == 0 for _ in range(draws))
    (s, f), (u, v) = ((int(w) + 1, n - int(w) + 1) for n, w in zip(pulls, wins, strict=True))
    share = float(beats(s, f, u, v))
    due = draws * np.array([share, 1 - share])
    chance.fits([first, draws - first], due, false_alarm=FALSE_ALARM)


def test_a_naive_simulator_pulls_as_often(chance: Chance) -> None:
    means, runs, horizon = np.array([0.7, 0.5, 0.4]), 400, 60
    rng = np.random.default_rng(3)
    wins, losses = np.zeros((runs, 3)), np.zeros((runs, 3))
    for _ in range(horizon):
        arm = rng.beta(1 + wins, 1 + losses).argmax(axis=1)
        won = rng.random(runs) < means[arm]
        np.add.at(wins, (np.arange(runs), arm), won)
        np.add.at(losses, (np.arange(runs), arm), ~won)
    coins = Bandit(means, reward="bernoulli")
    ours = simulate("beta-ts", coins, horizon=horizon, runs=runs, engine="every-round")
    for arm in range(3):
        theirs = wins[:, arm] + losses[:, arm]
        chance.same_mean(ours.pulls[0, :, arm], theirs, false_alarm=FALSE_ALARM / 3)


def test_rewards_that_are_not_coins_are_refused_where_they_meet_it() -> None:
    told = r"policy 'beta-ts' is for rewards from 0 to 1, and gaussian rewards go from -inf to inf"
    with pytest.raises(InvalidInput, match=f"^{told}: give rewards in that range, or use a policy"):
        simulate([TS(), BetaTS()], Bandit([0.5, 0.4]), horizon=2, runs=1)
    with pytest.raises(InvalidInput, match="resampled rewards go from 0 to 3"):
        simulate(BetaTS(), Bandit.resampling([[0, 1], [3, 0]]), horizon=2, runs=1)
    with pytest.raises(InvalidInput, match="and rewards in reward_range go from 0 to 5"):
        Learner(BetaTS(), arms=["A"], reward_range=(0, 5))


def test_parts_of_a_success_are_accepted() -> None:
    parts = Bandit.resampling([[0.25, 0.75], [0.5, 0.1]])
    result = simulate("beta-ts", parts, horizon=20, runs=2, engine="interpreted")
    assert (result.pulls.sum(axis=2) == 20).all()


def test_a_learner_takes_its_range_from_the_policy() -> None:
    learner = Learner(BetaTS(), arms=["A", "B"], seed=4)
    assert learner.terms.reward_range == (0.0, 1.0)
    learner.update(["A", "B"], [1.0, 0.3])
    with pytest.raises(InvalidInput, match="reward of arm 'A' must be between 0 and 1, got -1"):
        learner.update("A", -1)
    narrow = Learner(BetaTS(), arms=["A", "B"], reward_range=(0, 0.5))
    assert narrow.terms.reward_range == (0.0, 0.5)
    again = Learner.from_json(learner.to_json())
    assert (again.pull(), again.explain()) == (learner.pull(), learner.explain())


def test_its_explanation_has_the_sample_of_every_arm() -> None:
    learner = Learner(BetaTS(), arms=["A", "B", "C"], seed=4)
    arm = learner.pull()
    told: Any = learner.explain()
    assert told.arms[arm].index == max(one.index for one in told.arms.values())
    assert all(0 < one.index < 1 for one in told.arms.values())
