"""Bandit: valid worlds pass and invalid ones are named; logs cover the arms as asked."""

from __future__ import annotations

import math
import pickle
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftanchor import TS, AnchorTS, Bandit, BetaTS, InvalidInput, UnknownName
from driftanchor.core.check import Floats
from driftanchor.simulation import COVERAGES, cover
from driftanchor.simulation.bandit import stack_means, with_means
from driftanchor.simulation.chunk import Chunk, play


def test_scalars_count_for_every_arm() -> None:
    bandit = Bandit([0.8, 0.5], 0.6, 20, 0.3, noise=2)
    assert bandit.offline.tolist() == [0.6, 0.6]
    assert bandit.offline_pulls.tolist() == [20, 20]
    assert bandit.bias_bound.tolist() == [0.3, 0.3]
    assert (bandit.reward, bandit.noise) == ("gaussian", 2.0)


def test_arms_may_differ_in_noise() -> None:
    bandit = Bandit([0.8, 0.5], noise=[0.5, 2])
    assert (bandit.noise, bandit.arm_noise.tolist()) == (2.0, [0.5, 2.0])
    assert Bandit([0.8, 0.5], noise=3).arm_noise.tolist() == [3.0, 3.0]


def test_lists_arrays_and_generators_of_means_are_the_same() -> None:
    means = [0.8, 0.5]
    given_as: list[Any] = [means, tuple(means), np.array(means), (mean for mean in means)]
    for online in given_as:
        assert Bandit(online).online.tolist() == means


def test_the_truth_is_the_bias_bound_unless_told_otherwise() -> None:
    bandit = Bandit([0.8, 0.5], [0.5, 0.75], 10)
    assert bandit.bias_bound.tolist() == pytest.approx([0.3, 0.25])
    assert bandit.shift.tolist() == pytest.approx([0.3, -0.25])
    assert Bandit([0.8], [0.5], 10, bias_bound=math.inf).bias_bound.tolist() == [math.inf]


def test_gaps_are_what_a_pull_loses_against_the_best_arm() -> None:
    assert Bandit([0.25, 0.75, 0.75, -1.0]).gaps.tolist() == [0.5, 0.0, 0.0, 1.75]


def test_without_logs_no_offline_mean_is_needed() -> None:
    bandit = Bandit([0.8, 0.5])
    assert bandit.offline_pulls.tolist() == [0, 0]
    assert bandit.shift.tolist() == [0.0, 0.0]


def test_arms_are_numbered_from_one() -> None:
    assert list(Bandit([0.8, 0.5]).arms) == ["1", "2"]


