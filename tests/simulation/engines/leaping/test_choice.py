"""One round at a fixed state: the engines play each arm as often as the plain rule does.

How likely the rule plays each arm is computed, and tested with the propensities of live decisions.
Pearson's statistic against its bound at 1e-7 (Laurent & Massart 2000), and rare arms at 1e-7; with
4 policies × 9 states × 3 ways, false alarms 3e-5 in all. Seeds are fixed.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from driftanchor.simulation.engines.leaping import choice, hazards, lead, pick
from driftanchor.simulation.engines.leaping.hazards import Hazards
from driftanchor.simulation.engines.leaping.loop import LeapingDesk, lay_out, serves
from driftanchor.simulation.engines.rewards import world_of
from round_shares import fit

from driftanchor import POLICIES, Bandit
from driftanchor.core.check import Floats
from driftanchor.core.evidence import Round
from driftanchor.core.noise import Stream, exponential, keyed_stream, uniform, wrapping
from driftanchor.live.propensities import propensities
from driftanchor.policies import policy_tails
from driftanchor.policies.base import Best, Policy, belief_at

OneRound = Callable[[Stream], int]
Counts = npt.NDArray[np.float64]
TRIES = 1_000  # against exact chances as good as 2,000 against 2,000 of the rule
USUAL = Bandit([0.8, 0.5, 0.5], [0.7, 0.5, 0.6], [5, 5, 0], 0.2)
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
LEAPING = [name for name, cls in POLICIES.items() if serves(cls, USUAL)]


def desk_at(policy: Policy, state: str) -> LeapingDesk:
    """A desk in the middle of a run."""
    bandit, pulls, totals = STATES[state]
    desk = lay_out(world_of(bandit), policy)
    desk.evidence.pulls[:] = pulls
    desk.evidence.totals[:] = totals
    desk.evidence.offline_means[:] = np.where(bandit.offline_pulls > 0, bandit.offline, 0.0)
    return desk


def marked(policy: Policy, desk: LeapingDesk) -> OneRound:
    """By a level just below the leader's mean: a round is marked or not."""
    evidence, sheet = desk.evidence, desk.hazards
    leader = lead.largest_mean(policy, evidence)
    belief = belief_at(policy, evidence, leader)
    sheet.leader[0] = leader
    level = belief.mean - 0.1 * belief.sd
    lead.set_levels(policy, evidence, sheet, level, level)
    # any bound will do; many marks don't count
    led = lead.lead_at(policy, evidence, leader, level, 0)._replace(bound=0.5, marks=math.log(2.0))
    others = hazards.hazard_from(sheet, 0)
    rate = others + led.marks

    def play(stream: Stream) -> int:
        if uniform(stream) >= -math.expm1(-rate):
            return leader
        first = -math.log1p(uniform(stream) * math.expm1(-rate))
        return choice.marked_round(policy, evidence, sheet, led, others, first, stream)

    return play


def from_table(policy: Policy, desk: LeapingDesk) -> OneRound:
    """By a table with several levels, as for many arms."""
    small = hazards.make_hazards(desk.evidence.pulls.size)
    sheet = Hazards(np.zeros(7), np.zeros((len(small.tree), 7)), small.leader, small.worn)
    lead.spread_levels(policy, desk.evidence, sheet)
    leader = belief_at(policy, desk.evidence, int(sheet.leader[0]))

    def play(stream: Stream) -> int:
        value = policy_tails.contend(policy, leader, -math.inf, stream)
        return pick.pick(policy, desk.evidence, sheet, value, exponential(stream), stream)

    return play


def lazily(policy: Policy, desk: LeapingDesk) -> OneRound:
    """By drawing only what can matter."""
    leader = lead.largest_mean(policy, desk.evidence)
    belief = belief_at(policy, desk.evidence, leader)

    def play(stream: Stream) -> int:
        value = policy_tails.contend(policy, belief, -math.inf, stream)
        return choice.outdo(policy, desk.evidence, leader, value, stream)

    return play


