"""Difference: estimates and intervals by hand, and how they read."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from driftanchor import (
    Bandit,
    InvalidInput,
    Law,
    Result,
    UnknownName,
    random_bandit,
    simulate,
)
from driftanchor.core.stats.bounded_mean import bounded_mean_interval
from driftanchor.render.numbers import interval, rounded
from driftanchor.simulation import ENGINES
from driftanchor.simulation.result import Difference

MOST = 400.0
RNG = np.random.default_rng(2)
SHARED = RNG.normal(100, 30, 400)
FINALS = np.stack([SHARED + RNG.normal(0, 1, 400), SHARED + 5, 3 * RNG.exponential(9, 400)])


def result(engine: str = "thinned", runs: int = 400) -> Result:
    regret = FINALS[:, :runs, None]
    pulls = np.zeros((3, runs, 2), np.int64)
    return Result(("a", "b", "c"), np.array([10]), regret, pulls, 0, engine, MOST)


def test_a_mean_difference_is_that_of_pairs() -> None:
    found = result().compare("a", "b")
    pairs = FINALS[0] - FINALS[1]
    assert (found.first, found.second, found.statistic, found.runs) == ("a", "b", "mean", 400)
    assert found.estimate == pytest.approx(pairs.mean())
    assert (found.low, found.high) == bounded_mean_interval(pairs, -MOST, MOST, 1 - 0.95)
    back = result().compare("b", "a")
    assert [back.low, back.high] == pytest.approx([-found.high, -found.low])
    wider = result().compare("a", "b", level=0.99)
    assert wider.low < found.low < found.high < wider.high


def test_quantiles_are_compared_too() -> None:
    for statistic, quantile in {"median": 0.5, "q90": 0.9, "q99": 0.99}.items():
        found = result().compare("a", "c", statistic=statistic)
        one, other = np.quantile(FINALS[[0, 2]], quantile, axis=1)
        assert found.estimate == pytest.approx(one - other)
        assert found.low < found.estimate < found.high


@pytest.mark.parametrize("engine", ENGINES)
def test_it_says_whether_policies_met_the_same_rewards(engine: str) -> None:
    found = result(engine).compare("a", "b")
    assert found.paired == ENGINES[engine].paired
    met = "the same rewards" if found.paired else "the same logs and other rewards"
    assert str(found).endswith(f" at 95 %, 400 runs with {met}")


def test_it_reads_as_one_line() -> None:
    found = result().compare("a", "b", level=0.5)
    shown = (
        f"mean regret of a − b: {rounded(found.estimate)} ({interval(found.low, found.high)}) at "
        "50 %, 400 runs with the same"
    )
    assert repr(found) == f"<Difference: {shown} rewards>"


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("a", "d"), {}, "unknown policy 'd'"),
        (("a", "a"), {}, "second is 'a' twice: name two policies"),
        (("a", "b"), {"statistic": "mode"}, "unknown statistic 'mode'; did you mean"),
        (("a", "b"), {"level": 1}, "level must be at most 1, got 1"),
        (("a", "b"), {"level": 0}, "level must be greater than 0, got 0"),
    ],
)
def test_what_cannot_be_compared_is_named(
    arguments: tuple[str, str], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        result().compare(*arguments, **options)


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    """200 experiments of 40 runs at 90 %: 20 misses are due at most; 42 have a chance of 1e-6."""
    bandit = Bandit([0.5, 0.4])
    many = simulate(["ts", "ucb"], bandit, horizon=20, runs=8_000, seed=3, engine="every-round")
    truth = many.compare("ts", "ucb").estimate
    held = 0
    for part in np.split(many.regret, 200, axis=1):
        one = dataclasses.replace(many, regret=part)
        found = one.compare("ts", "ucb", level=0.9)
        held += found.low < truth < found.high
    assert held > 200 - 42
    with pytest.raises(UnknownName):
        many.compare("ts", "moss")


def compared(law: Law, runs: int, **options: Any) -> tuple[Difference, Difference]:
    """Compare TS with UCB in a random bandit: by each run's gaps, and by the range of the law."""
    bandit = random_bandit(law, 10)
    found = simulate(["ts", "ucb"], bandit, horizon=1_000, runs=runs, seed=1, checkpoints=1)
    ranged = dataclasses.replace(found, drawn=None)
    return found.compare("ts", "ucb", **options), ranged.compare("ts", "ucb", **options)


def test_normal_means_are_compared_by_the_gaps_of_each_run() -> None:
    """The range of a normal law is 28 standard deviations, and no run has such a gap."""
    few, ranged = compared(Law.normal(0, 1), 500)
    assert few.estimate == ranged.estimate
    assert few.low < few.estimate < few.high
    assert few.high - few.low < 0.25 * (ranged.high - ranged.low)
    many, ranged = compared(Law.normal(0, 1), 5_000)
    assert ranged.low < 0 < ranged.high
    assert many.low < many.high < 0
    few, ranged = compared(Law.normal(0, 1), 100, statistic="q99")
    assert few.high - few.low < 0.3 * (ranged.high - ranged.low)


def test_means_that_often_reach_the_ends_of_their_law_are_compared_by_its_range() -> None:
    found, ranged = compared(Law.uniform(0, 1), 200)
    assert (found.low, found.high) == (ranged.low, ranged.high)


def test_the_interval_by_gaps_holds_the_truth_as_often_as_it_says() -> None:
    """200 experiments of 40 runs at 90 %: 20 misses are due at most; 42 have a chance of 1e-6."""
    bandit = random_bandit(Law.normal(0, 1), 3)
    effort: dict[str, Any] = {"horizon": 20, "runs": 8_000, "seed": 3, "engine": "every-round"}
    many = simulate(["ts", "ucb"], bandit, **effort)
    truth, gaps, held = many.compare("ts", "ucb").estimate, many.drawn, 0
    assert gaps is not None
    for i in range(200):
        runs = slice(40 * i, 40 * i + 40)
        part = gaps._replace(best=gaps.best[runs], worst=gaps.worst[runs])
        one = dataclasses.replace(many, regret=many.regret[:, runs], drawn=part)
        found = one.compare("ts", "ucb", level=0.9)
        held += found.low < truth < found.high
    assert held > 200 - 42
