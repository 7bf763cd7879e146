"""Posteriors of an arm's online mean, and the median of three numbers for Anchor-TS.

The prior is normal with mean `prior_mean` and standard deviation `noise`. It counts as one pull;
this is the `+1` in the paper's denominators. The functions are plain scalar code, which runs
interpreted or compiled.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from driftanchor.core.evidence import ArmEvidence


class Posterior(NamedTuple):
    """A normal distribution."""

    mean: float
    sd: float


def online_posterior(
    arm: ArmEvidence, prior_mean: float, noise: float, scale: float = 1.0
) -> Posterior:
    """Return the posterior of an arm's mean, from its online rewards alone.

    Let T be the number of the arm's online pulls and S the sum of their rewards. The posterior is
    normal with mean (S + prior_mean)/(T + 1) and variance scale · noise²/(T + 1).
    """
    n = arm.pulls + 1
    return Posterior((arm.total + prior_mean) / n, noise * math.sqrt(scale / n))


def hybrid_posterior(
    arm: ArmEvidence, prior_mean: float, noise: float, scale: float = 1.0
) -> Posterior:
    """Return the posterior of an arm's mean, from its logs and its online rewards together.

    Let T be the number of the arm's online pulls, S the sum of their rewards, and N and m the
    number and the mean of its logged rewards. The posterior is normal with mean
    (S + N m + prior_mean)/(T + N + 1) and variance scale · noise²/(T + N + 1).
    """
    n = arm.pulls + arm.offline_pulls + 1
    total = arm.total + arm.offline_pulls * arm.offline_mean
    return Posterior((total + prior_mean) / n, noise * math.sqrt(scale / n))


def sample_mean(total: float, pulls: float, noise: float) -> Posterior:
    """Return the posterior of a mean under a flat prior.

    The posterior is normal with mean total/pulls and variance noise²/pulls. Without pulls, its mean
    is +∞. So an arm without pulls beats every arm with pulls, and each arm is pulled at least once.
    """
    if pulls == 0:
        return Posterior(math.inf, 0.0)
    return Posterior(total / pulls, noise / math.sqrt(pulls))


def bias_shift(arm: ArmEvidence) -> float:
    """Return the largest amount by which bias in the logs could have lowered the hybrid mean.

    This amount is N V/(T + N), where T is the number of the arm's online pulls, N the number of its
    logged rewards, and V its bias bound. The paper calls the amount Z.
    """
    if arm.offline_pulls == 0:  # 0/0 at the start; without logs nothing can be biased (E4)
        return 0.0
    return arm.offline_pulls * arm.bias_bound / (arm.pulls + arm.offline_pulls)


def median(a: float, b: float, c: float) -> float:
    """Return the median of three numbers."""
    return max(min(a, b), min(max(a, b), c))
