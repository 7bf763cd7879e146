"""MOTS: Thompson sampling with capped samples; logs are ignored."""

from __future__ import annotations

import math
from dataclasses import dataclass

from driftanchor.core.evidence import ArmEvidence, Round
from driftanchor.core.index_law import IndexLaw, constant, smaller
from driftanchor.core.noise import Draws
from driftanchor.policies.base import Policy
from driftanchor.policies.moss import PulledMean, pulled_mean, share_radius


@dataclass(frozen=True, kw_only=True)
class MOTS(Policy):
    """A sample around the arm's online mean, capped at an upper bound like that of MOSS.

    Every arm is pulled once. With K arms and a horizon of n rounds, an arm with T pulls and reward
    sum S then has this index::

        θ     ~ N(S/T, σ²/(ρ T))
        cap   = S/T + σ √(α log⁺(n/(K T)) / T)
        index = min(θ, cap)

    log⁺ is max(0, log). The cap cuts off rare samples that would make a bad arm look far too good.
    If the horizon is unknown, the current round t replaces n. (The authors' code for a later paper
    writes the cap without the root and with T outside the fraction, which is a different rule.)

    Attributes:
        prior_mean: Not used: the first pull replaces it.
        noise: σ, the standard deviation of a reward; 1 in the original paper.
        rho: ρ, which divides the variance of the sample. The theorem holds for 1/2 < ρ < 1. The
            nearer ρ is to 1, the fewer pulls bad arms get in the limit.
        alpha: α in the formula of the cap. The theorem holds for α ≥ 4.
        horizon: n, the number of rounds; 0 if unknown. `simulate` does not set it.

    Example:
        >>> arm = ArmEvidence(pulls=4, total=2.0, offline_pulls=0, offline_mean=0, bias_bound=0)
        >>> now, policy = Round(t=11, arms=2), MOTS(horizon=16, rho=1.0)
        >>> [round(policy.index(arm, now, Draws(z, 0, 0)), 4) for z in (-1.0, 1.0, 2.0)]
        [0.0, 1.0, 1.3326]
    """

    name = "mots"
    formula = "min(θ, S/T + σ √(α log⁺(n/(K T)) / T)), θ ~ N(S/T, σ²/(ρ T))"
    source = "Jin, Xu, Shi, Xiao & Gu 2021, PMLR 139:5074, arXiv 2003.01803"
    uses_logs = False
    normals = 1
    belief = PulledMean

    rho: float = 0.9
    alpha: float = 4.0
    horizon: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_number("rho", above=0.0)
        self.check_number("alpha", low=0.0)
        self.check_number("horizon", low=0.0)

    def believe(self, arm: ArmEvidence) -> PulledMean:
        """Return the online mean and the number of pulls."""
        return pulled_mean(arm)

    def sample(self, belief: PulledMean, now: Round, z: Draws) -> float:
        """Return the smaller of the sample and its cap."""
        if belief.pulls == 0.0:
            return belief.mean
        theta = self.noise / math.sqrt(self.rho * belief.pulls) * z.on
        cap = share_radius(belief, now, self.horizon, self.noise, self.alpha)
        return belief.mean + min(theta, cap)

    def law(self, belief: PulledMean, now: Round) -> IndexLaw:
        """Return the distribution of the capped sample."""
        if belief.pulls == 0.0:
            return constant(belief.mean)
        cap = share_radius(belief, now, self.horizon, self.noise, self.alpha)
        sd = self.noise / math.sqrt(self.rho * belief.pulls)
        return smaller(belief.mean + cap, belief.mean, sd)

    def explain(self, arm: ArmEvidence, now: Round, z: Draws) -> dict[str, float]:
        """Return the sample and its cap by name."""
        belief = self.believe(arm)
        pulls = max(belief.pulls, 1.0)
        theta = belief.mean + self.noise / math.sqrt(self.rho * pulls) * z.on
        cap = share_radius(belief, now, self.horizon, self.noise, self.alpha)
        return {"sample": theta, "cap": belief.mean + cap}