def test_nothing_in_a_bandit_can_be_changed() -> None:
    means = np.array([0.8, 0.5])
    bandit: Any = Bandit(means, means, 5)
    means[0] = 9.0
    assert bandit.online.tolist() == bandit.offline.tolist() == [0.8, 0.5]
    for name in ("online", "offline", "offline_pulls", "bias_bound"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(bandit, name)[0] = 1
    with pytest.raises(AttributeError):
        bandit.noise = 2.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"online": []}, "online is empty: give the mean of at least one arm"),
        ({"online": [1e200]}, "online of arm '1' must be at most 1e+90, got 1e+200"),
        ({"offline_pulls": [3, -1]}, "offline_pulls of arm '2' must be at least 0, got -1"),
        (
            {"offline": None, "offline_pulls": [0, 7]},
            "offline_pulls of arm '2' is 7 and offline is missing: give the offline means, or "
            "offline=online for unbiased logs",
        ),
        ({"bias_bound": [0.1, -0.1]}, "bias_bound of arm '2' must be at least 0, got -0.1"),
        ({"bias_bound": {"3": 0.1}}, "unknown arm '3'"),
        ({"reward": "poisson"}, "unknown reward 'poisson'; known: gaussian, bernoulli, student"),
        ({"noise": 0}, "noise must be greater than 0, got 0"),
        ({"noise": [1.0, 0.0]}, "noise of arm '2' must be greater than 0, got 0"),
        (
            {"online": [0.5, 1.2], "reward": "bernoulli"},
            "online of arm '2' must be between 0 and 1, got 1.2",
        ),
        (
            {"offline": [0.5, -0.2], "reward": "bernoulli"},
            "offline of arm '2' must be between 0 and 1, got -0.2",
        ),
        ({"logs": "fixed"}, "unknown logs 'fixed'; known: drawn, given"),
        ({"delay": -1}, "delay must be between 0 and 1e+07, got -1"),
        ({"batch": 0}, "batch must be between 1 and 1e+07, got 0"),
        ({"relative_bound": -0.1}, "relative_bound of arm '1' must be at least 0, got -0.1"),
        ({"relative_bound": 0.1, "offline_pulls": 0}, "relative_bound is given and no arm has"),
        (
            {"relative_bound": 0.1, "offline_pulls": [5, 0]},
            "only arm '1' has both: with one logged arm a common move cannot be separated",
        ),
        (
            {"common_shift": 0.3, "reward": "bernoulli"},
            "common_shift is 0.3 and moves the online mean of arm '1' to 1.1: it must stay between",
        ),
    ],
)
def test_an_impossible_bandit_is_refused(arguments: dict[str, Any], message: str) -> None:
    possible: dict[str, Any] = {"online": [0.8, 0.5], "offline": [0.5, 0.6], "offline_pulls": 5}
    with pytest.raises(InvalidInput, match=re.escape(message)):
        Bandit(**(possible | arguments))


def test_the_range_of_rewards_and_who_is_made_for_it() -> None:
    coins = Bandit([0.8, 0.5], reward="bernoulli")
    pools = Bandit.resampling([[0.5, 0.25], [1.0]], common_shift=2.0)
    assert [x.reward_range for x in (coins, pools)] == [(0.0, 1.0), (2.25, 3.0)]
    for law in ("gaussian", "student"):
        assert Bandit([0.5], reward=law).reward_range == (-math.inf, math.inf)
    coins.check_policy(BetaTS())
    pools.check_policy(TS())
    with pytest.raises(InvalidInput, match=r"resampled rewards go from 2\.25 to 3: give rewards"):
        pools.check_policy(BetaTS())


POOLS = [[0.0, 1.0, 1.0, 5.0], [0.5], [-1.0, 2.0, 0.25]]


@pytest.mark.parametrize(
    ("rewards", "message"),
    [
        ([[1.0], []], "rewards of arm 2 must be a list of at least one number, got []"),
        ([[1.0], 3.0], "rewards of arm 2 must be a list of at least one number, got 3.0"),
        ([["a"]], "rewards of arm 1 must be a list of numbers, got ['a']"),
        ([[1.0, math.nan]], "rewards of arm 1 must be finite and at most 1e+90, got nan"),
        (3, "rewards must be a list of values, got 3"),
        ([], "rewards is empty: give the rewards of at least one arm"),
    ],
)
def test_impossible_rewards_are_refused(rewards: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match="^" + re.escape(message)):
        Bandit.resampling(rewards)


def test_resampled_rewards_have_the_means_of_what_was_observed_and_move_together() -> None:
    bandit = Bandit.resampling(POOLS, [1.0, 0.5, 0.5], [20, 0, 9], 0.3)
    assert bandit.online.tolist() == [1.75, 0.5, pytest.approx(1.25 / 3)]
    assert (bandit.reward, bandit.logs) == ("resampled", "given")
    moved = Bandit.resampling(POOLS, 0.5, 4, relative_bound=0.25, common_shift=0.5)
    assert moved.online.tolist() == [2.25, 1.0, pytest.approx(0.5 + 1.25 / 3)]
    assert moved.pools[2].tolist() == [-0.5, 2.5, 0.75]
    assert moved.bias_bound.tolist() == [math.inf] * 3


MEANS = [0.75, 0.5, 0.25]


