"""Thompson sampling with Gaussian priors; logs are ignored."""

from dataclasses import dataclass

from driftanchor.core.evidence import ArmEvidence, Round
from driftanchor.core.index_law import IndexLaw, one_sample
from driftanchor.core.noise import Draws
from driftanchor.core.posterior import Posterior, online_posterior
from driftanchor.policies.base import Policy


@dataclass(frozen=True, kw_only=True)
class TS(Policy):
    """A sample from the posterior of the online mean; logs are ignored.

    An arm with T online rewards of sum S has this index::

        index = θ ~ N((S + m₀)/(T + 1), σ²/(T + 1))

    Attributes:
        prior_mean: m₀, the prior mean; 0 in the original paper.
        noise: σ, the standard deviation of a reward; 1 in the original paper.

    Example:
        >>> arm = ArmEvidence(pulls=3, total=1.2, offline_pulls=0, offline_mean=0, bias_bound=0)
        >>> TS().index(arm, Round(t=4, arms=2), Draws(on=1.0, hyb=0.0, coin=0.0))
        0.8
    """

    name = "ts"
    formula = "θ ~ N((S+m₀)/(T+1), σ²/(T+1))"
    source = "Agrawal & Goyal 2013, arXiv 1209.3353, Algorithm 2"
    uses_logs = False
    normals = 1
    belief = Posterior
    leaps = "online"

    def believe(self, arm: ArmEvidence) -> Posterior:
        """Return the posterior from online rewards alone."""
        return online_posterior(arm, self.prior_mean, self.noise)

    def sample(self, belief: Posterior, now: Round, z: Draws) -> float:
        """Return one sample from the posterior."""
        return belief.mean + belief.sd * z.on

    def law(self, belief: Posterior, now: Round) -> IndexLaw:
        """Return the distribution of the index: the normal posterior."""
        return one_sample(belief.mean, belief.sd)
