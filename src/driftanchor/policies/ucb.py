"""UCB1, which ignores logs."""

import math
from dataclasses import dataclass

from driftanchor.core.evidence import ArmEvidence, Round
from driftanchor.core.noise import Draws
from driftanchor.core.posterior import Posterior, sample_mean
from driftanchor.policies.base import Policy


@dataclass(frozen=True, kw_only=True)
class UCB(Policy):
    """The online mean plus a radius that grows while the arm is not pulled.

    Every arm is pulled once. After t plays in total, an arm with T pulls and reward sum S has
    this index::

        index = S/T + σ √(c log t / T)

    Attributes:
        prior_mean: Not used: the first pull replaces it.
        noise: σ, the standard deviation of a reward; 1 in the Anchor-TS paper's experiments. The
            original paper has no σ, because its rewards lie in [0, 1].
        c: The factor before the logarithm; 2 in the original paper.

    Example:
        >>> arm = ArmEvidence(pulls=2, total=1.0, offline_pulls=0, offline_mean=0, bias_bound=0)
        >>> UCB().index(arm, Round(t=11, arms=2), Draws(0, 0, 0))
        2.0174...
    """

    name = "ucb"
    formula = "S/T + σ √(c log t / T)"
    source = "Auer, Cesa-Bianchi & Fischer 2002, Machine Learning 47:235, UCB1"
    uses_logs = False
    belief = Posterior

    c: float = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_number("c", above=0.0)

    def believe(self, arm: ArmEvidence) -> Posterior:
        """Return the online mean and its standard deviation."""
        return sample_mean(arm.total, arm.pulls, self.noise)

    def sample(self, belief: Posterior, now: Round, z: Draws) -> float:
        """Return the online mean plus the radius."""
        return belief.mean + belief.sd * math.sqrt(self.c * log_plays(now))


def log_plays(now: Round) -> float:
    """Return the log of the number of plays before this round; 0 if there were none."""
    return math.log(max(now.t - 1, 1))
