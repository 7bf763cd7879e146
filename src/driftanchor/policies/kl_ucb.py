"""KL-UCB: the largest mean that the rewards do not rule out; logs are ignored."""

import math
from dataclasses import dataclass

from driftanchor.core.evidence import ArmEvidence, Round
from driftanchor.core.noise import Draws
from driftanchor.core.posterior import Posterior, sample_mean
from driftanchor.core.promises import ANYTHING, Range
from driftanchor.policies.base import Policy
from driftanchor.policies.ucb import log_plays


@dataclass(frozen=True, kw_only=True)
class KLUCB(Policy):
    """The largest mean q whose divergence d from the online mean is small enough.

    Every arm is pulled once. After t plays in total, an arm with T pulls and reward sum S has
    this index::

        index = max{q : T d(S/T, q) ≤ log t + c log log t}
        d(p, q) = p log(p/q) + (1−p) log((1−p)/(1−q))   for Bernoulli and other rewards in [0, 1]
        d(p, q) = (p − q)²/(2σ²)                        for Gaussian rewards

    For Gaussian rewards, the index has the closed form S/T + σ √(2 (log t + c log log t)/T). With
    c = 0 this is `UCB` with its default parameter.

    Attributes:
        prior_mean: Not used: the first pull replaces it.
        noise: σ, the standard deviation of Gaussian rewards; not used for Bernoulli rewards.
        reward: `"bernoulli"` or `"gaussian"`.
        c: The weight of log log t, which counts as 0 while log t is below 1. The original
            paper has c = 3 in its theorem and c = 0 in its experiments.

    Example:
        >>> arm = ArmEvidence(pulls=8, total=2.0, offline_pulls=0, offline_mean=0, bias_bound=0)
        >>> KLUCB().index(arm, Round(t=21, arms=2), Draws(0, 0, 0))
        0.6727...
        >>> KLUCB(reward="gaussian", noise=0.5).index(arm, Round(t=21, arms=2), Draws(0, 0, 0))
        0.6827...
    """

    name = "kl-ucb"
    formula = "max{q : T d(S/T, q) ≤ log t + c log log t}"
    source = "Garivier & Cappé 2011, PMLR 19:359, arXiv 1102.2490"
    uses_logs = False
    belief = Posterior

    reward: str = "bernoulli"
    c: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_choice("reward", ("bernoulli", "gaussian"))
        self.check_number("c", low=0.0)

    @property
    def bernoulli(self) -> bool:
        """True if the index uses the Bernoulli divergence, False if the Gaussian one."""
        return self.reward == "bernoulli"

    @property
    def reward_range(self) -> Range:
        """The lowest and the highest accepted reward: 0 and 1 for Bernoulli, ±∞ for Gaussian."""
        return (0.0, 1.0) if self.bernoulli else ANYTHING

    def believe(self, arm: ArmEvidence) -> Posterior:
        """Return the mean of the arm's T online rewards, and σ/√T.

        For Bernoulli rewards, σ is set to 1: the second number then serves only to encode T.
        """
        return sample_mean(arm.total, arm.pulls, 1.0 if self.bernoulli else self.noise)

    def sample(self, belief: Posterior, now: Round, z: Draws) -> float:
        """Return the largest mean that the arm's rewards do not rule out."""
        log_t = log_plays(now)
        level = log_t + self.c * math.log(max(log_t, 1.0))
        if self.bernoulli:
            return largest_chance(belief.mean, belief.sd * belief.sd * level)
        return belief.mean + belief.sd * math.sqrt(2.0 * level)


def largest_chance(p: float, level: float) -> float:
    """Return the largest q with d(p, q) ≤ level, where d is the Bernoulli KL divergence.

    This is Newton's method, started above the solution. Each step stays above it, because d is
    convex in q. The start is the smaller of two upper bounds on q. One follows from Pinsker's
    inequality, d ≥ 2 (q − p)², the other from dropping the positive term p log(1/q) of d.

    Example:
        >>> largest_chance(0.0, math.log(2.0)), largest_chance(1.0, 0.1)
        (0.5, 1.0)
    """
    if p >= 1.0 or level <= 0.0:  # p is infinite for an arm that was never pulled
        return p
    if p <= 0.0:
        return -math.expm1(-level)
    q = p + math.sqrt(0.5 * level)
    missing = level - p * math.log(p)
    q = min(q, 1.0 - (1.0 - p) * math.exp(-missing / (1.0 - p)))
    while p < q < 1.0:
        far = q - p
        less = math.log(p / q) if far > 0.5 * q else math.log1p(-far / q)
        divergence = p * less + (1.0 - p) * math.log1p(far / (1.0 - q))
        step = (divergence - level) * q * (1.0 - q) / far
        if not step > 1e-15 * q:
            break
        q -= step
    return max(p, q)
