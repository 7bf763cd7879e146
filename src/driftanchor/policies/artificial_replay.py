"""Artificial Replay: a policy that replays its logs as if they happened now."""

import math
from dataclasses import dataclass

from driftanchor.core.evidence import ArmEvidence, Evidence, Round
from driftanchor.core.noise import Draws, Stream, normal
from driftanchor.core.posterior import online_posterior, sample_mean
from driftanchor.policies.base import Best, Policy, challenge, draw, index
from driftanchor.policies.ucb import log_plays


@dataclass(frozen=True, kw_only=True)
class ArtificialReplay(Policy):
    """UCB1 or TS that is fed a logged reward whenever it picks an arm that has one left.

    Each round: ask the base policy, which sees online rewards and the logged rewards used so far;
    if the arm it picks has unused logged rewards, use the next one and ask again; otherwise play
    that arm. Logged rewards are treated as unbiased, but only those that the base policy asks for
    are used. Bounds change nothing. Even with a relative bound, the logs are replayed unchanged: a
    later draw of the common move would change rewards that were already replayed.

    Logs hold sums, not single rewards, so the single rewards are simulated as N exchangeable normal
    variables with the logged sum. If r of them are left and sum to R, the next one is drawn from
    N(R/r, σ²(1 − 1/r)). Together they add up to the logged total exactly.

    The policy is meant for simulations, and campaigns refuse it. One decision may replay all logged
    rewards, and its propensities can only be estimated by repeating the decision 1,000 times. With
    1,000 logged rewards per arm, the first decision of a campaign would take minutes.

    Attributes:
        prior_mean: m₀ of TS.
        noise: σ.
        base: `"ucb"` or `"ts"`.
        c: The c of UCB.

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
        """Return the base policy's index of an arm whose pulls include the replayed rewards."""
        if self.samples:
            posterior = online_posterior(arm, self.prior_mean, self.noise)
            return posterior.mean + posterior.sd * z.on
        law = sample_mean(arm.total, arm.pulls, self.noise)
        return law.mean + law.sd * math.sqrt(self.c * log_plays(now))

    def choose(self, evidence: Evidence, now: Round, stream: Stream) -> int:
        """Replay until the base policy picks an arm whose logs are used up."""
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
    """Return the base policy's choice, counting replayed rewards as online ones."""
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
