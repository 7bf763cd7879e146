"""Leaping has the law of playing every round, and the checks fail when it is broken.

All seeds are fixed. Each statistical check states the probability that correct code fails it.
"""

import functools
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from exact_walks import Law, Walk, bernoulli_walk, gaussian_walk
from round_shares import fit

from benchmarks.pages.exactness import chance_of_gap
from driftanchor import POLICIES, TS, Bandit, simulate
from driftanchor.compiled import rules
from driftanchor.core.check import Floats
from driftanchor.core.evidence import Round
from driftanchor.core.index_law import IndexLaw
from driftanchor.core.noise import Stream, keyed_stream, normal, uniform, wrapping
from driftanchor.core.variates import binomial
from driftanchor.live.propensities import propensities
from driftanchor.policies.base import Best
from driftanchor.simulation import leaping
from driftanchor.simulation.chunk import ENGINES, Chunk, play
from driftanchor.simulation.engine import Keys, RunState, prepare
from driftanchor.simulation.leaping import LeapingState, allocate_leaping, can_leap
from driftanchor.simulation.world import World, world_of

USUAL = Bandit([0.8, 0.5, 0.5], [0.7, 0.5, 0.6], [5, 5, 0], 0.2)
LEAPING = [name for name, cls in POLICIES.items() if can_leap(cls, USUAL)]


def test_the_sampling_policies_of_the_paper_leap() -> None:
    assert LEAPING == ["anchor-ts", "ts", "hybrid-ts", "optimistic-ts"]


# Whole runs.

BANDITS = {
    "biased": Bandit.paper(biased=True, arms=4),
    "unbiased, small gap": Bandit.paper(biased=False, gap=0.1, arms=4, coverage="suboptimal"),
    "no logs": Bandit([0.8, 0.5, 0.5]),
    "two arms, V = inf": Bandit([0.5, 0.0], [0.2, 0.1], [30, 0], [math.inf, 0.0]),
    "Bernoulli": Bandit([0.6, 0.5, 0.4], [0.5, 0.5, 0.5], [20, 0, 100], reward="bernoulli"),
    "heavy tails": Bandit([0.8, 0.5], [0.5, 0.6], [30, 9], reward="student"),
    "noise of each arm": Bandit([0.5, 0.2, 0.2], [0.3, 0.4, 0.2], 20, noise=[0.3, 1.0, 2.0]),
    "equal means": Bandit([0.3, 0.3], noise=0.5),
    "one arm": Bandit([0.4]),
    "sure rewards": Bandit([1.0, 0.0], reward="bernoulli"),
}


