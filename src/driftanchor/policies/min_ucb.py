"""MIN-UCB: the smaller of an online and a bias-aware hybrid upper bound."""

import math
from dataclasses import dataclass
from typing import NamedTuple

from driftanchor.core.evidence import ArmEvidence, Round
from driftanchor.core.noise import Draws
from driftanchor.core.posterior import bias_shift, sample_mean
from driftanchor.policies.base import Policy
from driftanchor.policies.ucb import log_plays


class TwoMeans(NamedTuple):
    """The online mean and the shifted hybrid mean, with their standard deviations."""

    online_mean: float
    online_sd: float
    hybrid_mean: float
    hybrid_sd: float


class TwoBounds(NamedTuple):
    """An upper bound from online rewards alone, and one from online rewards and logs."""

    online_bound: float
    hybrid_bound: float


@dataclass(frozen=True, kw_only=True)
class MinUCB(Policy):
    """The smaller of two upper bounds on the online mean.

    Every arm is pulled once. Then an arm with T online rewards of sum S, N logged rewards of mean
    m, and bias bound V has this index::

        UCB    = S/T + σ √(w/T)
        UCB^S  = (S + N m)/(T + N) + σ √(w/(T + N)) + N V/(T + N)
        index  = min(UCB, UCB^S)

    With `radius="ucb1"`, the width w is c log t after t plays. With `radius="cheung-lyu"`, it is
    c log(4 K t³) in round t for K arms: c log(2t/δ_t) with δ_t = 1/(2 K t²), as in the theorem of
    the original paper. Only `"ucb1"` fits the curves that the Anchor-TS paper describes
    (docs/evidence/calibration.md).

    Attributes:
        prior_mean: Not used: the first pull replaces it.
        noise: σ, the standard deviation of a reward.
        c: The factor before the logarithm; 2 in the original paper.
        radius: `"ucb1"` or `"cheung-lyu"`.

    Example:
        >>> arm = ArmEvidence(pulls=2, total=1.0, offline_pulls=8, offline_mean=0.5, bias_bound=0.1)
        >>> MinUCB().explain(arm, Round(t=11, arms=2), Draws(0, 0, 0))
        {'online_bound': 2.0174..., 'hybrid_bound': 1.2586...}
    """

    name = "min-ucb"
    formula = "min(S/T + σ √(w/T), (S+N m)/(T+N) + σ √(w/(T+N)) + N V/(T+N))"
    source = "Cheung & Lyu 2024, PMLR 235:8286, arXiv 2405.02594"
    belief = TwoMeans

    c: float = 2.0
    radius: str = "ucb1"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_number("c", above=0.0)
        self.check_choice("radius", ("ucb1", "cheung-lyu"))

    @property
    def cheung_lyu(self) -> bool:
        """Whether `radius` is `"cheung-lyu"`."""
        return self.radius == "cheung-lyu"

    def believe(self, arm: ArmEvidence) -> TwoMeans:
        """Return the online mean, the shifted hybrid mean, and their standard deviations."""
        online = sample_mean(arm.total, arm.pulls, self.noise)
        if arm.pulls == 0:  # the index is +∞ before the first online pull, whatever the logs
            return TwoMeans(online.mean, online.sd, online.mean, online.sd)
        total = arm.total + arm.offline_pulls * arm.offline_mean
        hybrid = sample_mean(total, arm.pulls + arm.offline_pulls, self.noise)
        return TwoMeans(online.mean, online.sd, hybrid.mean + bias_shift(arm), hybrid.sd)

    def sample(self, belief: TwoMeans, now: Round, z: Draws) -> float:
        """Return the smaller of the arm's two upper bounds."""
        two = bounds(belief, self.c * log_width(now, self.cheung_lyu))
        return min(two.online_bound, two.hybrid_bound)

    def explain(self, arm: ArmEvidence, now: Round, z: Draws) -> dict[str, float]:
        """Return the arm's two upper bounds by name."""
        width = self.c * log_width(now, self.cheung_lyu)
        return bounds(self.believe(arm), width)._asdict()


def bounds(belief: TwoMeans, width: float) -> TwoBounds:
    """Return the two upper bounds of an arm: each is a mean plus √width standard deviations."""
    root = math.sqrt(width)
    return TwoBounds(
        belief.online_mean + belief.online_sd * root,
        belief.hybrid_mean + belief.hybrid_sd * root,
    )


def log_width(now: Round, cheung_lyu: bool) -> float:
    """Return the logarithm that enters both radii: see `MinUCB`."""
    if cheung_lyu:
        return math.log(4.0 * now.arms) + 3.0 * math.log(now.t)
    return log_plays(now)
