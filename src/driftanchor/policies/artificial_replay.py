"""Artificial Replay: a base policy that receives logged rewards as if they were online rewards."""

import math
from dataclasses import dataclass

from driftanchor.core.evidence import ArmEvidence, Evidence, Round
from driftanchor.core.noise import Draws, Stream, normal
from driftanchor.core.posterior import online_posterior, sample_mean
from driftanchor.policies.base import Best, Policy, challenge, draw, index
from driftanchor.policies.ucb import log_plays


@dataclass(frozen=True, kw_only=True)
class ArtificialReplay(Policy):
    """UCB1 or TS, fed with an arm's logged rewards before the arm is played online.

    In each round the base policy picks an arm. It sees the online rewards and the logged rewards
    replayed so far. If the picked arm has logged rewards left, the next one is replayed, and the
    base policy picks again. Otherwise the picked arm is played. Logged rewards are treated as
    unbiased, and only those that the base policy asks for are replayed.

    Bias bounds and relative bounds are ignored. The logs are not shifted by a common move, because
    a later draw of the move would change rewards that were already replayed.

    The logs provide sums, not single rewards. So the single rewards of an arm are simulated as
    exchangeable normal variables. If r rewards are left and have the sum R, the next one is drawn
    from N(R/r, σ²(1 − 1/r)). So all drawn rewards together add up to the logged sum exactly.

    The policy is meant for simulations, and campaigns refuse it. One decision may replay all logged
    rewards, and propensities can be estimated only by repeating the decision 1,000 times. With
    1,000 logged rewards per arm, the first decision of a campaign would take minutes.

    Attributes:
        prior_mean: m₀, the prior mean of TS.
        noise: σ, the standard deviation of a reward.
        base: The base policy, `"ucb"` or `"ts"`.
        c: The parameter c of `UCB`.

    Example:
        >>> ArtificialReplay(base="ts").parameters()
        {'prior_mean': 0.0, 'noise': 1.0, 'base': 'ts', 'c': 2.0}
    """

    name = "artificial-replay"
    formula = "base policy on online rewards and the logged rewards used so far"
    source = "Banerjee, Sinclair, Tambe, Xu & Yu 2022, arXiv 2210.00025"
    uses_bounds = False
    normals = 1
    not_live = "its first decision replays all logged rewards 1,000 times, which takes minutes"
    memory = 2  # number of replayed rewards, and their sum

    base: str = "ucb"
    c: float = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_choice("base", ("ucb", "ts"))
        self.check_number("c", above=0.0)

    @property
    def samples(self) -> bool:
        """Whether the base policy is TS."""
        return self.base == "ts"

    def index(self, arm: ArmEvidence, now: Round, z: Draws) -> float:
        """Return the base policy's index; `arm` counts replayed rewards as online rewards."""
        if self.samples:
            posterior = online_posterior(arm, self.prior_mean, self.noise)
            return posterior.mean + posterior.sd * z.on
        law = sample_mean(arm.total, arm.pulls, self.noise)
        return law.mean + law.sd * math.sqrt(self.c * log_plays(now))

    def choose(self, evidence: Evidence, now: Round, stream: Stream) -> int:
        """Replay until the base policy picks an arm whose logs are used up; return that arm."""
        used, used_total = evidence.memory[:, 0], evidence.memory[:, 1]
        while True:
            chosen = ask_base(self, evidence, now, stream)
            if chosen < 0 or used[chosen] >= evidence.offline_pulls[chosen]:
                return chosen
            left = evidence.offline_pulls[chosen] - used[chosen]
            logged_total = evidence.offline_pulls[chosen] * evidence.offline_means[chosen]
            mean_left = (logged_total - used_total[chosen]) / left
            reward = mean_left + self.noise * math.sqrt(1.0 - 1.0 / left) * normal(stream)
            used[chosen] += 1.0
            used_total[chosen] = logged_total if left == 1 else used_total[chosen] + reward


def ask_base(policy: ArtificialReplay, evidence: Evidence, now: Round, stream: Stream) -> int:
    """Return the base policy's choice, counting replayed rewards as online rewards."""
    used, used_total = evidence.memory[:, 0], evidence.memory[:, 1]
    lived = Round(now.t + int(used.sum()), now.arms)
    best = Best(-math.inf, -1, 0)
    for column in range(evidence.pulls.size):
        pulls = evidence.pulls[column] + int(used[column])
        total = evidence.totals[column] + used_total[column]
        arm = ArmEvidence(pulls, total, 0, 0.0, 0.0, 0)
        value = index(policy, arm, lived, draw(policy, stream))
        if evidence.playable[column]:
            best = challenge(best, value, column, stream)
    return best.column
