"""The leaping engine has the law of the every-round engine, and fails the tests when broken.

All seeds are fixed. Each statistical check states the probability that a right engine fails it.
"""

import itertools
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from driftanchor import POLICIES, Bandit, simulate
from driftanchor.core.evidence import Round, arm_at
from driftanchor.core.noise import key, keyed_stream, normal, uniform, wrapping
from driftanchor.policies.base import Policy, choose
from driftanchor.simulate import events, reference
from driftanchor.simulate.reference import Desk, Keys, World
from driftanchor.simulate.run import leaps
from driftanchor.simulate.tails import leader_below

LEAPING = [name for name, cls in POLICIES.items() if leaps(cls)]
BANDITS = {
    "biased": Bandit.paper(biased=True),
    "unbiased, small gap": Bandit.paper(biased=False, gap=0.1, coverage="suboptimal"),
    "no logs": Bandit([0.8, 0.5, 0.5]),
    "two arms, V = inf": Bandit([0.5, 0.0], [0.2, 0.1], [30, 0], [math.inf, 0.0]),
    "equal means": Bandit([0.3, 0.3], noise=0.5),
    "one arm": Bandit([0.4]),
}


def same_law(a: npt.NDArray[Any], b: npt.NDArray[Any], false_alarm: float) -> bool:
    """Two-sample Kolmogorov–Smirnov; ties make it only more careful (Massart 1990)."""
    values = np.union1d(a, b)
    below_a = np.searchsorted(np.sort(a), values, side="right") / a.size
    below_b = np.searchsorted(np.sort(b), values, side="right") / b.size
    gap = float(np.abs(below_a - below_b).max())
    limit = math.sqrt(-math.log(false_alarm / 2) / 2 * (1 / a.size + 1 / b.size))
    return gap < limit


def test_the_sampling_policies_leap() -> None:
    assert LEAPING == ["anchor-ts", "ts", "hybrid-ts", "optimistic-ts"]


@pytest.mark.parametrize("bandit", BANDITS)
@pytest.mark.parametrize("name", LEAPING)
def test_interpreted_and_compiled_leap_alike(name: str, bandit: str) -> None:
    policy, world = POLICIES[name](), world_of(BANDITS[bandit])
    keys = Keys(key(3, "rewards"), key(3, "logs"), key(3, f"policy/{policy.name}"))
    regret, pulls = np.empty((1, 4)), np.empty((1, len(world.online)), np.int64)
    checkpoints, desk = np.array([10, 90, 300, 1200]), reference.lay_out(world, policy)
    with wrapping():
        assert events.run_many_events(policy, world, keys, 0, checkpoints, desk, regret, pulls)
    fast = simulate(
        policy, BANDITS[bandit], horizon=1200, runs=1, seed=3, engine="events",
        checkpoints=checkpoints.tolist(),
    )  # fmt: skip
    assert np.array_equal(fast.pulls[0], pulls)
    assert np.array_equal(fast.regret[0], regret)
    assert pulls.sum() == 1200


@pytest.mark.slow
@pytest.mark.parametrize("bandit", list(BANDITS)[:4])
@pytest.mark.parametrize("name", LEAPING)
def test_regret_and_pulls_have_the_same_law(name: str, bandit: str) -> None:
    """False alarms: 16 cells × 3 checks at 1e-5 each, 0.05 % in all."""
    effort: dict[str, Any] = {"horizon": 2_000, "runs": 3_000, "checkpoints": [500, 2_000]}
    every = simulate(name, BANDITS[bandit], seed=11, engine="every-round", **effort)
    leapt = simulate(name, BANDITS[bandit], seed=12, engine="events", **effort)
    for i in range(2):
        assert same_law(every.regret[0, :, i], leapt.regret[0, :, i], 1e-5)
    assert same_law(every.pulls[0, :, 0], leapt.pulls[0, :, 0], 1e-5)


def test_regret_inside_a_leap_is_the_sum_that_every_round_gives() -> None:
    bandit = Bandit([0.8, 0.5], [0.4, 0.7], 500)  # logs so wrong that hybrid TS stays on arm 2
    result = simulate("hybrid-ts", bandit, horizon=900, runs=20, checkpoints=90, engine="events")
    gap = bandit.gaps[1]
    assert np.array_equal(result.regret, gap * np.round(result.regret / gap))
    assert result.regret[0, :, -1].max() > 250


def world_of(bandit: Bandit) -> World:
    return World(
        bandit.online,
        bandit.offline,
        bandit.offline_pulls,
        bandit.bias_bound,
        bandit.gaps,
        True,
        bandit.noise,
    )


def desk_at(policy: Policy, bandit: Bandit, pulls: list[int], totals: list[float]) -> Desk:
    """A desk in the middle of a run."""
    desk = reference.lay_out(world_of(bandit), policy)
    for arm, (n, total) in enumerate(zip(pulls, totals, strict=True)):
        desk.evidence.pulls[arm] = n
        desk.evidence.totals[arm] = total
        desk.evidence.offline_means[arm] = bandit.offline[arm]
    return desk


