"""Anchor-TS, the paper's algorithm.

Li, Fu, Chen & Kong (2026), "Sample-Mean Anchored Thompson Sampling for Offline-to-Online Learning
with Distribution Shift", arXiv 2605.10289, Algorithm 1. Line numbers below refer to this algorithm.
E1, E2, … are entries of `docs/evidence/errata.md`, which lists mistakes in the printed pseudo-code.
"""

from dataclasses import dataclass
from typing import NamedTuple

from driftanchor.core.evidence import ArmEvidence, Round
from driftanchor.core.index_law import IndexLaw, median_law
from driftanchor.core.noise import Draws
from driftanchor.core.posterior import bias_shift, hybrid_posterior, median, online_posterior
from driftanchor.policies.base import Policy


class TwoPosteriors(NamedTuple):
    """The online posterior and the upward-shifted hybrid posterior of an arm's mean."""

    mean: float  # online: the anchor
    sd: float  # online
    hybrid_mean: float  # includes the shift Z
    hybrid_sd: float


class AnchorCandidates(NamedTuple):
    """The three numbers whose median is the arm's index."""

    anchor: float
    online_sample: float
    hybrid_sample: float


@dataclass(frozen=True, kw_only=True)
class AnchorTS(Policy):
    """The median of the online mean, an online sample, and a hybrid sample shifted upwards.

    An arm has T online rewards with sum S (pending pulls do not count), N logged rewards with mean
    m, and a bias bound V. Its index is::

        anchor = (S + m₀)/(T + 1)
        θ_on   ~ N(anchor, c σ²/(T + 1))
        θ_hyb  ~ N((S + N m + m₀)/(T + N + 1) + Z, c σ²/(T + N + 1)),   Z = N V/(T + N)
        index  = median(anchor, θ_on, θ_hyb)

    Without logs Z = 0, and θ_hyb is a second online sample. If the logs are right, θ_hyb is close
    to the anchor, which saves exploration. If they are wrong, θ_hyb is an outlier and only decides
    whether the index is the smaller or the larger of the anchor and θ_on. With V = ∞ the index is
    always the larger of the two. The logs are then ignored, but the rule is not the same as for an
    arm without logs.

    A relative bound replaces V if it gives the tighter upper bound on the online mean. The logs are
    then shifted by the common move (see `Policy.moved`).

    Attributes:
        prior_mean: m₀, the prior mean; 0 in the paper.
        noise: σ, the standard deviation of a reward; 1 in the paper.
        posterior_scale: c, which multiplies the posterior variances; 1 in the paper. With Gaussian
            rewards, 1 gives the lowest median regret, but rare runs never recover; 2 matches the
            Lai–Robbins rate; 4 is the case that the theorem covers.

    Example:
        >>> arm = ArmEvidence(pulls=3, total=1.2, offline_pulls=4, offline_mean=0.5, bias_bound=0.7)
        >>> z = Draws(on=1.0, hyb=-1.0, coin=0.0)
        >>> AnchorTS().explain(arm, Round(t=4, arms=2), z)
        {'anchor': 0.3, 'online_sample': 0.8, 'hybrid_sample': 0.4464...}
        >>> AnchorTS().index(arm, Round(t=4, arms=2), z)
        0.4464...
    """

    name = "anchor-ts"
    formula = "median(anchor, θ_on, θ_hyb), θ_hyb shifted right by N V/(T+N)"
    source = "Li, Fu, Chen & Kong 2026, arXiv 2605.10289, Algorithm 1"
    normals = 2
    belief = TwoPosteriors
    leaps = "online"

    posterior_scale: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_number("posterior_scale", above=0.0)

    def believe(self, arm: ArmEvidence) -> TwoPosteriors:
        """Return the two posteriors of an arm (lines 10 to 15 of the paper's Algorithm 1)."""
        return posteriors(arm, self.prior_mean, self.noise, self.posterior_scale)

    def sample(self, belief: TwoPosteriors, now: Round, z: Draws) -> float:
        """Return the median of the anchor and two samples (lines 5 to 7 of Algorithm 1)."""
        three = candidates(belief, z)
        return median(three.anchor, three.online_sample, three.hybrid_sample)  # line 7

    def law(self, belief: TwoPosteriors, now: Round) -> IndexLaw:
        """Return the distribution of the median of the anchor and two samples."""
        return median_law(belief.mean, belief.mean, belief.sd, belief.hybrid_mean, belief.hybrid_sd)

    def explain(self, arm: ArmEvidence, now: Round, z: Draws) -> dict[str, float]:
        """Return the three numbers whose median is the index."""
        return candidates(self.believe(arm), z)._asdict()


def posteriors(arm: ArmEvidence, prior_mean: float, noise: float, scale: float) -> TwoPosteriors:
    """Return the online and the shifted hybrid posterior of one arm."""
    # Line 12 as printed, mean ← (T mean + R)/(T + 2), omits the pull that the prior counts as, and
    # converges to half the mean (E1). The proofs divide the sum of all rewards by T + 1.
    online = online_posterior(arm, prior_mean, noise, scale)
    # Lines 14 and 15, with the reward sum itself and not T/(T + 1) of it (E2, E3, E5).
    hybrid = hybrid_posterior(arm, prior_mean, noise, scale)
    shift = bias_shift(arm)  # line 15: Z = N V/(T + N), and 0 without logs (E4)
    return TwoPosteriors(online.mean, online.sd, hybrid.mean + shift, hybrid.sd)


def candidates(belief: TwoPosteriors, z: Draws) -> AnchorCandidates:
    """Return the anchor and the two samples of one arm, from the standard normals in `z`."""
    # Line 5: θ_on ~ N(μ_on, σ_on²)
    online_sample = belief.mean + belief.sd * z.on
    # Line 6: θ_hyb ~ N(μ_hyb + Z, σ_hyb²); hybrid_mean includes Z
    hybrid_sample = belief.hybrid_mean + belief.hybrid_sd * z.hyb
    return AnchorCandidates(belief.mean, online_sample, hybrid_sample)
