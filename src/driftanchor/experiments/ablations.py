"""Anchor-TS with another number in place of the median, for the experiment `ablations`.

The paper motivates the median. These rules show what it is worth: the smaller and the larger of the
two samples, and the mean of all three numbers. They are no policies to use, so `POLICIES` does not
list them.
"""

from driftanchor.core.evidence import Round
from driftanchor.core.noise import Draws
from driftanchor.policies.anchor_ts import AnchorTS, TwoPosteriors, candidates


class AnchorMin(AnchorTS):
    """The smaller of the two samples."""

    name = "anchor-min"
    formula = "min(θ_on, θ_hyb + N V/(T+N))"
    tails = None

    def sample(self, belief: TwoPosteriors, now: Round, z: Draws) -> float:
        """The index of one arm."""
        three = candidates(belief, z)
        return min(three.online_sample, three.hybrid_sample)


class AnchorMax(AnchorTS):
    """The larger of the two samples."""

    name = "anchor-max"
    formula = "max(θ_on, θ_hyb + N V/(T+N))"
    tails = None

    def sample(self, belief: TwoPosteriors, now: Round, z: Draws) -> float:
        """The index of one arm."""
        three = candidates(belief, z)
        return max(three.online_sample, three.hybrid_sample)


class AnchorMean(AnchorTS):
    """The mean of the anchor and the two samples."""

    name = "anchor-mean"
    formula = "(anchor + θ_on + θ_hyb + N V/(T+N))/3"
    tails = None

    def sample(self, belief: TwoPosteriors, now: Round, z: Draws) -> float:
        """The index of one arm."""
        three = candidates(belief, z)
        return (three.anchor + three.online_sample + three.hybrid_sample) / 3
