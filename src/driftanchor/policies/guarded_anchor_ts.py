"""Guarded Anchor-TS, the default: trust the logs while live rewards agree, and test every arm.

It is a rule of this package and not of the paper. In four sentences:

1. The best guess of an arm's mean comes from its logs and its live rewards together, and never
   leaves the range of two standard errors around the live mean.
2. An arm that may still be better than the arm with the best guess is pulled: a guard pull.
3. Logs alone do not rule an arm out: it may first lose a small budget in live rewards.
4. Otherwise Anchor-TS draws, with the best guess for its anchor.

`docs/learn/guarded.md` says why, what was tried, and what still fails.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from driftanchor.core.common_move import is_relative
from driftanchor.core.evidence import ArmEvidence, Evidence, Round, arm_at
from driftanchor.core.hints import apart
from driftanchor.core.noise import Draws, Stream, normal, two_normals, two_zeros, uniform
from driftanchor.core.posterior import median
from driftanchor.policies.account import Account
from driftanchor.policies.base import Best, Policy, belief_at, challenge, draw
from driftanchor.policies.guarded_beliefs import (
    GuardedBelief,
    arm_seen,
    beliefs,
    hybrid,
    log_weight,
)
from driftanchor.policies.guarded_bounds import (
    Judgement,
    believed_guess,
    bounds,
    guess,
    logs_of,
    upper_bound,
)
from driftanchor.policies.guarded_caps import bound_to_beat
from driftanchor.policies.guarded_judge import judge, judge_quickly, judgement
from driftanchor.policies.guarded_law import guarded_laws


class GuardedCandidates(NamedTuple):
    """The three numbers of an arm whose median Anchor-TS takes."""

    guess: float
    online_sample: float
    hybrid_sample: float


@dataclass(frozen=True, kw_only=True)
class GuardedAnchorTS(Policy):
    """Anchor-TS around the best guess from logs and rewards, under a guard that tests every arm.

    With T pulls and reward sum S online, n = T and the pulls on their way, N logged rewards of mean
    m, and a bound B on their move, in round t of K arms. B is V; or W, with m moved along by what
    is believed of the common move. All in units of σ::

        N'     = 1/(1/N + (B/2)²)                      what the logs are worth
        guess  = (S + N' m)/(T + N'), at most z/√T from S/T
        r      = √(2 log⁺(t/H) / n),  H = min(K n, n + R)
        online = S/T + 1/(2n) + r
        hybrid = the largest mean that rewards and logs (each mean at most m + B) allow together;
                 for W at most max(1, √(2 log⁺(t/(K n'))))/√n' above the mean of both,
                 n' = n + N'
        audit  = S/T + A/n + √ε r
        U      = median(audit, online, hybrid);  online where there are no logs

    R are the pulls of all arms but the most pulled, and one for each. The leader has the largest
    guess. Where some U is above the leader's U and guess, the largest U is played: a guard pull.
    Otherwise the index is Anchor-TS's median of the guess, an online sample S/T + N(0, 1/T) and a
    hybrid sample, the mean of the logs moved by one draw of the common move for all arms.

    Where the bounds are proved (A = ε = 0), the guess has no limit around S/T, and W allows an arm
    m + 2W: all other arms may have moved by W against it.

    Only differences of means, σ and the bounds matter once there is a reward or a log.

    Attributes:
        prior_mean: Not used: what an arm without logs pays is found by a pull.
        noise: σ; better too large than too small.
        budget: A, what an arm may lose in live rewards, in σ, before its logs may rule it out. An
            arm that is g better than the leader is ruled out by wrong logs with probability near
            exp(−2 g A/σ). 0 where the bounds are proved.
        eps: ε, the part of the online bound that an arm keeps whatever its logs say; at most 1. It
            brings back an arm that was ruled out wrongly. 0 where the bounds are proved.
        clip: z.
        guard_share: The probability with which a guard pull that is due is played; otherwise
            Anchor-TS draws in this round, too. Below 1 no decision has probability 1, so that
            all of them can be reweighted.

    Example:
        >>> from driftanchor.core.posterior import Posterior
        >>> now, judged = Round(t=100, arms=2), Judgement(Posterior(0, 0), 0, 2, 0, 0, 0, True)
        >>> arm = ArmEvidence(pulls=4, total=1.2, offline_pulls=4, offline_mean=0.5, bias_bound=0.7)
        >>> parts = bounds(GuardedAnchorTS(), arm, now, judged)
        >>> [round(x, 2) for x in parts]
        [2.08, 1.61, 1.26]
    """

    name = "guarded-anchor-ts"
    formula = (
        "argmax U = median(audit, online, hybrid) if above the leader; else anchor-ts's median"
    )
    source = "this package, after Anchor-TS and MOSS (Audibert & Bubeck 2009)"
    draw = staticmethod(two_normals)
    laws = staticmethod(guarded_laws)
    belief = GuardedBelief
    reads_beliefs = True

    budget: float = 5.0
    eps: float = 0.2
    clip: float = 2.0
    guard_share: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_number("budget", low=0.0)
        self.check_number("eps", low=0.0, high=1.0)
        self.check_number("clip", low=0.0)
        self.check_number("guard_share", above=0.0, high=1.0)

    def believe(self, arm: ArmEvidence) -> GuardedBelief:
        """What the numbers of one arm say, whatever the round and the other arms."""
        return beliefs(self, arm)

    def choose(self, evidence: Evidence, now: Round, stream: Stream) -> int:
        """The largest upper bound in a guard pull, otherwise the largest median."""
        if is_relative(evidence):
            return chosen_together(self, evidence, now, stream)
        return chosen(self, evidence, now, stream, False)

    def account(self, evidence: Evidence, now: Round, stream: Stream) -> Account:
        """The steps of `choose`, with the numbers of every arm written down."""
        before = judge(self, evidence, now)
        judged = settled(self, before, stream)
        common = drawn_move(judged, stream)
        best, arms = Best(-math.inf, -1, 0), []
        for column in range(evidence.pulls.size):
            arm, z = arm_at(evidence, column), noise_of(self, judged, stream)
            value = index_of(self, arm, now, judged, common, z)
            if judged.guard:
                own = {
                    "guess": guess(self, arm, judged),
                    **bounds(self, arm, now, judged)._asdict(),
                }
            elif is_unknown(self, arm, common):
                own = {"guess": judged.level, "online_bound": value}
            else:
                own = candidates(self, arm, judged, common, z)._asdict()
            arms.append((value, own))
            if evidence.playable[column]:
                best = challenge(best, value, column, stream)
        return Account(
            best.column,
            arms,
            judged.leader if judged.guard else None,
            skipped=judged.leader if before.guard and not judged.guard else None,
            guard_share=self.guard_share,
        )


def chosen(
    policy: GuardedAnchorTS, evidence: Evidence, now: Round, stream: Stream, relative: bool
) -> int:
    """The column that is played; `relative` as for `arm_seen`."""
    judged = settled(policy, judge_quickly(policy, evidence, now, relative), stream)
    if judged.guard:
        return largest_bound(policy, evidence, now, judged, stream)
    common = drawn_move(judged, stream)
    best = Best(-math.inf, -1, 0)
    for column in range(evidence.pulls.size):
        z = draw(policy, stream)
        arm = arm_seen(evidence, column, relative)
        belief = belief_at(policy, evidence, column)
        value = median_of(policy, arm, belief, now, judged, common, z)
        if evidence.playable[column]:
            best = challenge(best, value, column, stream)
    return best.column


@apart
def chosen_together(policy: GuardedAnchorTS, evidence: Evidence, now: Round, stream: Stream) -> int:
    """As `chosen`, where arms move together."""
    return chosen(policy, evidence, now, stream, True)


def settled(policy: GuardedAnchorTS, judged: Judgement, stream: Stream) -> Judgement:
    """The judgement after the coin of `guard_share`: whether a guard pull that is due is played."""
    if not judged.guard or policy.guard_share >= 1.0 or uniform(stream) < policy.guard_share:
        return judged
    return judgement(judged, judged.threshold, False)


def drawn_move(judged: Judgement, stream: Stream) -> float:
    """One draw of the common move for all arms; none in a guard pull, or where there is none."""
    if judged.guard or judged.common.sd == 0.0:
        return judged.common.mean
    return judged.common.mean + judged.common.sd * normal(stream)


def noise_of(policy: GuardedAnchorTS, judged: Judgement, stream: Stream) -> Draws:
    """The noise of one arm; none in a guard pull."""
    if judged.guard:
        return two_zeros()
    return draw(policy, stream)


@apart
def largest_bound(
    policy: GuardedAnchorTS, evidence: Evidence, now: Round, judged: Judgement, stream: Stream
) -> int:
    """The arm of a guard pull: the largest U."""
    best = Best(-math.inf, -1, 0)
    for column in range(evidence.pulls.size):
        if evidence.playable[column]:
            value = bound_to_beat(policy, evidence, column, now, judged, best.value)
            best = challenge(best, value, column, stream)
    return best.column


def index_of(
    policy: GuardedAnchorTS,
    arm: ArmEvidence,
    now: Round,
    judged: Judgement,
    common: float,
    z: Draws,
) -> float:
    """U in a guard pull, otherwise Anchor-TS's median; `common` is the drawn common move."""
    if judged.guard:
        return upper_bound(policy, arm, now, judged)
    return median_of(policy, arm, beliefs(policy, arm), now, judged, common, z)


def median_of(
    policy: GuardedAnchorTS,
    arm: ArmEvidence,
    belief: GuardedBelief,
    now: Round,
    judged: Judgement,
    common: float,
    z: Draws,
) -> float:
    """Anchor-TS's median, and the online bound of an arm that nothing is known of."""
    if arm.pulls == 0 and log_weight(arm, belief, common) == 0.0:
        return bound_of_unknown(policy, arm, now, judged)
    three = drawn_candidates(policy, arm, belief, judged, common, z)
    return median(three.guess, three.online_sample, three.hybrid_sample)


@apart
def bound_of_unknown(
    policy: GuardedAnchorTS, arm: ArmEvidence, now: Round, judged: Judgement
) -> float:
    """The online bound."""
    return bounds(policy, arm, now, judged).online_bound


def is_unknown(policy: GuardedAnchorTS, arm: ArmEvidence, common: float) -> bool:
    """Whether neither rewards nor logs say anything of an arm: there is no mean to draw around."""
    return arm.pulls == 0 and logs_of(policy, arm, common).weight == 0.0


def candidates(
    policy: GuardedAnchorTS, arm: ArmEvidence, judged: Judgement, common: float, z: Draws
) -> GuardedCandidates:
    """The guess, and two samples of the mean around the live mean and the mean of both."""
    return drawn_candidates(policy, arm, beliefs(policy, arm), judged, common, z)


def drawn_candidates(
    policy: GuardedAnchorTS,
    arm: ArmEvidence,
    belief: GuardedBelief,
    judged: Judgement,
    common: float,
    z: Draws,
) -> GuardedCandidates:
    """The three numbers of an arm, from what is believed of it."""
    both = hybrid(arm, belief, common)
    hybrid_sample = both.mean + both.sd * z.hyb
    online = hybrid_sample
    if arm.pulls > 0:
        online = belief.live + belief.live_sd * z.on
    return GuardedCandidates(
        believed_guess(policy, arm, belief, judged.common.mean), online, hybrid_sample
    )
