"""MOSS: UCB whose radius is 0 once an arm has had 1/K of all rounds; logs are ignored."""

import math
from dataclasses import dataclass
from typing import NamedTuple

from driftanchor.core.evidence import ArmEvidence, Round
from driftanchor.core.noise import Draws
from driftanchor.policies.base import Policy


class PulledMean(NamedTuple):
    """The online mean of an arm (+∞ before the first pull) and its number of pulls."""

    mean: float
    pulls: float


@dataclass(frozen=True, kw_only=True)
class MOSS(Policy):
    """The online mean plus a radius that is 0 once the arm has had 1/K of all rounds.

    Every arm is pulled once. With K arms and a horizon of n rounds, an arm with T pulls and reward
    sum S then has this index::

        index = S/T + σ √(c log⁺(n/(K T)) / T)

    log⁺ is max(0, log), so the radius is 0 from T = n/K on. If the horizon is unknown, the current
    round t replaces n, as in MOSS-anytime.

    Attributes:
        prior_mean: Not used: the first pull replaces it.
        noise: σ, the standard deviation of a reward. In the original paper, rewards lie in
            [0, 1], so σ is at most 1/2.
        c: The factor before the logarithm. With σ = 1/2, c = 4 gives the radius of the original
            paper. MOSS-anytime has c = 2 (1 + α), where α is its own parameter.
        horizon: n, the number of rounds; 0 if unknown. `simulate` does not set it.

    Example:
        >>> arm = ArmEvidence(pulls=2, total=1.0, offline_pulls=0, offline_mean=0, bias_bound=0)
        >>> MOSS(horizon=400).index(arm, Round(t=11, arms=2), Draws(0, 0, 0))
        3.5348...
        >>> MOSS().index(arm, Round(t=11, arms=2), Draws(0, 0, 0))
        1.9223...
    """

    name = "moss"
    formula = "S/T + σ √(c log⁺(n/(K T)) / T), n = t if unknown"
    source = "Audibert & Bubeck 2009, COLT; anytime: Degenne & Perchet 2016, PMLR 48:1587"
    uses_logs = False
    belief = PulledMean

    c: float = 4.0
    horizon: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_number("c", above=0.0)
        self.check_number("horizon", low=0.0)

    def believe(self, arm: ArmEvidence) -> PulledMean:
        """Return the online mean and the number of pulls."""
        return pulled_mean(arm)

    def sample(self, belief: PulledMean, now: Round, z: Draws) -> float:
        """Return the online mean plus the radius."""
        return belief.mean + share_radius(belief, now, self.horizon, self.noise, self.c)


def pulled_mean(arm: ArmEvidence) -> PulledMean:
    """Return the online mean (+∞ before the first pull) and the number of pulls."""
    if arm.pulls == 0:
        return PulledMean(math.inf, 0.0)
    return PulledMean(arm.total / arm.pulls, float(arm.pulls))


def share_radius(belief: PulledMean, now: Round, horizon: float, noise: float, c: float) -> float:
    """Return the radius σ √(c log⁺(n/(K T)) / T), where n is the round if `horizon` is 0."""
    if belief.pulls == 0.0:
        return 0.0
    rounds = horizon if horizon > 0.0 else float(now.t)
    log_share = math.log(max(rounds / (now.arms * belief.pulls), 1.0))
    return noise * math.sqrt(c * log_share / belief.pulls)
