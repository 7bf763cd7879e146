"""LUCB and LUCB-H: pull the leader and its rival until the rival can no longer be better.

The rule is from Kalyanakrishnan, Tewari, Auer & Stone (2012), "PAC Subset Selection in Stochastic
Multi-armed Bandits". The bounds with logs are those of LUCB-H: Yang, Tan & Cheung (2025), "Best Arm
Identification with Possibly Biased Offline Data", UAI, arXiv 2505.23165. The radius in that paper
is proved only for one fixed round. A rule that checks its bounds in every round needs a radius that
is valid in all rounds at once. The anytime radius has this property. It is the normal-mixture bound
of Robbins (1970).

This is plain scalar code. Results are bit-identical whether it is interpreted or compiled by Numba.
Run r has the same logs and rewards as run r of `simulate`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from driftanchor.core.check import Ints
from driftanchor.core.evidence import ArmEvidence, Evidence, Round, arm_at
from driftanchor.core.noise import Stream
from driftanchor.core.posterior import bias_shift
from driftanchor.core.stats.anytime import mixture_radius
from driftanchor.policies.base import Best, challenge
from driftanchor.simulation.engine import Keys, RunState, prepare
from driftanchor.simulation.world import World, draw_reward

RADII = ("anytime", "paper")
AIM = 100.0  # number of rewards at which the anytime radius is nearly as small as possible
LOWER, UPPER = 0, 1  # columns of `Evidence.memory`
UNDECIDED = -1


class Rule(NamedTuple):
    """The parameters of an arm's confidence bounds."""

    noise: float  # σ: rewards are σ-sub-Gaussian
    delta: float  # δ, the allowed probability that any bound fails
    anytime: bool  # use the anytime radius, not the paper's


class Interval(NamedTuple):
    """Confidence bounds on an arm's online mean."""

    lower: float
    upper: float


def interval(rule: Rule, arm: ArmEvidence, now: Round) -> Interval:
    """Return confidence bounds on an arm's online mean: the intersection of two intervals.

    The arm must have been pulled. Let S be the sum of its T online rewards, m the mean of its N
    logged rewards, V its bias bound, and r(n) the radius for n rewards. The intervals are::

        online   S/T ± r(T)
        pooled   (S + N m)/(T + N) ± (r(T + N) + N V/(T + N))

    Logs with an infinite bias bound are ignored. If the true bias exceeds V, the intervals may be
    disjoint. Then `lower` is above `upper`.

    Example:
        >>> arm = ArmEvidence(100, 50.0, offline_pulls=300, offline_mean=0.5, bias_bound=0.0)
        >>> interval(Rule(1.0, 0.05, False), arm, Round(t=200, arms=2))  # r² = 2 log(2·200/δ)/n
        Interval(lower=0.2880..., upper=0.7119...)
    """
    logged = arm.offline_pulls if arm.bias_bound < math.inf else 0
    alpha = rule.delta / (now.arms if logged == 0 else 2.0 * now.arms)  # per interval
    mean = arm.total / arm.pulls
    width = radius(rule, arm.pulls, alpha, AIM, now)
    lower, upper = mean - width, mean + width
    if logged > 0:
        n = arm.pulls + logged
        mean = (arm.total + logged * arm.offline_mean) / n
        width = radius(rule, n, alpha, max(AIM, logged), now) + bias_shift(arm)
        lower, upper = max(lower, mean - width), min(upper, mean + width)
    return Interval(lower, upper)


def radius(rule: Rule, n: float, alpha: float, aim: float, now: Round) -> float:
    """Return the half-width of an interval for the mean of n rewards.

    The anytime radius has error probability `alpha` and is nearly as small as possible near n =
    `aim`. The paper's radius is σ √(2 log(K t/δ)/n) for K arms after t pulls in total.
    """
    if rule.anytime:
        return rule.noise * mixture_radius(n, alpha, aim)
    return rule.noise * math.sqrt(2.0 * math.log(now.arms * now.t / rule.delta) / n)


def play_runs(
    rule: Rule,
    world: World,
    keys: Keys,
    first_run: int,
    most_pulls: int,
    state: RunState,
    pulls: Ints,
    answers: Ints,
) -> bool:
    """Play the runs from `first_run` on, and fill `pulls` and `answers` with one entry per run."""
    for row in range(pulls.size):
        prepare(world, keys, first_run + row, state)
        answers[row] = play_run(rule, world, most_pulls, state)
        pulls[row] = state.evidence.pulls.sum()
    return True


def play_run(rule: Rule, world: World, most_pulls: int, state: RunState) -> int:
    """Play one run and return the best arm, or `UNDECIDED` if `most_pulls` pulls do not suffice."""
    evidence, arms = state.evidence, world.online.size
    for arm in range(arms):
        pull(world, state, arm)
    t = arms
    bound_all(rule, evidence, t)
    while True:
        leader = largest_mean(evidence, state.stream)
        rival = largest_other(evidence, leader, state.stream)
        if evidence.memory[leader, LOWER] >= evidence.memory[rival, UPPER]:
            return leader
        if t + 2 > most_pulls:
            return UNDECIDED
        pull(world, state, leader)
        pull(world, state, rival)
        t += 2
        if rule.anytime:  # only these two have changed
            bound(rule, evidence, leader, t)
            bound(rule, evidence, rival, t)
        else:
            bound_all(rule, evidence, t)


def pull(world: World, state: RunState, arm: int) -> None:
    """Draw a reward from the arm and add it to the evidence."""
    state.evidence.totals[arm] += draw_reward(world, arm, state.rewards[arm])
    state.evidence.pulls[arm] += 1


def bound(rule: Rule, evidence: Evidence, arm: int, t: int) -> None:
    """Compute one arm's bounds after `t` pulls in total, and store them in `evidence.memory`."""
    bounds = interval(rule, arm_at(evidence, arm), Round(t, evidence.pulls.size))
    evidence.memory[arm, LOWER] = bounds.lower
    evidence.memory[arm, UPPER] = bounds.upper


def bound_all(rule: Rule, evidence: Evidence, t: int) -> None:
    """Compute every arm's bounds after `t` pulls in total, and store them in `evidence.memory`."""
    for arm in range(evidence.pulls.size):
        bound(rule, evidence, arm, t)


def largest_mean(evidence: Evidence, stream: Stream) -> int:
    """Return the leader: the arm with the largest online mean, breaking ties at random."""
    best = Best(-math.inf, -1, 0)
    for arm in range(evidence.pulls.size):
        best = challenge(best, evidence.totals[arm] / evidence.pulls[arm], arm, stream)
    return best.column


def largest_other(evidence: Evidence, leader: int, stream: Stream) -> int:
    """Return the rival: the other arm with the largest upper bound, breaking ties at random."""
    best = Best(-math.inf, -1, 0)
    for arm in range(evidence.pulls.size):
        if arm != leader:
            best = challenge(best, evidence.memory[arm, UPPER], arm, stream)
    return best.column
