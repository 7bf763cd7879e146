"""Anchor-TS with another number in place of the median, for the experiment `ablations`.

The paper motivates the median. These rules show what it is worth: the smaller and the larger of the
two samples, and the mean of all three numbers. They are no policies to use, so `POLICIES` does not
list them.
"""

from driftanchor.core.evidence import ArmEvidence, Round
from driftanchor.core.noise import Draws
from driftanchor.policies.anchor_ts import TwoPosteriors, candidates, posteriors
from driftanchor.policies.base import Policy


class Ablation(Policy):
    """Anchor-TS up to the last line; subclasses say what is taken of its three numbers."""

    source = "Li, Fu, Chen & Kong 2026, arXiv 2605.10289, Algorithm 1, but for line 7"
    normals = 2
    belief = TwoPosteriors

    def believe(self, arm: ArmEvidence) -> TwoPosteriors:
        """The posteriors of one arm."""
        return posteriors(arm, self.prior_mean, self.noise, 1.0)


class AnchorMin(Ablation):
    """The smaller of the two samples."""

    name = "anchor-min"
    formula = "min(θ_on, θ_hyb), θ_hyb shifted right by N V/(T+N)"

    def sample(self, belief: TwoPosteriors, now: Round, z: Draws) -> float:
        """The index of one arm."""
        three = candidates(belief, z)
        return min(three.online_sample, three.hybrid_sample)


class AnchorMax(Ablation):
    """The larger of the two samples."""

    name = "anchor-max"
    formula = "max(θ_on, θ_hyb), θ_hyb shifted right by N V/(T+N)"

    def sample(self, belief: TwoPosteriors, now: Round, z: Draws) -> float:
        """The index of one arm."""
        three = candidates(belief, z)
        return max(three.online_sample, three.hybrid_sample)


class AnchorMean(Ablation):
    """The mean of the anchor and the two samples."""

    name = "anchor-mean"
    formula = "(anchor + θ_on + θ_hyb)/3, θ_hyb shifted right by N V/(T+N)"

    def sample(self, belief: TwoPosteriors, now: Round, z: Draws) -> float:
        """The index of one arm."""
        three = candidates(belief, z)
        return (three.anchor + three.online_sample + three.hybrid_sample) / 3
