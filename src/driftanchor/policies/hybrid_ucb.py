"""HUCB1: UCB that treats logged rewards as online rewards."""

import math
from dataclasses import dataclass
from typing import NamedTuple

from driftanchor.core.evidence import ArmEvidence, Round
from driftanchor.core.noise import Draws
from driftanchor.core.posterior import sample_mean
from driftanchor.policies.base import Policy


class PooledMean(NamedTuple):
    """The mean of online and logged rewards together, and its standard deviation."""

    mean: float
    sd: float
    offline_pulls: float


@dataclass(frozen=True, kw_only=True)
class HybridUCB(Policy):
    """The mean of online and logged rewards together, plus a radius, as if logs were unbiased.

    An arm has T online rewards with sum S, and N logged rewards with mean m. After t online plays
    in total, its index is::

        index = (S + N m)/(T + N) + σ √(c log(t + N) / (T + N))

    Arms with neither logs nor online rewards are played first.

    Attributes:
        prior_mean: Not used.
        noise: σ, the standard deviation of a reward.
        c: The factor before the logarithm; 2 in the original paper.

    Example:
        >>> arm = ArmEvidence(pulls=2, total=1.0, offline_pulls=8, offline_mean=0.5, bias_bound=0)
        >>> HybridUCB().index(arm, Round(t=11, arms=2), Draws(0, 0, 0))
        1.2603...
    """

    name = "hybrid-ucb"
    formula = "(S+N m)/(T+N) + σ √(c log(t+N) / (T+N))"
    source = "Shivaswamy & Joachims 2012, PMLR 22:1046, HUCB1"
    uses_bounds = False
    belief = PooledMean

    c: float = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_number("c", above=0.0)

    def believe(self, arm: ArmEvidence) -> PooledMean:
        """Return the mean of online and logged rewards together, and its standard deviation."""
        total = arm.total + arm.offline_pulls * arm.offline_mean
        pooled = sample_mean(total, arm.pulls + arm.offline_pulls, self.noise)
        return PooledMean(pooled.mean, pooled.sd, float(arm.offline_pulls))

    def sample(self, belief: PooledMean, now: Round, z: Draws) -> float:
        """Return the pooled mean plus its radius."""
        lived = max(now.t - 1 + belief.offline_pulls, 1.0)
        return belief.mean + belief.sd * math.sqrt(self.c * math.log(lived))
