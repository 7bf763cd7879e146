"""Thompson sampling that treats logged rewards as online rewards."""

from dataclasses import dataclass

from driftanchor.core.evidence import ArmEvidence, Round
from driftanchor.core.index_law import IndexLaw, one_sample
from driftanchor.core.noise import Draws
from driftanchor.core.posterior import Posterior, hybrid_posterior
from driftanchor.policies.base import Policy


@dataclass(frozen=True, kw_only=True)
class HybridTS(Policy):
    """A sample from the posterior that pools online rewards and logs as if the logs were unbiased.

    An arm with T online rewards of sum S, and N logged rewards of mean m, has this index::

        index = θ ~ N((S + N m + m₀)/(T + N + 1), σ²/(T + N + 1))

    This is the hybrid sample of Anchor-TS with bias bound 0. The Anchor-TS paper uses the rule as
    a baseline and names no source for it.

    Attributes:
        prior_mean: m₀, the prior mean.
        noise: σ, the standard deviation of a reward.

    Example:
        >>> arm = ArmEvidence(pulls=3, total=1.5, offline_pulls=12, offline_mean=0.5, bias_bound=0)
        >>> HybridTS().index(arm, Round(t=4, arms=2), Draws(on=1.0, hyb=0.0, coin=0.0))
        0.71875
    """

    name = "hybrid-ts"
    formula = "θ ~ N((S+N m+m₀)/(T+N+1), σ²/(T+N+1))"
    source = "baseline of Li, Fu, Chen & Kong 2026; TS after Agrawal & Goyal 2013"
    uses_bounds = False
    normals = 1
    belief = Posterior
    leaps = "hybrid"

    def believe(self, arm: ArmEvidence) -> Posterior:
        """Return the posterior from logs and online rewards together."""
        return hybrid_posterior(arm, self.prior_mean, self.noise)

    def sample(self, belief: Posterior, now: Round, z: Draws) -> float:
        """Return one sample from the posterior."""
        return belief.mean + belief.sd * z.on

    def law(self, belief: Posterior, now: Round) -> IndexLaw:
        """Return the distribution of the index: the normal posterior."""
        return one_sample(belief.mean, belief.sd)