STATES = {
    "a clear leader": ([40, 6, 9], [36.0, 1.0, 2.0]),
    "a close second": ([60, 50, 5], [36.0, 22.0, 0.5]),
    "an unpulled arm": ([30, 0, 4], [27.0, 0.0, 1.0]),
}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("name", LEAPING)
def test_a_round_is_played_as_the_rule_plays_it(name: str, state: str) -> None:
    """One round at a fixed state, 3,000 times: leap (a round is marked or not) against the rule.

    Pearson's statistic with at most 2 degrees of freedom against its bound at 1e-6 (Laurent and
    Massart 2000): 12 checks, false alarms 1e-5 in all.
    """
    policy = POLICIES[name]()
    bandit = Bandit([0.8, 0.5, 0.5], [0.7, 0.5, 0.6], [5, 5, 0], 0.2)
    pulls, totals = STATES[state]
    tries, plain, leapt = 3_000, np.zeros(3), np.zeros(3)
    with wrapping():
        for i in range(tries):
            desk = desk_at(policy, bandit, pulls, totals)
            stream = keyed_stream(5, "plain", i)
            plain[choose(policy, desk.evidence, Round(100, 3), stream)] += 1
            leapt[leap_once(policy, desk, keyed_stream(5, "leap", i))] += 1
    both = plain + leapt
    seen = both > 0
    statistic = float(((plain - leapt)[seen] ** 2 / both[seen]).sum())
    freedom, x = 2, math.log(1e6)
    assert statistic < freedom + 2 * math.sqrt(freedom * x) + 2 * x, (plain, leapt)


def leap_once(policy: Policy, desk: Desk, stream: npt.NDArray[np.uint64]) -> int:
    """The arm of the next round, by the steps of the engine; level fixed, whatever it costs."""
    evidence = desk.evidence
    arms = evidence.pulls.size
    means = [policy.believe(arm_at(evidence, i)).mean for i in range(arms)]
    leader = int(np.argmax(means))
    belief = policy.believe(arm_at(evidence, leader))
    level, barrier = belief.mean - 1.0 * belief.sd, belief.mean - 0.5 * belief.sd
    bound = leader_below(policy, barrier, belief.sd, level)
    lead = events.Lead(leader, level, barrier, bound, -math.log1p(-bound), 1.0)
    rate = events.set_hazards(policy, evidence, leader, level, 1e12, desk.hazards) + lead.marks
    if uniform(stream) >= -math.expm1(-rate):
        return leader
    return events.marked_round(policy, evidence, lead, desk.hazards, stream)


def test_a_walk_stops_where_the_step_by_step_walk_may() -> None:
    """The law of a walk's end when it was not stopped, and of where it stopped, over 4,000 walks.

    Step by step, a bridge between two steps touches 0 with the chance of reflection. Two
    Kolmogorov–Smirnov checks and one of a share (4.9 deviations): false alarms 3e-6 in all.
    """
    start, drift, noise, steps = 2.0, 0.05, 1.0, 40
    ends: tuple[list[float], list[float]] = ([], [])
    stops: tuple[list[int], list[int]] = ([], [])
    with wrapping():
        for i in range(4_000):
            for kind, (taken, end, touched) in enumerate(
                (whole_walk(i, start, drift, noise, steps), slow_walk(i, start, drift, steps))
            ):
                (stops[kind].append(taken) if touched else ends[kind].append(end))
    assert same_law(np.array(ends[0]), np.array(ends[1]), 1e-6)
    assert same_law(np.array(stops[0]), np.array(stops[1]), 1e-6)
    share = len(stops[0]) / 4_000
    assert abs(len(stops[1]) / 4_000 - share) < 4.9 * math.sqrt(2 * share * (1 - share) / 4_000)


def whole_walk(
    i: int, start: float, drift: float, noise: float, steps: int
) -> tuple[int, float, bool]:
    taken, end = events.walk(start, drift, noise, steps, keyed_stream(8, "whole", i))
    return taken, end, taken < steps or end <= 0.0


def slow_walk(i: int, start: float, drift: float, steps: int) -> tuple[int, float, bool]:
    stream = keyed_stream(8, "slow", i)
    x = start
    for step in range(1, steps + 1):
        after = x + drift + normal(stream)
        touched = after <= 0.0 or uniform(stream) < math.exp(-2.0 * x * after)
        x = after
        if touched:
            return step, x, step < steps or x <= 0.0
    return steps, x, False


FAULTS: dict[str, tuple[str, Any]] = {
    "a wrong tail": ("hazard", lambda real: lambda *a: 0.5 * real(*a)),
    "marks always count": ("below", lambda real: lambda *a: 1.0),
    "marks never count": ("below", lambda real: lambda *a: 0.0),
    "draws on the wrong side": ("draw_above", lambda real: lambda p, b, level, s: level),
    "the leader's draw is left out": ("draw_above", lambda real: lambda p, b, level, s: b.mean),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_caught(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check of single rounds sees each of these; it would be worth nothing otherwise."""
    name, broken = FAULTS[fault]
    monkeypatch.setattr(events, name, broken(getattr(events, name)))
    caught = 0
    for policy, state in itertools.product(("ts", "anchor-ts"), STATES):
        try:
            test_a_round_is_played_as_the_rule_plays_it(policy, state)
        except AssertionError:
            caught += 1
    assert caught > 0
