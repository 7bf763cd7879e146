"""ADA-UCB: UCB whose radius depends on the pulls of the other arms; logs are ignored."""

from __future__ import annotations

import math
from dataclasses import dataclass

from driftanchor.core.evidence import Evidence, Round
from driftanchor.core.index_law import IndexLaw, constant
from driftanchor.core.noise import Stream
from driftanchor.policies.base import Account, Best, Policy, challenge


@dataclass(frozen=True, kw_only=True)
class AdaUCB(Policy):
    """The online mean plus a radius that depends on how often the other arms were pulled.

    Every arm is pulled once. With a horizon of n rounds, arm i with T_i pulls and reward sum S_i
    then has this index::

        H_i   = Σ_j min(T_i, √(T_i T_j))
        index = S_i/T_i + σ √(c l(n/H_i) / T_i),   l(x) = log((x + e) √log(x + e))

    The sum is over the arms that can be played. An arm that was pulled far less often than arm i
    adds little to H_i, so arms that are clearly worse hardly shrink the radii of the others. The
    function l is at least 1, and close to the logarithm for large x. If the horizon is unknown, the
    current round t replaces n.

    Attributes:
        prior_mean: Not used: the first pull replaces it.
        noise: σ, the standard deviation of a reward; 1 in the original paper.
        c: The factor before l; 2 in the original paper.
        horizon: n, the number of rounds; 0 if unknown. `simulate` does not set it.

    Example:
        >>> from driftanchor import Learner
        >>> learner = Learner(AdaUCB(), arms=["A", "B"], seed=1)
        >>> learner.update(["A", "A", "A", "A", "B"], [0.5] * 5)
        >>> learner.pull(), learner.explain().arms["A"].index  # H is 6 and 2
        ('B', 1.3513...)
    """

    name = "ada-ucb"
    formula = "S/T + σ √(c log(n/H) / T), H_i = Σ_j min(T_i, √(T_i T_j)), n = t if unknown"
    source = "Lattimore 2018, JMLR 19(20)"
    uses_logs = False

    c: float = 2.0
    horizon: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_number("c", above=0.0)
        self.check_number("horizon", low=0.0)

    def choose(self, evidence: Evidence, now: Round, stream: Stream) -> int:
        """Return the arm with the largest upper bound, in O(K²) time for K arms."""
        best = Best(-math.inf, -1, 0)
        for column in range(evidence.pulls.size):
            if evidence.playable[column]:
                value = upper_bound(self, evidence, column, now)
                best = challenge(best, value, column, stream)
        return best.column

    def account(self, evidence: Evidence, now: Round, stream: Stream) -> Account:
        """Repeat the decision of `choose`, and record the upper bound of every arm."""
        columns = range(evidence.pulls.size)
        bounds = [(upper_bound(self, evidence, i, now), dict[str, float]()) for i in columns]
        return Account(self.choose(evidence, now, stream), bounds)

    def law_at(self, evidence: Evidence, column: int, now: Round) -> IndexLaw:
        """Return the distribution of an arm's index, which always equals the arm's upper bound."""
        return constant(upper_bound(self, evidence, column, now))


def upper_bound(policy: AdaUCB, evidence: Evidence, column: int, now: Round) -> float:
    """Return the online mean of an arm plus its radius; +∞ before the first pull."""
    pulls = evidence.pulls[column]
    if pulls == 0:
        return math.inf
    rounds = policy.horizon if policy.horizon > 0.0 else float(now.t)
    log_x = math.log(rounds / rivals(evidence, column) + math.e)
    width = log_x + 0.5 * math.log(log_x)
    mean: float = evidence.totals[column] / pulls
    return mean + policy.noise * math.sqrt(policy.c * width / pulls)


def rivals(evidence: Evidence, column: int) -> float:
    """Return H_i of the arm in `column`, summed over the playable arms and the arm itself."""
    root = math.sqrt(evidence.pulls[column])
    total = 0.0
    for other in range(evidence.pulls.size):
        if evidence.playable[other] or other == column:
            total += root * min(root, math.sqrt(evidence.pulls[other]))
    return total
