"""ADA-UCB: a radius by how many arms were pulled about as often; logs are ignored.

An arm's bound takes a sum over all arms, so the bounds of K arms take K² steps. While an arm waits,
the sum only grows, because pulls do, and the bound falls with it. So the bound that an old sum
gives for a later round is a cap until then: an arm whose cap is below the best bound so far is
passed over. Caps are kept with what is believed of the arm (see `keep` in
`driftanchor.policies.base`), and go away when it is played. Interpreted, nothing is kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from driftanchor.core.evidence import ArmEvidence, Evidence, Round
from driftanchor.core.index_law import constant
from driftanchor.core.noise import Stream
from driftanchor.core.win_chances import NEVER, Column, Laws, write_law
from driftanchor.policies.account import Account
from driftanchor.policies.base import Best, Policy, belief_at, challenge, keep, keeps_beliefs
from driftanchor.policies.round_law import RoundKind

SHARE = 256  # a cap is used for the 256th part of all rounds so far: bounds hardly grow in it
ROUNDING = 1e-12  # of a radius: some thousand times what rounding makes of it


class AdaCap(NamedTuple):
    """What is kept of an arm until it is played."""

    rivals: float  # H is at least this
    cap: float  # so the upper bound is at most this
    until: float  # up to this round


RIVALS, CAP, UNTIL = range(3)


def ada_laws(
    policy: AdaUCB, evidence: Evidence, now: Round, moves: Column, guard: bool, laws: Laws
) -> RoundKind:
    """The upper bounds of all arms, for `policies.round_law.write_laws`."""
    row = 0
    for _ in range(len(moves)):
        for column in range(evidence.pulls.size):
            laws[row, 0] = NEVER
            if evidence.playable[column]:
                write_law(laws, row, constant(upper_bound(policy, evidence, column, now)))
            row += 1
    return RoundKind(0.0, 0.0, 0.0)


@dataclass(frozen=True, kw_only=True)
class AdaUCB(Policy):
    """The online mean and a radius that counts the arms which compete, not all there are.

    Every arm is pulled once. Then, with T_i pulls and reward sum S_i of arm i in n rounds::

        H_i   = Σ_j min(T_i, √(T_i T_j))
        index = S_i/T_i + σ √(c l(n/H_i) / T_i),   l(x) = log((x + e) √log(x + e))

    The sum is over the arms that can be played. An arm that was pulled far less often than arm i
    adds little to H_i, so arms that are clearly worse do not shrink the radii of the others. l is
    near the logarithm for large x, and at least 1. Without a horizon the round t stands for n.

    Attributes:
        prior_mean: Not used: the first pull replaces it.
        noise: σ; the source has 1.
        c: 2 in the source.
        horizon: n; 0 if it is not known. Simulations do not fill it in.

    Example:
        >>> from driftanchor import Learner
        >>> learner = Learner(AdaUCB(), arms=["A", "B"], seed=1)
        >>> learner.update(["A", "A", "A", "A", "B"], [0.5] * 5)
        >>> learner.pull(), learner.explain().arms["A"].index  # H is 6 and 2
        ('B', 1.3513...)
    """

    name = "ada-ucb"
    formula = "S/T + σ √(c log(n/H) / T), H_i = Σ_j min(T_i, √(T_i T_j)), n = t where not known"
    source = "Lattimore 2018, JMLR 19(20)"
    uses_logs = False
    laws = staticmethod(ada_laws)
    belief = AdaCap
    reads_beliefs = True

    c: float = 2.0
    horizon: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_number("c", above=0.0)
        self.check_number("horizon", low=0.0)

    def believe(self, arm: ArmEvidence) -> AdaCap:
        """An arm that was just played has no cap."""
        return AdaCap(0.0, math.inf, 0.0)

    def choose(self, evidence: Evidence, now: Round, stream: Stream) -> int:
        """The largest upper bound."""
        capped = keeps_beliefs(self) and now.arms == evidence.pulls.size  # H of fewer arms is less
        best = Best(-math.inf, -1, 0)
        for column in range(evidence.pulls.size):
            if evidence.playable[column]:
                if capped and cap_of(self, evidence, column, now) < best.value:
                    continue
                competing = rivals(evidence, column)
                keep(self, evidence, column, RIVALS, competing)
                value = bound_among(self, evidence, column, now.t, competing)
                best = challenge(best, value, column, stream)
        return best.column

    def account(self, evidence: Evidence, now: Round, stream: Stream) -> Account:
        """The choice and the upper bound of every arm."""
        columns = range(evidence.pulls.size)
        bounds = [(upper_bound(self, evidence, i, now), dict[str, float]()) for i in columns]
        return Account(self.choose(evidence, now, stream), bounds, None)


def upper_bound(policy: AdaUCB, evidence: Evidence, column: int, now: Round) -> float:
    """The mean of an arm and its radius; +∞ before its first pull."""
    return bound_among(policy, evidence, column, now.t, rivals(evidence, column))


def bound_among(
    policy: AdaUCB, evidence: Evidence, column: int, t: int, competing: float, slack: float = 0.0
) -> float:
    """The upper bound in round t that H gives, its radius larger by a share of `slack`."""
    pulls = evidence.pulls[column]
    if pulls == 0:
        return math.inf
    rounds = policy.horizon if policy.horizon > 0.0 else float(t)
    log_x = math.log(rounds / competing + math.e)
    width = log_x + 0.5 * math.log(log_x)
    mean: float = evidence.totals[column] / pulls
    return mean + (1.0 + slack) * policy.noise * math.sqrt(policy.c * width / pulls)


def cap_of(policy: AdaUCB, evidence: Evidence, column: int, now: Round) -> float:
    """What the upper bound of an arm is at most, while all arms can be played."""
    kept: AdaCap = belief_at(policy, evidence, column)
    if kept.rivals == 0.0 or now.t <= kept.until:
        return kept.cap
    last = now.t + now.t // SHARE
    cap = bound_among(policy, evidence, column, last, kept.rivals, ROUNDING)
    keep(policy, evidence, column, CAP, cap)
    keep(policy, evidence, column, UNTIL, float(last))
    return cap


def rivals(evidence: Evidence, column: int) -> float:
    """H: the pulls of an arm, times how many arms compete with it."""
    root = math.sqrt(evidence.pulls[column])
    total = 0.0
    for other in range(evidence.pulls.size):
        if evidence.playable[other] or other == column:
            total += root * min(root, math.sqrt(evidence.pulls[other]))
    return total