def test_a_common_shift_is_part_of_the_online_means() -> None:
    moved = Bandit(MEANS, MEANS, 16, relative_bound=0.125, common_shift=-2.0)
    assert moved.online.tolist() == [-1.25, -1.5, -1.75]
    assert moved.offline.tolist() == MEANS
    assert moved.shift.tolist() == [-2.0] * 3
    assert moved.gaps.tolist() == Bandit(MEANS).gaps.tolist()


def test_the_default_promises() -> None:
    levels = Bandit(MEANS, MEANS, 16, common_shift=0.5)
    assert levels.bias_bound.tolist() == [0.5] * 3  # the truth
    assert levels.relative_bound.tolist() == [math.inf] * 3
    assert not levels.is_relative
    moved = Bandit(MEANS, MEANS, 16, relative_bound=0.125)
    assert moved.is_relative
    assert moved.bias_bound.tolist() == [math.inf] * 3
    both = Bandit(MEANS, MEANS, 16, 0.5, relative_bound=[0.1, 0.2, math.inf])
    assert (both.bias_bound[0], both.relative_bound.tolist()) == (0.5, [0.1, 0.2, math.inf])
    assert Bandit(MEANS, 0.5, 5, [0.0, 0.2, 0.0], relative_bound=0.2).is_relative


@pytest.mark.parametrize(
    "bandit",
    [
        Bandit([0.8, 0.5], [0.5, 0.6], [5, 0], [math.inf, 0.2], "bernoulli"),
        Bandit([0.6, 0.5], [0.5, 0.6], 9, logs="given", delay=3, batch=2, reward="student"),
        Bandit([0.1, 0.7], [0.3, 0.2], 9, relative_bound=[0.1, 0.3], common_shift=0.1),
        Bandit.resampling(POOLS, 0.3, 9, relative_bound=0.1, common_shift=0.2),
    ],
)
def test_a_bandit_is_the_same_in_another_process(bandit: Bandit) -> None:
    copy = pickle.loads(pickle.dumps(bandit))
    arrays = "online", "offline", "offline_pulls", "bias_bound", "relative_bound", "arm_noise"
    for array in arrays:
        assert np.array_equal(getattr(copy, array), getattr(bandit, array))
    for name in ("reward", "noise", "logs", "delay", "batch", "common_shift"):
        assert getattr(copy, name) == getattr(bandit, name)
    assert [pool.tolist() for pool in copy.pools] == [pool.tolist() for pool in bandit.pools]


