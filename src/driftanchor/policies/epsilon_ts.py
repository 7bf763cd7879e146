"""ε-exploring Thompson sampling: sample each posterior only with probability ε."""

from __future__ import annotations

from dataclasses import dataclass

from driftanchor.core.evidence import ArmEvidence, Round
from driftanchor.core.index_law import IndexLaw, constant, mixture
from driftanchor.core.noise import Draws
from driftanchor.core.posterior import Posterior, sample_mean
from driftanchor.policies.base import Policy


@dataclass(frozen=True, kw_only=True)
class EpsilonTS(Policy):
    """A posterior sample with probability ε, otherwise the posterior mean; logs are ignored.

    Every arm is pulled once. Then an arm with T pulls and reward sum S has this index::

        index = S/T + σ/√T · z   with probability ε,   z ~ N(0, 1)
                S/T              otherwise

    Each arm draws independently in each round.

    Attributes:
        prior_mean: Not used: the first pull replaces it.
        noise: σ, the standard deviation of a reward; 1 in the original paper.
        epsilon: ε; `None` for 1/K with K arms, as in the original paper.

    Example:
        >>> arm = ArmEvidence(pulls=4, total=2.0, offline_pulls=0, offline_mean=0, bias_bound=0)
        >>> [EpsilonTS().index(arm, Round(t=9, arms=2), Draws(1.0, 0, coin)) for coin in (0.4, 0.6)]
        [1.0, 0.5]
    """

    name = "epsilon-ts"
    formula = "S/T + [coin < ε] σ/√T · z"
    source = "Jin, Yang, Xiao & Xu 2023, PMLR 202:15239"
    uses_logs = False
    normals = 1
    uniforms = 1
    belief = Posterior

    epsilon: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.epsilon is not None:
            self.check_number("epsilon", low=0.0, high=1.0)

    @property
    def chance(self) -> float:
        """ε, or −1 for the default 1/K.

        The default is computed in each round, because K is not known before.
        """
        return -1.0 if self.epsilon is None else self.epsilon

    def believe(self, arm: ArmEvidence) -> Posterior:
        """Return the online mean and its standard deviation, without a prior."""
        return sample_mean(arm.total, arm.pulls, self.noise)

    def sample(self, belief: Posterior, now: Round, z: Draws) -> float:
        """Return a sample around the mean with probability ε, otherwise the mean."""
        if z.coin < coin(self, now):
            return belief.mean + belief.sd * z.on
        return belief.mean

    def law(self, belief: Posterior, now: Round) -> IndexLaw:
        """Return the distribution of the index: a normal with weight ε, otherwise the mean."""
        if belief.sd == 0.0:  # never pulled
            return constant(belief.mean)
        return mixture(coin(self, now), belief.mean, belief.sd, belief.mean, 0.0)


def coin(policy: EpsilonTS, now: Round) -> float:
    """Return ε, the probability that an arm's index is a sample and not the mean."""
    return policy.chance if policy.chance >= 0.0 else 1.0 / now.arms
