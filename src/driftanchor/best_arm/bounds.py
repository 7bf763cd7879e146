"""Where the mean of an arm may be, by its rewards and by its logs: the bounds of LUCB-H.

Yang, Tan & Cheung (2025), "Best Arm Identification with Possibly Biased Offline Data", UAI, arXiv
2505.23165. Their radius is proved for one fixed round, and a rule that looks after every pull needs
one that holds in all rounds at once: the normal mixture of Robbins (1970). Plain scalar code, which
Numba can compile.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from driftanchor.core.evidence import ArmEvidence, Round
from driftanchor.core.posterior import bias_shift
from driftanchor.core.stats.anytime import mixture_radius

RADII = ("anytime", "paper")
AIM = 100.0  # rewards at which the anytime radius is nearly as small as it can be


class Rule(NamedTuple):
    """What the bounds need to know beside the arm."""

    noise: float  # σ: rewards are σ-sub-Gaussian
    delta: float  # δ, the chance that any bound fails
    anytime: bool  # the radius; otherwise the paper's


class Interval(NamedTuple):
    """Two bounds of an arm's online mean."""

    lower: float
    upper: float


def interval(rule: Rule, arm: ArmEvidence, now: Round) -> Interval:
    """The bounds of an arm that was pulled: what rewards and logs allow, each on their own.

    With T pulls and reward sum S online, N logged rewards of mean m, bias bound V and radius r(n)
    of n rewards::

        online   S/T ± r(T)
        pooled   (S + N m)/(T + N) ± (r(T + N) + N V/(T + N))

    The upper bound is the smaller of both and the lower bound the larger. Logs of which nothing is
    promised are not used. Logs that break their promise may leave nothing: lower > upper.

    Example:
        >>> arm = ArmEvidence(100, 50.0, offline_pulls=300, offline_mean=0.5, bias_bound=0.0)
        >>> interval(Rule(1.0, 0.05, False), arm, Round(t=200, arms=2))  # r² = 2 log(2·200/δ)/n
        Interval(lower=0.2880..., upper=0.7119...)
    """
    logged = arm.offline_pulls if arm.bias_bound < math.inf else 0
    miss = rule.delta / (now.arms if logged == 0 else 2.0 * now.arms)  # one interval, or two
    mean = arm.total / arm.pulls
    wide = radius(rule, arm.pulls, miss, AIM, now)
    lower, upper = mean - wide, mean + wide
    if logged > 0:
        n = arm.pulls + logged
        mean = (arm.total + logged * arm.offline_mean) / n
        wide = radius(rule, n, miss, max(AIM, logged), now) + bias_shift(arm)
        lower, upper = max(lower, mean - wide), min(upper, mean + wide)
    return Interval(lower, upper)


def radius(rule: Rule, n: float, miss: float, aim: float, now: Round) -> float:
    """How far the mean of n rewards may be off; σ √(2 log(K t/δ)/n) after t pulls in the paper."""
    if rule.anytime:
        return rule.noise * mixture_radius(n, miss, aim)
    return rule.noise * math.sqrt(2.0 * math.log(now.arms * now.t / rule.delta) / n)
