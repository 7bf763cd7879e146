"""LUCB: pull the leader and the arm that may be better than it, until none may be.

Kalyanakrishnan, Tewari, Auer & Stone (2012), "PAC Subset Selection in Stochastic Multi-armed
Bandits", with the bounds of LUCB-H. Plain scalar code over arrays, interpreted as it stands or
compiled by Numba, to the same bits. Run r has the logs and rewards that `simulate` has in run r.
"""

from __future__ import annotations

import math

from driftanchor.best_arm.bounds import Rule, interval
from driftanchor.core.check import Ints
from driftanchor.core.evidence import Evidence, Round, arm_at
from driftanchor.core.noise import Stream
from driftanchor.policies.base import Best, challenge
from driftanchor.simulation.engines.desk import Desk, Keys, prepare
from driftanchor.simulation.engines.rewards import World, draw_reward

LOWER, UPPER = 0, 1  # the columns of the memory
UNDECIDED = -1


def play_runs(
    rule: Rule,
    world: World,
    keys: Keys,
    first_run: int,
    most_pulls: int,
    desk: Desk,
    pulls: Ints,
    answers: Ints,
) -> bool:
    """Play runs `first_run`, … until each stops; how many pulls that took, and its answer."""
    for row in range(pulls.size):
        prepare(world, keys, first_run + row, desk)
        answers[row] = play_run(rule, world, most_pulls, desk)
        pulls[row] = desk.evidence.pulls.sum()
    return True


def play_run(rule: Rule, world: World, most_pulls: int, desk: Desk) -> int:
    """Play one run; the column of the best arm, or `UNDECIDED` when there are no pulls left."""
    evidence, arms = desk.evidence, world.online.size
    for arm in range(arms):
        pull(world, desk, arm)
    t = arms
    bound_all(rule, evidence, t)
    while True:
        leader = largest_mean(evidence, desk.stream)
        rival = largest_other(evidence, leader, desk.stream)
        if evidence.memory[leader, LOWER] >= evidence.memory[rival, UPPER]:
            return leader
        if t + 2 > most_pulls:
            return UNDECIDED
        pull(world, desk, leader)
        pull(world, desk, rival)
        t += 2
        if rule.anytime:  # only these two have changed
            bound(rule, evidence, leader, t)
            bound(rule, evidence, rival, t)
        else:
            bound_all(rule, evidence, t)


def pull(world: World, desk: Desk, arm: int) -> None:
    """One more reward of an arm."""
    desk.evidence.totals[arm] += draw_reward(world, arm, desk.rewards[arm])
    desk.evidence.pulls[arm] += 1


def bound(rule: Rule, evidence: Evidence, arm: int, t: int) -> None:
    """Write down the bounds of an arm after t pulls of all arms."""
    found = interval(rule, arm_at(evidence, arm), Round(t, evidence.pulls.size))
    evidence.memory[arm, LOWER] = found.lower
    evidence.memory[arm, UPPER] = found.upper


def bound_all(rule: Rule, evidence: Evidence, t: int) -> None:
    """Write down the bounds of every arm."""
    for arm in range(evidence.pulls.size):
        bound(rule, evidence, arm, t)


def largest_mean(evidence: Evidence, stream: Stream) -> int:
    """The leader: the arm with the largest online mean, ties at random."""
    best = Best(-math.inf, -1, 0)
    for arm in range(evidence.pulls.size):
        best = challenge(best, evidence.totals[arm] / evidence.pulls[arm], arm, stream)
    return best.column


def largest_other(evidence: Evidence, leader: int, stream: Stream) -> int:
    """The arm with the largest upper bound of all but the leader, ties at random."""
    best = Best(-math.inf, -1, 0)
    for arm in range(evidence.pulls.size):
        if arm != leader:
            best = challenge(best, evidence.memory[arm, UPPER], arm, stream)
    return best.column
