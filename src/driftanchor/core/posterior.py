"""Posteriors of an arm's online mean, and the median of three numbers for Anchor-TS.

Plain scalar functions, interpreted or compiled. The prior is N(prior_mean, noise²) and counts as
one pull, which is the `+1` in the paper's denominators.

In the formulas, T and S are an arm's online pulls and reward sum, N and m are the number and mean
of its logged rewards, V is its bias bound, m₀ is the prior mean, σ the noise and c the `scale` of
the variance.
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
    """Return the posterior from online rewards alone: N((S + m₀)/(T + 1), c σ²/(T + 1))."""
    n = arm.pulls + 1
    return Posterior((arm.total + prior_mean) / n, noise * math.sqrt(scale / n))


def hybrid_posterior(
    arm: ArmEvidence, prior_mean: float, noise: float, scale: float = 1.0
) -> Posterior:
    """Return the posterior from logs and online rewards together.

    The posterior is N((S + N m + m₀)/(T + N + 1), c σ²/(T + N + 1)).
    """
    n = arm.pulls + arm.offline_pulls + 1
    total = arm.total + arm.offline_pulls * arm.offline_mean
    return Posterior((total + prior_mean) / n, noise * math.sqrt(scale / n))


def sample_mean(total: float, pulls: float, noise: float) -> Posterior:
    """Return N(S/T, σ²/T), the posterior without a prior; without pulls the mean is +∞.

    So an arm without pulls beats every arm with pulls, and each arm is pulled at least once.
    """
    if pulls == 0:
        return Posterior(math.inf, 0.0)
    return Posterior(total / pulls, noise / math.sqrt(pulls))


def bias_shift(arm: ArmEvidence) -> float:
    """Return Z = N V/(T + N), the most by which bias can have lowered the hybrid mean."""
    if arm.offline_pulls == 0:  # 0/0 at the start; without logs nothing can be biased (E4)
        return 0.0
    return arm.offline_pulls * arm.bias_bound / (arm.pulls + arm.offline_pulls)


def median(a: float, b: float, c: float) -> float:
    """Return the median of three numbers."""
    return max(min(a, b), min(max(a, b), c))
