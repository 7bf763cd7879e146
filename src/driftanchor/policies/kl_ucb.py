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
    """The largest mean q from which the online mean is not too far, as divergences measure it.

    Every arm is pulled once. Then, with T pulls and reward sum S, after t plays of all arms::

        index = max{q : T d(S/T, q) ≤ log t + c log log t}
        d(p, q) = p log(p/q) + (1−p) log((1−p)/(1−q))   for coins and other rewards in [0, 1]
        d(p, q) = (p − q)²/(2σ²)                        for Gaussian rewards

    The second has a closed form, S/T + σ √(2 (log t + c log log t)/T), which for c = 0 is UCB.

    Attributes:
        prior_mean: Not used: the first pull replaces it.
        noise: σ of Gaussian rewards; not used for coins.
        reward: `"bernoulli"` or `"gaussian"`.
        c: 3 in the theorem of the source, 0 in its experiments. Where log t is below 1, log log t
            counts as 0.

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
    def coins(self) -> bool:
        """Whether the divergence is that of coins."""
        return self.reward == "bernoulli"

    @property
    def reward_range(self) -> Range:
        """Of coins, and what lies between them; any for Gaussian rewards."""
        return (0.0, 1.0) if self.coins else ANYTHING

    def believe(self, arm: ArmEvidence) -> Posterior:
        """The online mean, and σ/√T; 1/√T for coins."""
        return sample_mean(arm.total, arm.pulls, 1.0 if self.coins else self.noise)

    def sample(self, belief: Posterior, now: Round, z: Draws) -> float:
        """The largest mean that is not ruled out."""
        log_t = log_plays(now)
        level = log_t + self.c * math.log(max(log_t, 1.0))
        if self.coins:
            return largest_chance(belief.mean, belief.sd * belief.sd * level)
        return belief.mean + belief.sd * math.sqrt(2.0 * level)


def largest_chance(p: float, level: float) -> float:
    """The largest q with d(p, q) ≤ level, for coins.

    Newton's method from above: d is convex in q, so each step stays above the answer. It starts at
    the smaller of two bounds. The first is Pinsker's, d ≥ 2 (q − p)²; the second leaves out the
    part p log(1/q) of d, which is positive.

    Example:
        >>> largest_chance(0.0, math.log(2.0)), largest_chance(1.0, 0.1)
        (0.5, 1.0)
    """
    if p >= 1.0 or level <= 0.0:  # also where p is infinite: an arm that was never pulled
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