WAYS = {"marked": marked, "from a table": from_table, "lazily": lazily}


def frequencies(name: str, state: str, way: Callable[[Policy, LeapingDesk], OneRound]) -> Counts:
    """How often each arm is played."""
    policy = POLICIES[name]()
    desk = desk_at(policy, state)
    counts = np.zeros(desk.evidence.pulls.size)
    stream = keyed_stream(5, f"{way.__name__} {name} {state}", 0)
    with wrapping():
        play = way(policy, desk)
        for _ in range(TRIES):
            counts[play(stream)] += 1
    return counts


@functools.cache
def by_the_rule(name: str, state: str) -> Floats:
    """How likely the rule plays each arm."""
    policy = POLICIES[name]()
    evidence = desk_at(policy, state).evidence
    chances = propensities(policy, evidence, Round(100, evidence.pulls.size))
    assert chances is not None
    return chances


def agrees(name: str, state: str, way: str) -> bool:
    """Whether a way to play a round has the frequencies of the rule."""
    chances = by_the_rule(name, state)
    return fit(frequencies(name, state, WAYS[way]), chances, false_alarm=1e-7)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("name", LEAPING)
def test_a_round_is_played_as_the_rule_plays_it(name: str, state: str, way: str) -> None:
    assert agrees(name, state, way)


def first_of_ties(best: Best, value: float, column: int, stream: Stream) -> Best:
    return Best(value, column, 1) if value > best.value else best


NORMAL = policy_tails.contend  # as it is before it is broken


def shared_draw(policy: Policy, belief: Any, level: float, stream: Stream) -> float:
    """One normal for both samples of Anchor-TS (E18)."""
    x = NORMAL(POLICIES["ts"](), belief, level, stream)
    z = (x - belief.mean) / belief.sd
    hybrid = belief.hybrid_mean + belief.hybrid_sd * z if hasattr(belief, "hybrid_sd") else x
    return float(sorted([belief.mean, x, hybrid])[1])


# what is broken, in which modules, how, and where it shows: policy, state, way
FAULTS: dict[str, tuple[str, tuple[Any, ...], Any, tuple[str, str, str]]] = {
    "a wrong tail": (
        "hazard",
        (hazards,),
        lambda real: lambda *a: 0.5 * real(*a),
        ("ts", "an unpulled arm", "marked"),
    ),
    "marks always count": (
        "below",
        (choice,),
        lambda real: lambda *a: 1.0,
        ("anchor-ts", "V = inf", "marked"),
    ),
    "marks never count": (
        "below",
        (choice,),
        lambda real: lambda *a: 0.0,
        ("ts", "below zero", "marked"),
    ),
    "draws on the wrong side": (
        "draw_above",
        (pick,),
        lambda real: lambda policy, belief, level, stream: level,
        ("ts", "V = inf", "from a table"),
    ),
    "a shared draw": (
        "contend",
        (choice, policy_tails),
        lambda real: shared_draw,
        ("anchor-ts", "a close second", "lazily"),
    ),
    "the first of ties": (
        "challenge",
        (choice, pick),
        lambda real: first_of_ties,
        ("anchor-ts", "all tied, no logs", "lazily"),
    ),
    "a bin off by one": (
        "find",
        (pick,),
        lambda real: lambda sheet, j, position: real(sheet, max(j - 1, 0), position),
        ("ts", "a close second", "from a table"),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_caught(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check of single rounds sees each of these; it would be worth nothing otherwise."""
    name, modules, broken, case = FAULTS[fault]
    assert not is_seen(*case)
    for module in modules:
        monkeypatch.setattr(module, name, broken(getattr(module, name)))
    assert is_seen(*case)


def is_seen(name: str, state: str, way: str) -> bool:
    """Whether a fault shows, in the frequencies or by numbers that cannot be drawn."""
    try:
        return not agrees(name, state, way)
    except RuntimeWarning:
        return True
