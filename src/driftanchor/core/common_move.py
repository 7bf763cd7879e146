"""The common move: how far all arms have moved together since they were logged.

A relative bound W promises |online mean − offline mean − c| ≤ W for each arm. The common move c is
unknown and the same for all arms. It is estimated from all arms that have logs, online rewards and
a finite W. The functions are plain scalar code, which runs interpreted or compiled.
"""

from __future__ import annotations

import math

from driftanchor.core.evidence import ArmEvidence, Evidence, arm_at
from driftanchor.core.posterior import Posterior

SDS = 2.0  # a bound on a move counts as this many standard deviations
NOTHING = 1e-150  # smaller bounds count as 0: their squares would underflow


def own_sd(bound: float) -> float:
    """Return the standard deviation that a bound on a move implies: half the bound.

    Example:
        >>> own_sd(0.1)
        0.05
    """
    return bound / SDS


def is_relative(evidence: Evidence) -> bool:
    """Return whether any arm has a relative bound."""
    for column in range(evidence.relative_bounds.size):
        if evidence.relative_bounds[column] < math.inf:
            return True
    return False


def common_move(evidence: Evidence, noise: float) -> Posterior:
    """Return the posterior of the common move c, given the data of all arms.

    For each arm, let T be the number of its online pulls, S the sum of their rewards, N and m the
    number and the mean of its logged rewards, and W its relative bound. Let σ be the standard
    deviation of a reward. Each arm with pulls, logs and a finite W contributes an estimate y of c,
    with weight w::

        y = S/T − m,   w = 1/(σ² (1/T + 1/N) + (W/2)²)

    The posterior of c is normal with mean Σ w y/q and variance 1/q, where q = q₀ + Σ w and q₀ is
    the prior precision. If every arm with logs has a finite bias bound, then q₀ = 1/(V/2)², where V
    is the largest of these bounds; if V = 0, then c = 0. Otherwise the prior is flat: q₀ = 0.

    While q = 0, the posterior falls back to mean 0 and variance σ². This fallback does not affect
    the choice between arms with logs. Without it, an arm without logs could look best only because
    all rewards rose, and the other arms would never be played again.

    Args:
        evidence: The statistics of all arms, including retired ones.
        noise: σ, the standard deviation of a reward.
    """
    precision, total = prior_precision(evidence), 0.0
    for column in range(evidence.pulls.size):
        arm = arm_at(evidence, column)
        if arm.pulls > 0 and arm.offline_pulls > 0 and arm.relative_bound < math.inf:
            own = own_sd(arm.relative_bound)
            variance = noise * noise * (1.0 / arm.pulls + 1.0 / arm.offline_pulls) + own * own
            weight = 1.0 / variance
            precision += weight
            total += weight * (arm.total / arm.pulls - arm.offline_mean)
    if precision == math.inf:
        return Posterior(0.0, 0.0)
    if precision == 0.0:
        return Posterior(0.0, noise)
    return Posterior(total / precision, 1.0 / math.sqrt(precision))


def prior_precision(evidence: Evidence) -> float:
    """Return q₀: 0 if an arm with logs has no bias bound, infinite if all bias bounds are 0."""
    largest = 0.0
    for column in range(evidence.pulls.size):
        if evidence.offline_pulls[column] > 0:
            largest = max(largest, evidence.bias_bounds[column])
    if largest < NOTHING:
        return math.inf
    return 1.0 / own_sd(largest) / own_sd(largest)


def moved(arm: ArmEvidence, common: float, noise: float) -> ArmEvidence:
    """Return a copy of the arm whose logs are moved by the common move.

    With such a copy, a rule that knows only bias bounds can make use of a relative bound. Let the
    arm have N logged rewards with mean m, the bias bound V and the relative bound W. The copy has
    1/(1/N + (W/2)²/σ²) logged rewards with mean m + c and the bias bound W, where c is the common
    move. The logs stay unchanged
    if the arm has none, if W is infinite, or if V limits the online mean more tightly from above:
    m + V < m + c + W. The copy's `relative_bound` is finite only if its logs were moved.

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
    """Return whether `moved` moves the arm's logs by the common move."""
    if arm.offline_pulls == 0 or arm.relative_bound == math.inf:
        return False
    return not arm.bias_bound < common + arm.relative_bound


def moved_pulls(logged: float, own: float, noise: float) -> float:
    """Return the number of online rewards that an arm's N logged rewards are worth.

    This is 1/(1/N + ω²/σ²), where ω is the standard deviation of the arm's own move since it was
    logged, and σ that of a reward.
    """
    if logged == 0.0:  # then ω may be infinite
        return 0.0
    ratio = own / noise
    return logged / (1.0 + logged * ratio * ratio)  # exactly N if ω = 0
