"""The bounds of LUCB-H by hand, and the rule against a second, naive version.

The naive version shares only the rewards and the logs with the rule.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from driftanchor import ArmEvidence, Bandit, Round, identify
from driftanchor.best_arm.lucb import (
    AIM,
    UNDECIDED,
    Interval,
    Rule,
    interval,
    play_run,
    radius,
)
from driftanchor.core.noise import keyed_stream, normal, wrapping
from driftanchor.simulation.engine import allocate_with, keys_of, prepare
from driftanchor.simulation.world import world_of

if TYPE_CHECKING:
    from conftest import Chance

MEANS = [0.9, 0.5, 0.2, 0.0]
BANDIT = Bandit(MEANS, [0.6, 0.7, 0.2, 0.1], [40, 25, 0, 9], [0.3, 0.2, 0.0, math.inf], noise=0.5)
SIGMA, DELTA, SEED = 0.5, 0.1, 7

PAPER, ANYTIME = Rule(2.0, 0.1, False), Rule(2.0, 0.1, True)
NOW = Round(t=40, arms=3)
ARM = ArmEvidence(pulls=4, total=2.0, offline_pulls=12, offline_mean=0.7, bias_bound=0.1)
LEVEL = 2 * math.log(3 * 40 / 0.1)


def test_the_papers_bounds_by_hand() -> None:
    online = (0.5 - 2 * math.sqrt(LEVEL / 4), 0.5 + 2 * math.sqrt(LEVEL / 4))
    wide = 2 * math.sqrt(LEVEL / 16) + 12 * 0.1 / 16
    pooled = ((2 + 12 * 0.7) / 16 - wide, (2 + 12 * 0.7) / 16 + wide)
    assert interval(PAPER, ARM, NOW) == pytest.approx(
        (max(online[0], pooled[0]), min(online[1], pooled[1])), rel=1e-14
    )
    assert pooled[1] < online[1]  # the logs help


def test_each_bound_is_the_tighter_one() -> None:
    far = ARM._replace(offline_mean=6.0)  # the logs are far above: only lower is tighter
    bounds, alone = interval(PAPER, far, NOW), interval(PAPER, far._replace(offline_pulls=0), NOW)
    assert bounds.lower > alone.lower
    assert bounds.upper == alone.upper


def test_logs_that_break_their_promise_may_leave_nothing() -> None:
    sure = ARM._replace(pulls=5_000, total=0.0, offline_pulls=5_000, offline_mean=1.0)
    bounds = interval(PAPER, sure, NOW)
    assert bounds.lower > bounds.upper


@pytest.mark.parametrize("rule", [PAPER, ANYTIME])
def test_logs_of_which_nothing_is_promised_change_nothing(rule: Rule) -> None:
    unknown = ARM._replace(bias_bound=math.inf)
    assert interval(rule, unknown, NOW) == interval(rule, ARM._replace(offline_pulls=0), NOW)


def test_the_anytime_radius_is_the_mixture_of_the_definition() -> None:
    """With v = σ²/n and τ² = σ²/ρ: r² = v (v + τ²)/τ² (log((v + τ²)/v) + 2 log(1/α))."""
    n, alpha, sigma = 37, 0.1 / 3, 2.0
    cost = 2 * math.log(1 / alpha)
    rho = AIM / (cost + math.log(1 + cost))
    v, tau2 = sigma**2 / n, sigma**2 / rho
    expected = math.sqrt(v * (v + tau2) / tau2 * (math.log((v + tau2) / v) + cost))
    assert radius(ANYTIME, n, alpha, AIM, NOW) == pytest.approx(expected, rel=1e-12)
    alone = ARM._replace(pulls=n, total=0.0, offline_pulls=0)
    assert interval(ANYTIME, alone, NOW) == pytest.approx(Interval(-expected, expected))


def test_with_logs_two_intervals_share_the_chance() -> None:
    alone = interval(ANYTIME, ARM._replace(offline_pulls=0), NOW)
    useless = interval(ANYTIME, ARM._replace(bias_bound=1e9), NOW)
    assert useless.upper - useless.lower > alone.upper - alone.lower


def draws(purpose: str, run: int, arm: int, count: int) -> list[float]:
    stream = keyed_stream(SEED, purpose, run, arm)
    with wrapping():
        return [normal(stream) for _ in range(count)]


def naive(radius: str, logs: bool, run: int, most: int) -> tuple[int, int]:
    """Pulls until it stops and the arm it names, with NumPy over all arms."""
    k = len(MEANS)
    rewards = np.array([draws("rewards", run, i, most) for i in range(k)]) * SIGMA
    rewards += np.array(MEANS)[:, None]
    n = np.where(np.isfinite(BANDIT.bias_bound), BANDIT.offline_pulls, 0) if logs else np.zeros(k)
    first = np.array([draws("logs", run, i, 1)[0] for i in range(k)])
    m = BANDIT.offline + SIGMA * first / np.sqrt(np.maximum(BANDIT.offline_pulls, 1))
    bias = np.where(n > 0, BANDIT.bias_bound, 0.0)
    pulls, sums = np.ones(k), rewards[:, 0].copy()

    def wide(counts: object, aims: object) -> object:
        c, aim = np.asarray(counts, float), np.asarray(aims, float)
        if radius == "paper":
            return SIGMA * np.sqrt(2 * np.log(k * pulls.sum() / DELTA) / c)
        cost = 2 * np.log(k * np.where(n > 0, 2, 1) / DELTA)
        tau2 = SIGMA**2 * (cost + np.log(1 + cost)) / aim
        v = SIGMA**2 / c
        return np.sqrt(v * (v + tau2) / tau2 * (np.log((v + tau2) / v) + cost))

    while True:
        online, pooled = sums / pulls, (sums + n * m) / (pulls + n)
        on = np.asarray(wide(pulls, 100.0))
        hyb = np.asarray(wide(pulls + n, np.maximum(100.0, n))) + n * bias / (pulls + n)
        hyb = np.where(n > 0, hyb, math.inf)
        upper, lower = np.minimum(online + on, pooled + hyb), np.maximum(online - on, pooled - hyb)
        leader = int(online.argmax())
        rival = int(np.where(np.arange(k) == leader, -math.inf, upper).argmax())
        if lower[leader] >= upper[rival]:
            return int(pulls.sum()), leader
        for arm in (leader, rival):
            sums[arm] += rewards[arm, int(pulls[arm])]
            pulls[arm] += 1


@pytest.mark.parametrize("radius", ["anytime", "paper"])
def test_a_naive_version_stops_at_the_same_pull_with_the_same_arm(radius: str) -> None:
    result = identify(
        BANDIT, delta=DELTA, radius=radius, runs=3, seed=SEED, engine="interpreted", threads=1
    )
    assert result.rules == ("lucb-h", "lucb", "trusting")
    for row, logs in ((0, True), (1, False)):
        for run in range(3):
            most = int(result.pulls[row, run])
            assert naive(radius, logs, run, most) == (most, result.answers[row, run])


def test_a_run_that_has_no_pulls_left_names_no_arm() -> None:
    few = identify(BANDIT, runs=2, most_pulls=9, engine="interpreted")
    assert (few.pulls == 8).all()  # four, and then two at a time
    assert (few.answers == -1).all()
    assert few.stopped("lucb") == 0.0
    assert few.error("lucb").value == 0.0


def test_equal_means_and_equal_bounds_are_taken_at_random(chance: Chance) -> None:
    """All coins lose, so the means tie and then the bounds: every arm is as likely to be pulled."""
    world = world_of(Bandit([0.0] * 4, reward="bernoulli"))
    state, keys, again = allocate_with(world, 2), keys_of(2, "lucb"), np.zeros(4)
    with wrapping():
        for run in range(600):
            prepare(world, keys, run, state)
            assert play_run(Rule(0.5, 0.1, True), world, 6, state) == UNDECIDED
            again += state.evidence.pulls - 1
    assert again.sum() == 1_200
    chance.fits(again, np.full(4, 300), false_alarm=1e-6)  # two of a run differ: less spread