def test_the_base_settings_of_the_paper() -> None:
    biased = Bandit.paper(biased=True)
    assert biased.online.tolist() == [0.8] + [0.5] * 9
    assert biased.offline.tolist() == [0.5] + [0.6] * 9
    assert biased.offline_pulls.tolist() == [200] * 10
    assert biased.bias_bound.tolist() == pytest.approx([0.3] + [0.1] * 9)
    assert (biased.reward, biased.noise) == ("gaussian", 1.0)
    unbiased = Bandit.paper(biased=False, gap=0.1, arms=3, total=10, coverage="suboptimal")
    assert unbiased.online.tolist() == unbiased.offline.tolist() == [0.6, 0.5, 0.5]
    assert unbiased.bias_bound.tolist() == [0.0] * 3
    assert unbiased.offline_pulls.tolist() == [1, 8, 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"biased": "no"}, "biased must be True or False, got 'no'"),
        ({"gap": -0.1}, r"gap must be at least 0, got -0\.1"),
        ({"arms": 1}, "arms must be between 2 and .*, got 1"),
        ({"total": -1}, "total must be at least 0, got -1"),
        ({"coverage": "optimum"}, "unknown coverage 'optimum'; did you mean 'optimal'"),
    ],
)
def test_an_impossible_setting_of_the_paper_is_refused(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        Bandit.paper(**({"biased": True} | arguments))


ROWS = np.array([[0.8, 0.5, 0.1], [0.2, 0.6, 0.3], [0.4, 0.4, 0.9]])


def bandit_of(row: Floats, pulls: int = 30) -> Bandit:
    return Bandit(row, [0.7, 0.5, 0.2], pulls, 0.2, noise=0.5, logs="given")


def chunk(bandit: Bandit, first: int, runs: int, means: Floats | None = None) -> Chunk:
    return Chunk("x", AnchorTS(), bandit, np.array([60]), "interpreted", 4, first, runs, means)


def test_bandits_played_together_give_the_numbers_of_each_alone() -> None:
    bandits = [*with_means(bandit_of(ROWS[0]), ROWS)]
    alone = [play(chunk(bandit_of(row), w, 1)) for w, row in enumerate(ROWS, start=7)]
    regret, pulls = (np.concatenate(x) for x in zip(*alone, strict=True))
    whole = chunk(bandits[0], 7, 3, stack_means(bandits))
    for pieces in ([whole], [*whole.cut(2)]):
        played = [np.concatenate(x) for x in zip(*map(play, pieces), strict=True)]
        assert (played[0] == regret).all()
        assert (played[1] == pulls).all()


def test_bandits_that_differ_in_more_than_means_are_not_played_together() -> None:
    with pytest.raises(InvalidInput, match="only in their online means"):
        stack_means([bandit_of(ROWS[0]), bandit_of(ROWS[1], pulls=31)])


@pytest.mark.parametrize(
    ("total", "arms", "coverage", "expected"),
    [
        (2000, 10, "uniform", [200] * 10),
        (2000, 10, "optimal", [1600, *[45] * 4, *[44] * 5]),
        (2000, 10, "suboptimal", [45, 1600, *[45] * 3, *[44] * 5]),
        (7, 3, "uniform", [3, 2, 2]),
        (7, 1, "uniform", [7]),
        (0, 2, "optimal", [0, 0]),
        (10, 2, "optimal", [8, 2]),
    ],
)
def test_coverage_by_hand(total: int, arms: int, coverage: str, expected: list[int]) -> None:
    assert cover(total, arms, coverage) == expected


@given(st.integers(0, 10**6), st.integers(2, 60), st.sampled_from(COVERAGES))
def test_coverage_shares_out_everything(total: int, arms: int, coverage: str) -> None:
    shares = cover(total, arms, coverage)
    assert len(shares) == arms
    assert sum(shares) == total
    favoured = {"uniform": None, "optimal": 0, "suboptimal": 1}[coverage]
    rest = [share for arm, share in enumerate(shares) if arm != favoured]
    assert max(rest) - min(rest) <= 1
    if favoured is not None:
        assert shares[favoured] == total * 4 // 5


@given(st.integers(0, 10**6), st.lists(st.integers(0, 50), min_size=1, max_size=9).filter(any))
def test_coverage_by_shares_shares_out_everything(total: int, weights: list[int]) -> None:
    shares = [weight / sum(weights) for weight in weights]
    counts = cover(total, len(weights), shares)
    assert sum(counts) == total
    for count, share in zip(counts, shares, strict=True):
        assert abs(count - total * share) < 1 + 1e-6
        assert count == 0 or share > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, 10, "uniform"), "offline_total must be at least 0, got -1"),
        ((10, 0, "uniform"), "arms must be between 1 and 1e+06, got 0"),
        ((10, 1, "optimal"), "arms must be between 2 and 1e+06, got 1"),
        ((10, 2**62, "uniform"), "arms must be between 1 and 1e+06, got 4611686018427387904"),
        ((10, 2, [0.5, 0.6]), "coverage sums to 1.1: the shares of the arms must sum to 1"),
        ((10, 2, [0.5]), "coverage has 1 values for 2 arms"),
        ((10, 2, [1.5, -0.5]), "coverage of arm '1' must be between 0 and 1, got 1.5"),
    ],
)
def test_an_impossible_coverage_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        cover(*arguments)


def test_an_unknown_coverage_gets_the_nearest() -> None:
    with pytest.raises(UnknownName, match="unknown coverage 'uniforme'; did you mean 'uniform'"):
        cover(10, 2, "uniforme")
