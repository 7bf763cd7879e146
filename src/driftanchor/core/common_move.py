"""The common move: how far all arms moved together since the logs, and what the logs say after it.

A relative bound W promises |online mean − offline mean − c| ≤ W for each arm. The common move c is
the same for all arms and is not known. It is learned from every arm that has both logs and online
rewards. The functions are plain scalar code, interpreted and compiled, like those of
`driftanchor.core.posterior`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from driftanchor.core.evidence import ArmEvidence, Evidence, arm_at
from driftanchor.core.posterior import Posterior

SDS = 2.0  # a bound on a move is taken as this many standard deviations of it
NOTHING = 1e-150  # a bound that is as good as 0: its square would leave the range of floats


def own_sd(bound: float) -> float:
    """ω, the standard deviation of moves that a bound holds for.

    Example:
        >>> own_sd(0.1)
        0.05
    """
    return bound / SDS


def is_relative(evidence: Evidence) -> bool:
    """Whether a relative bound is promised for any arm."""
    for column in range(evidence.relative_bounds.size):
        if evidence.relative_bounds[column] < math.inf:
            return True
    return False


def common_move(evidence: Evidence, noise: float) -> Posterior:
    """What is believed of the common move c: normal, from all arms together.

    With T pulls and reward sum S online, N logged rewards of mean m, and ω = W/2, over the arms
    with pulls, logs and a finite W::

        y = S/T − m,   w = 1/(σ² (1/T + 1/N) + ω²)
        q = q₀ + Σ w,   c ~ N(Σ w y / q, 1/q)

    q₀ = 1/(V/2)² where every arm with logs has a finite bias bound, V the largest of them; c = 0 is
    known where it is 0. Otherwise q₀ = 0: c may be anything. While q = 0 it is N(0, σ²): the choice
    between arms with logs does not depend on it, and an arm without logs that pays well because all
    arms do must not hide the others for good.

    Args:
        evidence: Of all arms, retired ones too.
        noise: σ.
    """
    precision, total = prior_precision(evidence), 0.0
    for column in range(evidence.pulls.size):
        one = move_evidence(arm_at(evidence, column), noise)
        precision += one.weight
        total += one.total
    return move_from(precision, total, noise)


class MoveEvidence(NamedTuple):
    """What one arm says about the common move."""

    weight: float  # w; 0 if it says nothing
    total: float  # w y


def move_evidence(arm: ArmEvidence, noise: float) -> MoveEvidence:
    """Return what an arm says about the common move."""
    if arm.pulls == 0 or arm.offline_pulls == 0 or arm.relative_bound == math.inf:
        return MoveEvidence(0.0, 0.0)
    own = own_sd(arm.relative_bound)
    weight = 1.0 / (noise * noise * (1.0 / arm.pulls + 1.0 / arm.offline_pulls) + own * own)
    return MoveEvidence(weight, weight * (arm.total / arm.pulls - arm.offline_mean))


def prior_precision(evidence: Evidence) -> float:
    """q₀; infinite where c = 0 is known."""
    largest = 0.0
    for column in range(evidence.pulls.size):
        if evidence.offline_pulls[column] > 0:
            largest = max(largest, evidence.bias_bounds[column])
    if largest < NOTHING:
        return math.inf
    return 1.0 / own_sd(largest) / own_sd(largest)


def move_from(precision: float, total: float, noise: float) -> Posterior:
    """What is believed of the common move, from q and Σ w y."""
    if precision == math.inf:
        return Posterior(0.0, 0.0)
    if precision == 0.0:
        return Posterior(0.0, noise)
    return Posterior(total / precision, 1.0 / math.sqrt(precision))


def moved(arm: ArmEvidence, common: float, noise: float) -> ArmEvidence:
    """The arm once the common move is known: what a rule that knows only bias bounds may see.

    Its logs are N' = 1/(1/N + ω²/σ²) rewards of mean m + c with bias bound W. Where the bias bound
    V of the logs as they are gives the lower ceiling, m + V < m + c + W, they stay as they are; and
    so do logs without a relative bound. A `relative_bound` below ∞ is left only on logs that moved.

    Args:
        arm: The arm.
        common: c.
        noise: σ.

    Example:
        >>> arm = ArmEvidence(3, 1.2, 100, 0.5, bias_bound=float("inf"), relative_bound=0.2)
        >>> there = moved(arm, 0.3, noise=1.0)
        >>> there.offline_pulls, there.offline_mean, there.bias_bound
        (50.0, 0.8, 0.2)
        >>> moved(arm._replace(bias_bound=0.1), 0.3, noise=1.0).bias_bound  # 0.5 + 0.1 is lower
        0.1
    """
    logged, mean = float(arm.offline_pulls), arm.offline_mean
    bound, relative = arm.bias_bound, math.inf
    if moves_along(arm, common):
        logged, mean = moved_pulls(logged, own_sd(arm.relative_bound), noise), mean + common
        bound, relative = arm.relative_bound, arm.relative_bound
    return ArmEvidence(arm.pulls, arm.total, logged, mean, bound, arm.pending, relative)


def moves_along(arm: ArmEvidence, common: float) -> bool:
    """Whether the logs of an arm move by the common move: there W gives the lower ceiling."""
    if arm.offline_pulls == 0 or arm.relative_bound == math.inf:
        return False
    return not arm.bias_bound < common + arm.relative_bound


def moved_pulls(logged: float, own: float, noise: float) -> float:
    """N' = 1/(1/N + ω²/σ²): how many rewards N logged ones stand for after an own move of sd ω."""
    if logged == 0.0:  # and ω may be infinite
        return 0.0
    ratio = own / noise
    return logged / (1.0 + logged * ratio * ratio)  # so written, ω = 0 changes nothing