@pytest.mark.parametrize("engine", ["thinned", "events"])
@pytest.mark.parametrize("bandit", BANDITS)
def test_interpreted_and_compiled_leap_alike(
    bandit: str, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    effort: dict[str, Any] = {"horizon": 500, "runs": 1, "seed": 3, "checkpoints": [10, 90, 200]}
    fast = simulate(LEAPING, BANDITS[bandit], engine=engine, **effort)
    monkeypatch.setitem(ENGINES, engine, ENGINES[engine]._replace(compiled=False))
    slow = simulate(LEAPING, BANDITS[bandit], engine=engine, **effort)
    assert np.array_equal(fast.pulls, slow.pulls)
    assert np.array_equal(fast.regret, slow.regret)
    assert (slow.pulls.sum(axis=2) == 500).all()


@pytest.mark.slow
@pytest.mark.parametrize("bandit", [*BANDITS][:7])
@pytest.mark.parametrize("name", LEAPING)
def test_regret_and_pulls_have_the_same_law(name: str, bandit: str, times: int) -> None:
    """False alarms: 28 cells × 2 engines × 3 checks at 1e-6 each, 0.02 % in all.

    Laws 0.17 apart are told apart nine times in ten; over the 8,000 runs of `make torture`, which
    are twice as long, those 0.06 apart. `make claims` compares 30,000 runs of up to 100,000 rounds.
    """
    rounds = 1_000 if times == 1 else 2_000
    effort: dict[str, Any] = {"horizon": rounds, "runs": 800 * times, "checkpoints": [300, rounds]}
    every = simulate(name, BANDITS[bandit], seed=11, engine="every-round", **effort)
    for seed, engine in ((12, "thinned"), (13, "events")):
        leapt = simulate(name, BANDITS[bandit], seed=seed, engine=engine, **effort)
        for i in range(2):
            assert chance_of_gap(every.regret[0, :, i], leapt.regret[0, :, i]) > 1e-6
        assert chance_of_gap(every.pulls[0, :, 0], leapt.pulls[0, :, 0]) > 1e-6


def test_thinned_draws_the_rewards_of_every_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rewards of one arm come from its stream, which is left where it would be."""
    ends: list[RunState] = []

    def noted(world: World, keys: Keys, run: int, state: RunState) -> None:
        ends.append(state)
        prepare(world, keys, run, state)

    for module in ("engine", "leaping"):
        monkeypatch.setattr(f"driftanchor.simulation.{module}.prepare", noted)
    for engine in ("interpreted", "thinned"):
        monkeypatch.setitem(ENGINES, engine, ENGINES[engine]._replace(compiled=False))
        play(Chunk("x", TS(), Bandit([0.4]), np.array([400]), engine, 3, 0, 1))
    one, other = ends
    assert one.evidence.totals[0] == pytest.approx(other.evidence.totals[0], rel=1e-12)
    assert np.array_equal(one.rewards, other.rewards)


def test_regret_inside_a_leap_is_read_at_the_checkpoints() -> None:
    bandit = Bandit([0.8, 0.5], [0.4, 0.7], 500)  # logs so wrong that hybrid TS stays on arm 2
    result = simulate("hybrid-ts", bandit, horizon=900, runs=20, checkpoints=90, engine="events")
    gap = bandit.gaps[1]
    assert np.array_equal(result.regret, gap * np.round(result.regret / gap))
    assert result.regret[0, :, -1].max() > 250


def test_checkpoints_inside_a_block_are_read_as_if_rounds_were_single() -> None:
    world, rule = world_of(Bandit([0.75, 0.5])), rules.law_writer(TS())
    state = allocate_leaping(world, TS(), single=False)
    checkpoints, regret = np.array([1, 4, 5, 9, 12]), np.full(5, np.nan)
    for arm, rounds in ((1, 3), (0, 4), (1, 5)):
        leaping.advance(rule, np.zeros(1), world, state, checkpoints, regret, arm, rounds)
    assert regret.tolist() == [0.25, 0.75, 0.75, 0.75 + 2 * 0.25, 0.75 + 5 * 0.25]
    assert state.run.evidence.pulls.tolist() == [4, 8]
    assert state.progress.tolist() == [12, 5]
    assert leaping.rounds_left(state, checkpoints) == 0


def test_a_long_horizon_costs_little_if_the_leader_is_far_ahead() -> None:
    """Ten million rounds of each of 100 arms' samples would take minutes."""
    bandit = Bandit([2.0] + [0.0] * 99)
    result = simulate("anchor-ts", bandit, horizon=10**7, runs=1, engine="events")
    assert result.pulls.sum() == 10**7
    assert result.pulls[0, 0, 0] > 0.99 * 10**7


# One round at a fixed state: leaping plays each arm as often as the rule does. The probabilities of
# the rule are its propensities. Pearson's statistic against its bound at 1e-7, and rare arms at
# 1e-7; with 4 policies × 9 states × 2 ways, false alarms 2e-5 in all.

OneRound = Callable[[], int]
TRIES = 1_000  # against exact chances as good as 2,000 against 2,000 of the rule
UNKNOWN = Bandit([0.8, 0.5, 0.5], [0.7, 0.9, 0.6], [5, 50, 9], math.inf)
NO_LOGS = Bandit([0.8, 0.5, 0.5, 0.1])
# bandit, pulls, totals
STATES: dict[str, tuple[Bandit, list[int], list[float]]] = {
    "a clear leader": (USUAL, [40, 6, 9], [36.0, 1.0, 2.0]),
    "a close second": (USUAL, [60, 50, 5], [36.0, 22.0, 0.5]),
    "an unpulled arm": (USUAL, [30, 0, 4], [27.0, 0.0, 1.0]),
    "V = inf": (UNKNOWN, [8, 3, 2], [5.0, 1.0, 0.4]),
    "all tied, no logs": (NO_LOGS, [0, 0, 0, 0], [0.0, 0.0, 0.0, 0.0]),
    "two of equal means": (NO_LOGS, [4, 4, 9, 2], [3.0, 3.0, 2.0, 0.2]),
    "tails that underflow": (NO_LOGS, [900, 900, 900, 900], [9e4, 9.05e4, 10.0, 0.0]),
    "one arm": (Bandit([0.4], [0.5], 3), [2], [1.0]),
    "below zero": (NO_LOGS, [3, 1, 0, 2], [-9.0, -4.0, 0.0, -0.1]),
}


def state_at(name: str, state: str) -> LeapingState:
    """Return the state in the middle of a run."""
    policy, (bandit, pulls, totals) = POLICIES[name](), STATES[state]
    at = allocate_leaping(world_of(bandit), policy, single=False)
    evidence = at.run.evidence
    evidence.pulls[:] = pulls
    evidence.totals[:] = totals
    evidence.offline_means[:] = np.where(bandit.offline_pulls > 0, bandit.offline, 0.0)
    for arm in range(len(pulls)):
        rules.law_writer(policy)(np.zeros(1), evidence, arm, at.laws)
    return at


def marked(state: LeapingState) -> OneRound:
    """Play with a level just below the leader's mean: a round is marked or not."""
    leader, stream = leaping.leader_of(state), state.run.stream
    law = leaping.law_in(state, leader)
    lead = leaping.lead_at(state, leader, law.mean - 0.1 * law.sd)
    lead = lead._replace(bound=0.9, marks=math.log(10.0))  # valid, and half of the marks count
    for arm in range(state.hazards.size):
        other = leaping.hazard(leaping.law_in(state, arm), lead.level)
        state.hazards[arm] = 0.0 if arm == leader else other
    others = float(state.hazards.sum())
    rate = others + lead.marks

    def one_round() -> int:
        if uniform(stream) >= -math.expm1(-rate):
            return leader
        position = -math.log1p(uniform(stream) * math.expm1(-rate))
        return leaping.marked_round(state, lead, others, position)

    return one_round


def one_by_one(state: LeapingState) -> OneRound:
    """Draw only the samples that can matter."""
    leader = leaping.leader_of(state)
    return lambda: leaping.largest(state, leader)


WAYS = {"marked": marked, "one by one": one_by_one}


def frequencies(name: str, state: str, way: str) -> npt.NDArray[np.float64]:
    """Return how often each arm is played."""
    at = state_at(name, state)
    at.run.stream[:] = keyed_stream(5, f"{way} {name} {state}", 0)
    counts = np.zeros(at.hazards.size)
    with wrapping():
        one_round = WAYS[way](at)
        for _ in range(TRIES):
            counts[one_round()] += 1
    return counts


@functools.cache
def chances_of_the_rule(name: str, state: str) -> Floats:
    """Return how likely the rule plays each arm."""
    evidence = state_at(name, state).run.evidence
    chances = propensities(POLICIES[name](), evidence, Round(100, evidence.pulls.size))
    assert chances is not None
    return chances


def agrees(name: str, state: str, way: str) -> bool:
    """Return whether a way to play a round has the frequencies of the rule."""
    return fit(frequencies(name, state, way), chances_of_the_rule(name, state), false_alarm=1e-7)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("name", LEAPING)
def test_a_round_is_played_as_the_rule_plays_it(name: str, state: str, way: str) -> None:
    assert agrees(name, state, way)


def first_of_ties(best: Best, value: float, column: int, stream: Stream) -> Best:
    return Best(value, column, 1) if value > best.value else best


def shared_draw(law: IndexLaw, level: float, stream: Stream) -> float:
    """Use one normal for both samples of Anchor-TS (E18)."""
    z = normal(stream)
    samples = law.mean + law.sd * z, law.other_mean + law.other_sd * z
    return sorted([law.place, *samples])[1]


def in_marked_rounds(wrong: float, real: Callable[..., float]) -> Callable[..., float]:
    """Return a function that is wrong only when `marked_round` calls it."""

    def broken(*arguments: Any) -> float:
        caller = sys._getframe(1).f_code.co_name
        return wrong if caller == "marked_round" else real(*arguments)

    return broken


# the function that is broken, how, and where it shows: policy, state, way
FAULTS: dict[str, tuple[str, Callable[[Any], Any], tuple[str, str, str]]] = {
    "a wrong tail": (
        "hazard",
        lambda real: lambda *a: 0.5 * real(*a),
        ("ts", "an unpulled arm", "marked"),
    ),
    "marks always count": (
        "chance",
        lambda real: in_marked_rounds(1.0, real),
        ("ts", "below zero", "marked"),
    ),
    "marks never count": (
        "chance",
        lambda real: in_marked_rounds(0.0, real),
        ("ts", "below zero", "marked"),
    ),
    "draws above at the level": (
        "draw_side",
        lambda real: lambda law, level, up, s: level if up else real(law, level, up, s),
        ("ts", "two of equal means", "marked"),
    ),
    "draws below at the level": (
        "draw_side",
        lambda real: lambda law, level, up, s: real(law, level, up, s) if up else level,
        ("ts", "below zero", "marked"),
    ),
    "a shared draw": (
        "draw_index",
        lambda real: shared_draw,
        ("anchor-ts", "a close second", "one by one"),
    ),
    "the first of ties": (
        "challenge",
        lambda real: first_of_ties,
        ("anchor-ts", "all tied, no logs", "one by one"),
    ),
    "a segment off by one": (
        "find",
        lambda real: (
            lambda hazards, position: (
                (real(hazards, position)[0] + 1) % hazards.size,
                real(hazards, position)[1],
            )
        ),
        ("ts", "a close second", "marked"),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_in_a_round_are_caught(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check of single rounds sees each of these; it would be worth nothing otherwise."""
    name, broken, case = FAULTS[fault]
    assert agrees(*case)
    monkeypatch.setattr(leaping, name, broken(getattr(leaping, name)))
    assert not agrees(*case)


# The rewards of the leader, drawn at once: they stop, and end, where single rewards do. Each check
# has a false alarm of 2e-6, and tells laws 0.1 apart from each other nine times in ten.

START, DRIFT, STEPS = 2.0, 0.05, 40
WORLD = world_of(Bandit([0.6, 0.5], reward="bernoulli"))


def fits(law: Law, walk: Walk) -> bool:
    return law.fits(walk, 1_250, false_alarm=2e-6)


def whole(stream: Stream) -> tuple[int, float]:
    return leaping.walk(START, DRIFT, 1.0, STEPS, stream)


@functools.cache
def gaussian_law() -> Law:
    return gaussian_walk(START, DRIFT, STEPS)


def test_a_gaussian_walk_stops_where_one_taken_step_by_step_may() -> None:
    assert fits(gaussian_law(), whole)


@pytest.mark.parametrize(("start", "barrier"), [(1.3, 0.55), (0.7, 0.5), (0.41, 0.307)])
def test_bernoulli_blocks_and_single_rewards_stop_where_they_should(
    start: float, barrier: float
) -> None:
    exact = bernoulli_walk(start, 0.6, barrier, 45)
    assert fits(exact, lambda s: leaping.in_blocks(start, 0.6, barrier, 45, s))
    assert fits(exact, lambda s: leaping.one_by_one(WORLD, 0, start, barrier, 45, s))


def test_blocks_with_a_barrier_below_zero_take_all_steps() -> None:
    with wrapping():
        assert leaping.in_blocks(1.0, 0.5, -0.2, 10**6, keyed_stream(1, "free", 0))[0] == 10**6


def late(stream: Stream) -> tuple[int, float]:
    """A barrier off by one: the stop is noticed a step too late."""
    taken, end = whole(stream)
    return (min(taken + 1, STEPS), end) if taken < STEPS or end <= 0.0 else (taken, end)


def unreflected(stream: Stream) -> tuple[int, float]:
    """A walk that looks at its end alone."""
    return STEPS, START + DRIFT * STEPS + math.sqrt(STEPS) * normal(stream)


def greedy_blocks(stream: Stream) -> tuple[int, float]:
    """Blocks long enough to cross the barrier and come back unseen."""
    position, taken = 1.3, 0
    while taken < 45 and position > 0.0:
        block = min(45 - taken, int(position / 0.55) + 6)
        position += binomial(block, 0.6, stream) - 0.55 * block
        taken += block
    return taken, position


def test_planted_faults_in_walks_are_caught() -> None:
    assert not fits(gaussian_law(), late)
    assert not fits(gaussian_law(), unreflected)
    assert not fits(bernoulli_walk(1.3, 0.6, 0.55, 45), greedy_blocks)
