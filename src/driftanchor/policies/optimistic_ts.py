"""Optimistic Thompson sampling: Anchor-TS without a bound on the bias."""

from dataclasses import dataclass

from driftanchor.core.evidence import ArmEvidence, Round
from driftanchor.core.index_law import IndexLaw, larger
from driftanchor.core.noise import Draws
from driftanchor.core.posterior import Posterior, online_posterior
from driftanchor.policies.base import Policy


@dataclass(frozen=True, kw_only=True)
class OptimisticTS(Policy):
    """The larger of the online mean and an online sample; logs are ignored.

    An arm with T online rewards of sum S has this index::

        anchor = (S + m₀)/(T + 1)
        index  = max(anchor, θ),   θ ~ N(anchor, c σ²/(T + 1))

    Anchor-TS with V = ∞ is exactly this rule, because its shifted hybrid sample is +∞.

    Attributes:
        prior_mean: m₀, the prior mean.
        noise: σ, the standard deviation of a reward.
        posterior_scale: c, which multiplies the posterior variance.

    Example:
        >>> arm = ArmEvidence(pulls=3, total=1.2, offline_pulls=0, offline_mean=0, bias_bound=0)
        >>> [OptimisticTS().index(arm, Round(t=4, arms=2), Draws(z, 0, 0)) for z in (-1.0, 1.0)]
        [0.3, 0.8]
    """

    name = "optimistic-ts"
    formula = "max(anchor, θ_on)"
    source = "May, Korda, Lee & Leslie 2012, JMLR 13:2069"
    uses_logs = False
    normals = 1
    belief = Posterior
    leaps = "online"

    posterior_scale: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_number("posterior_scale", above=0.0)

    def believe(self, arm: ArmEvidence) -> Posterior:
        """Return the posterior from online rewards alone."""
        return online_posterior(arm, self.prior_mean, self.noise, self.posterior_scale)

    def sample(self, belief: Posterior, now: Round, z: Draws) -> float:
        """Return the larger of the online mean and a sample."""
        return max(belief.mean, belief.mean + belief.sd * z.on)

    def law(self, belief: Posterior, now: Round) -> IndexLaw:
        """Return the distribution of the larger of the online mean and a sample."""
        return larger(belief.mean, belief.mean, belief.sd)
