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

from driftanchor.core.common_move import common_move, is_relative
from driftanchor.core.evidence import ArmEvidence, Evidence, Round, arm_at
from driftanchor.core.index_law import constant
from driftanchor.core.noise import Draws, Stream, normal, two_normals, two_zeros, uniform
from driftanchor.core.posterior import Posterior, median
from driftanchor.core.win_chances import NEVER, Column, Laws, write_law
from driftanchor.policies.account import Account
from driftanchor.policies.base import Best, Policy, challenge, draw
from driftanchor.policies.guarded_bounds import Judgement, bounds, guess, logs_of, upper_bound
from driftanchor.policies.guarded_law import guarded_law
from driftanchor.policies.round_law import RoundKind


class GuardedCandidates(NamedTuple):
    """The three numbers of an arm whose median Anchor-TS takes."""

    guess: float
    online_sample: float
    hybrid_sample: float


def guarded_laws(
    policy: GuardedAnchorTS, evidence: Evidence, now: Round, moves: Column, guard: bool, laws: Laws
) -> RoundKind:
    """The upper bounds in a guard pull, otherwise the laws of the medians; see `round_law`."""
    judged, row = judge(policy, evidence, now), 0
    for k in range(len(moves)):
        common = judged.common.mean + judged.common.sd * moves[k]
        for column in range(evidence.pulls.size):
            arm = arm_at(evidence, column)
            if not evidence.playable[column]:
                laws.kind[row] = NEVER
            elif guard and judged.guard:
                write_law(laws, row, constant(upper_bound(policy, arm, now, judged)))
            else:
                write_law(laws, row, guarded_law(policy, arm, now, judged, common))
            row += 1
    share = policy.guard_share if judged.guard else 0.0
    return RoundKind(share, judged.common.mean, judged.common.sd)


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

    def choose(self, evidence: Evidence, now: Round, stream: Stream) -> int:
        """The largest upper bound in a guard pull, otherwise the largest median."""
        judged = settled(self, judge(self, evidence, now), stream)
        common = drawn_move(judged, stream)
        best = Best(-math.inf, -1, 0)
        for column in range(evidence.pulls.size):
            z = noise_of(self, judged, stream)
            value = index_of(self, arm_at(evidence, column), now, judged, common, z)
            if evidence.playable[column]:
                best = challenge(best, value, column, stream)
        return best.column

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


def judge(policy: GuardedAnchorTS, evidence: Evidence, now: Round) -> Judgement:
    """Who leads, and whether some arm may be better: the same for `choose` and for `account`."""
    common = Posterior(0.0, 0.0)
    if is_relative(evidence):
        common = common_move(evidence, policy.noise)
    level, rivals = surroundings(policy, evidence, common.mean)
    judged = Judgement(common, level, rivals, -1, 0.0, -math.inf, False)
    leader, best, logged = -1, -math.inf, True
    for column in range(evidence.pulls.size):
        if evidence.playable[column]:
            arm = arm_at(evidence, column)
            value = guess(policy, arm, judged)
            if value > best:
                leader, best = column, value
                logged = logs_of(policy, arm, common.mean).pulls > 0.0
    if leader < 0:
        return judged
    # Beside a leader without logs the level of all logs matters, and nobody knows it exactly.
    doubt = 0.0 if logged else common.sd * math.sqrt(2.0 * math.log(now.t + 1.0))
    judged = Judgement(common, level, rivals, leader, doubt, -math.inf, False)
    threshold = max(best, upper_bound(policy, arm_at(evidence, leader), now, judged))
    for column in range(evidence.pulls.size):
        if evidence.playable[column]:
            bound = upper_bound(policy, arm_at(evidence, column), now, judged)
            if bound > threshold:
                return Judgement(common, level, rivals, leader, doubt, threshold, True)
    return Judgement(common, level, rivals, leader, doubt, threshold, False)


def surroundings(policy: GuardedAnchorTS, evidence: Evidence, common: float) -> tuple[float, int]:
    """What an arm without rewards is taken to pay, and the pulls of all arms but the most pulled.

    It pays as the best arm: by live means, before there are any by logs, else the prior mean.
    """
    live, logged, pulls, most = -math.inf, -math.inf, 0, 0
    for column in range(evidence.pulls.size):
        if evidence.playable[column]:
            arm = arm_at(evidence, column)
            if arm.pulls > 0:
                live = max(live, arm.total / arm.pulls)
            logs = logs_of(policy, arm, common)
            if logs.pulls > 0.0:
                logged = max(logged, logs.mean)
            n = arm.pulls + arm.pending + 1
            pulls += n
            most = max(most, n)
    if live == -math.inf:
        live = logged
    if live == -math.inf:
        live = policy.prior_mean
    return live, pulls - most


def settled(policy: GuardedAnchorTS, judged: Judgement, stream: Stream) -> Judgement:
    """The judgement after the coin of `guard_share`: whether a guard pull that is due is played."""
    if not judged.guard or policy.guard_share >= 1.0 or uniform(stream) < policy.guard_share:
        return judged
    common, level, rivals, leader, doubt, threshold, _ = judged
    return Judgement(common, level, rivals, leader, doubt, threshold, False)


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
    if is_unknown(policy, arm, common):
        return bounds(policy, arm, now, judged).online_bound
    three = candidates(policy, arm, judged, common, z)
    return median(three.guess, three.online_sample, three.hybrid_sample)


def is_unknown(policy: GuardedAnchorTS, arm: ArmEvidence, common: float) -> bool:
    """Whether neither rewards nor logs say anything of an arm: there is no mean to draw around."""
    return arm.pulls == 0 and logs_of(policy, arm, common).weight == 0.0


def candidates(
    policy: GuardedAnchorTS, arm: ArmEvidence, judged: Judgement, common: float, z: Draws
) -> GuardedCandidates:
    """The guess, and two samples of the mean around the live mean and the mean of both."""
    logs = logs_of(policy, arm, common)
    n = arm.pulls + logs.weight  # above 0, perhaps below 1
    hybrid = (arm.total + logs.weight * logs.mean) / n + policy.noise / math.sqrt(n) * z.hyb
    online = hybrid
    if arm.pulls > 0:
        online = arm.total / arm.pulls + policy.noise / math.sqrt(arm.pulls) * z.on
    return GuardedCandidates(guess(policy, arm, judged), online, hybrid)
