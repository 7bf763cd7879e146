"""Hierarchical Thompson sampling: arms may have moved since the logs, together and singly."""

import math
from dataclasses import dataclass

from driftanchor.core.common_move import moved_pulls, own_sd
from driftanchor.core.evidence import ArmEvidence, Round
from driftanchor.core.index_law import IndexLaw, one_sample
from driftanchor.core.noise import Draws
from driftanchor.core.posterior import Posterior
from driftanchor.policies.base import Policy


@dataclass(frozen=True, kw_only=True)
class HierarchicalTS(Policy):
    """A sample from a posterior that treats the moves since the logs as random.

    An arm's online mean is the sum of its offline mean, a move c common to all arms, and a move of
    its own, drawn from N(0, ω²). A bound counts as two standard deviations: ω = min(V, W)/2, with
    bias bound V and relative bound W. An arm with T online rewards of sum S, and N logged rewards
    of mean m, has this index::

        N'    = 1/(1/N + ω²/σ²)
        index = θ ~ N((S + N' (m + c) + m₀)/(T + N' + 1), σ²/(T + N' + 1))

    With a relative bound, c is drawn once per round for all arms, from its posterior given the
    rewards of all arms (see `driftanchor.core.common_move`). Without a relative bound, c = 0. In
    this case ω = 0 gives hybrid TS, and ω = ∞ (no bound) gives TS, which ignores the logs. The
    policy trusts its bounds: if an arm moved farther, its logs may mislead the policy forever.

    Attributes:
        prior_mean: m₀, the prior mean.
        noise: σ, the standard deviation of a reward.

    Example:
        >>> arm = ArmEvidence(pulls=3, total=1.5, offline_pulls=24, offline_mean=0.5, bias_bound=0)
        >>> now, z = Round(t=4, arms=2), Draws(on=1.0, hyb=0.0, coin=0.0)
        >>> HierarchicalTS().index(arm._replace(bias_bound=2 * (1 / 24) ** 0.5), now, z)  # N' = 12
        0.71875
    """

    name = "hierarchical-ts"
    formula = "θ ~ N((S+N'(m+c)+m₀)/(T+N'+1), σ²/(T+N'+1)), N' = 1/(1/N+ω²/σ²), ω = min(V,W)/2"
    source = "hierarchical model after Lindley & Smith 1972; TS after Agrawal & Goyal 2013"
    normals = 1
    belief = Posterior

    def moved(self, arm: ArmEvidence, common: float) -> ArmEvidence:
        """Return the arm's numbers after its logs are shifted by `common`, the common move.

        Logs without a relative bound are not shifted.
        """
        mean = arm.offline_mean
        if arm.relative_bound < math.inf:
            mean = mean + common
        return ArmEvidence(
            arm.pulls,
            arm.total,
            float(arm.offline_pulls),
            mean,
            arm.bias_bound,
            arm.pending,
            arm.relative_bound,
        )

    def believe(self, arm: ArmEvidence) -> Posterior:
        """Return the posterior from online rewards and logs.

        The wider the bound, the fewer online rewards the logs are worth.
        """
        own = own_sd(min(arm.bias_bound, arm.relative_bound))
        logged = moved_pulls(arm.offline_pulls, own, self.noise)
        n = arm.pulls + logged + 1.0
        total = arm.total + logged * arm.offline_mean
        return Posterior((total + self.prior_mean) / n, self.noise * math.sqrt(1.0 / n))

    def sample(self, belief: Posterior, now: Round, z: Draws) -> float:
        """Return one sample from the posterior."""
        return belief.mean + belief.sd * z.on

    def law(self, belief: Posterior, now: Round) -> IndexLaw:
        """Return the distribution of the index: the normal posterior."""
        return one_sample(belief.mean, belief.sd)
