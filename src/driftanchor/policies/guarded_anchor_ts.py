"""Guarded Anchor-TS, the default rule: trust the logs while live rewards agree, test every arm.

It is this package's own rule and not the paper's. In four sentences:

1. The best guess of an arm's mean comes from its logs and its live rewards together, and never
   leaves the range of two standard errors around the live mean.
2. An arm that may still be better than the arm with the best guess is pulled: a guard pull.
3. Logs alone do not rule an arm out: it may first lose a small budget in live rewards.
4. Otherwise Anchor-TS draws, with the best guess as its anchor.

`GuardedAnchorTS`, at the end of this file, lists the formulas in one block. The functions before it
are these formulas, in the order in which a round needs them: the logs' evidence, the guess, the
upper bounds, the judgement, the samples. `docs/learn/guarded.md` says why each part is there, what
else was tried, and what still fails.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from driftanchor.core.check import Floats
from driftanchor.core.common_move import common_move, is_relative, moved_pulls, moves_along, own_sd
from driftanchor.core.evidence import ArmEvidence, Evidence, Round, arm_at
from driftanchor.core.index_law import NEVER, IndexLaw, constant, median_law, one_sample, write_law
from driftanchor.core.noise import Draws, Stream, normal, uniform
from driftanchor.core.posterior import Posterior, median
from driftanchor.policies.base import Account, Best, Policy, RoundKind, challenge, draw

HOPE = 0.5  # the online bound adds this to an arm's total reward, in σ
MAX_PENDING = 4  # a test of a logged arm pauses at this many pending rewards, unless more came in


def is_insured(policy: GuardedAnchorTS) -> bool:
    """Return whether to guard against wrong promises; not if they are proved (A = ε = 0)."""
    return policy.budget > 0.0 or policy.eps > 0.0


# The logs' evidence, and the guess


class LogEvidence(NamedTuple):
    """The evidence of an arm's logs about its live mean, given the common move."""

    pulls: float  # N; 0 if nothing is promised about the logs
    mean: float  # m; under W it includes the common move
    bound: float  # B: V or W
    relative: bool  # whether it is W


def logs_of(arm: ArmEvidence, common: float) -> LogEvidence:
    """Return the logs' evidence under V or W, whichever gives the lower ceiling m + B."""
    relative = moves_along(arm, common)
    mean, bound = arm.offline_mean, arm.bias_bound
    if relative:
        mean, bound = mean + common, arm.relative_bound
    if arm.offline_pulls == 0 or bound == math.inf:
        return LogEvidence(0.0, 0.0, math.inf, False)
    return LogEvidence(float(arm.offline_pulls), mean, bound, relative)


def log_weight(policy: GuardedAnchorTS, logs: LogEvidence) -> float:
    """Return N' = 1/(1/N + (B/2σ)²), the number of live rewards that the logs are worth."""
    return moved_pulls(logs.pulls, own_sd(logs.bound), policy.noise)


def is_unknown(policy: GuardedAnchorTS, arm: ArmEvidence, logs: LogEvidence) -> bool:
    """Return whether the arm has neither live rewards nor usable logs."""
    return arm.pulls == 0 and log_weight(policy, logs) == 0.0


def pooled(policy: GuardedAnchorTS, arm: ArmEvidence, logs: LogEvidence) -> Posterior:
    """Return the posterior from rewards and logs: N((S + N' m)/(T + N'), σ²/(T + N'))."""
    weight = log_weight(policy, logs)
    n = arm.pulls + weight
    return Posterior((arm.total + weight * logs.mean) / n, policy.noise / math.sqrt(n))


def guess(policy: GuardedAnchorTS, arm: ArmEvidence, common: float, level: float) -> float:
    """Return the pooled mean, at most z standard errors from the live mean.

    If the promises are proved, there is no such limit: a bad live mean is then just bad luck.
    """
    logs = logs_of(arm, common)
    if is_unknown(policy, arm, logs):
        return level
    if arm.pulls == 0:
        return logs.mean  # the pooled mean without rounding, so that it can tie with the level
    mean = pooled(policy, arm, logs).mean
    if not is_insured(policy):
        return mean
    live, limit = arm.total / arm.pulls, policy.clip * policy.noise / math.sqrt(arm.pulls)
    return max(live - limit, min(mean, live + limit))


# The upper bounds


class Shared(NamedTuple):
    """The numbers of a round that the bounds of all arms use."""

    common: Posterior  # the estimated common move
    level: float  # the assumed mean of an arm without live rewards
    rivals: float  # R: the pulls of all arms but the most pulled one, plus one for each
    doubt: float  # added to hybrid bounds if the leader has no logs to compare with


class Bounds(NamedTuple):
    """An arm's three upper bounds; their median is U."""

    audit_bound: float
    online_bound: float
    hybrid_bound: float


def radius(n: float, t: int, share: float) -> float:
    """Return r = √(2 log⁺(t/H) / n): 0 once the arm had its share H of the rounds."""
    if t <= share:
        return 0.0
    return math.sqrt(2.0 * math.log(t / share) / n)


def upper_bound(policy: GuardedAnchorTS, arm: ArmEvidence, now: Round, shared: Shared) -> float:
    """Return U, the median of the three bounds; without logs it is the online bound."""
    audit, online, hybrid = bounds(policy, arm, now, shared)
    if hybrid == math.inf:
        return online
    middle = median(audit, online, hybrid)
    if arm.pending >= max(MAX_PENDING, arm.pulls):  # the test waits for its rewards
        return min(middle, hybrid)
    return middle


def bounds(policy: GuardedAnchorTS, arm: ArmEvidence, now: Round, shared: Shared) -> Bounds:
    """Return the three upper bounds of an arm; a pending pull narrows them like any other."""
    n = arm.pulls + arm.pending
    live = arm.total / arm.pulls if arm.pulls > 0 else shared.level
    audit, online = math.inf, math.inf
    if n > 0:
        r = policy.noise * radius(n, now.t, min(now.arms * n, n + shared.rivals))
        online = live + policy.noise * HOPE / n + r
        audit = live + policy.noise * policy.budget / n + math.sqrt(policy.eps) * r
    if arm.pulls == 0 and not is_insured(policy):
        audit = -math.inf  # proved promises need no test
    logs = logs_of(arm, shared.common.mean)
    if logs.pulls == 0.0:
        return Bounds(audit, online, math.inf)
    hybrid = joint_bound(policy, arm, logs, now, live)
    if logs.relative and is_insured(policy):
        hybrid = min(hybrid, likely_bound(policy, arm, logs, now))
    return Bounds(audit, online, hybrid + shared.doubt)


def joint_bound(
    policy: GuardedAnchorTS, arm: ArmEvidence, logs: LogEvidence, now: Round, live: float
) -> float:
    """Return the largest mean x that is compatible with live rewards and logs together.

    It is at most the mean of both with the logs at their ceiling u = m + B, plus a radius r. If the
    live mean is below u, it is also at most the larger solution of
    n (x − S/T)² + N (x − u)² = (n + N) r², or u if that is more: below u the logs do not object.
    """
    ceiling = logs.mean + logs.bound
    if logs.relative and not is_insured(policy):
        ceiling += logs.bound  # all other arms, and so the common move, may be off by W
    both = arm.pulls + arm.pending + logs.pulls
    r = policy.noise * radius(both, now.t, now.arms * both)
    if arm.pulls == 0:
        return ceiling + r
    highest = (arm.total + logs.pulls * ceiling) / (arm.pulls + logs.pulls) + r
    if live >= ceiling:
        return highest
    share = logs.pulls / both
    square = r * r - share * (1.0 - share) * (ceiling - live) ** 2
    if not square > 0.0:
        return min(highest, ceiling)
    return min(highest, max(ceiling, live + share * (ceiling - live) + math.sqrt(square)))


def likely_bound(policy: GuardedAnchorTS, arm: ArmEvidence, logs: LogEvidence, now: Round) -> float:
    """Return the pooled mean plus a radius: W/2 is read as the standard deviation of a move.

    An estimated W covers the moves of all arms at once. If it is wider than the gaps between the
    arms, a bound that allows each arm the full W rules out no arm.
    """
    weight = log_weight(policy, logs)
    if weight == 0.0:
        return math.inf  # W is so wide that the logs carry no information
    n = arm.pulls + arm.pending + weight
    r = policy.noise * max(1.0 / math.sqrt(n), radius(n, now.t, now.arms * n))
    return pooled(policy, arm, logs).mean + r


# The judgement: who leads, and whether a guard pull is due


class Judgement(NamedTuple):
    """The leader of a round and whether a guard pull is due, before anything is drawn."""

    shared: Shared
    leader: int  # the column with the largest guess; -1 if no arm can be played
    threshold: float  # the larger of the leader's guess and U
    guard: bool  # whether another arm's U is above the threshold


def judge(policy: GuardedAnchorTS, evidence: Evidence, now: Round) -> Judgement:
    """Find the leader, and decide whether another arm may be better."""
    common = Posterior(0.0, 0.0)
    if is_relative(evidence):
        common = common_move(evidence, policy.noise)
    level = level_of(policy, evidence, common.mean)
    leader = leader_of(policy, evidence, common.mean, level)
    if leader < 0:
        return Judgement(Shared(common, level, 0.0, 0.0), leader, -math.inf, False)
    arm = arm_at(evidence, leader)
    doubt = 0.0
    if common.sd > 0.0 and logs_of(arm, common.mean).pulls == 0.0:
        # Other arms' logs compare with this leader only through the estimated common move.
        doubt = common.sd * math.sqrt(2.0 * math.log(now.t + 1.0))
    shared = Shared(common, level, rival_pulls(evidence), doubt)
    threshold = max(guess(policy, arm, common.mean, level), upper_bound(policy, arm, now, shared))
    for column in range(evidence.pulls.size):
        rival = evidence.playable[column] and column != leader
        if rival and upper_bound(policy, arm_at(evidence, column), now, shared) > threshold:
            return Judgement(shared, leader, threshold, True)
    return Judgement(shared, leader, threshold, False)


def level_of(policy: GuardedAnchorTS, evidence: Evidence, common: float) -> float:
    """Return the best live mean; before any reward the best logged mean, or the prior mean."""
    live, logged = -math.inf, -math.inf
    for column in range(evidence.pulls.size):
        if evidence.playable[column]:
            arm = arm_at(evidence, column)
            if arm.pulls > 0:
                live = max(live, arm.total / arm.pulls)
            else:
                logs = logs_of(arm, common)
                if logs.pulls > 0.0:
                    logged = max(logged, logs.mean)
    if live > -math.inf:
        return live
    return logged if logged > -math.inf else policy.prior_mean


def leader_of(policy: GuardedAnchorTS, evidence: Evidence, common: float, level: float) -> int:
    """Return the first playable column with the largest guess; -1 if no arm is playable."""
    leader, best = -1, -math.inf
    for column in range(evidence.pulls.size):
        if evidence.playable[column]:
            value = guess(policy, arm_at(evidence, column), common, level)
            if value > best:
                leader, best = column, value
    return leader


def rival_pulls(evidence: Evidence) -> float:
    """Return R: the pulls of all playable arms but the most pulled one, plus one for each."""
    total, most = 0.0, 0.0
    for column in range(evidence.pulls.size):
        if evidence.playable[column]:
            n = evidence.pulls[column] + evidence.pending[column] + 1.0
            total += n
            most = max(most, n)
    return total - most


# The decision: a guard pull, or Anchor-TS's draw


class Candidates(NamedTuple):
    """The three numbers of an arm whose median is its index in Anchor-TS's draw."""

    guess: float
    online_sample: float
    hybrid_sample: float


def plays_guard(policy: GuardedAnchorTS, judged: Judgement, stream: Stream) -> bool:
    """Return whether to play a guard pull: if one is due, with probability `guard_share`."""
    if not judged.guard:
        return False
    return policy.guard_share >= 1.0 or uniform(stream) < policy.guard_share


def drawn_move(shared: Shared, stream: Stream) -> float:
    """Draw the common move, once for all arms."""
    if shared.common.sd == 0.0:
        return shared.common.mean
    return shared.common.mean + shared.common.sd * normal(stream)


def sampled_index(
    policy: GuardedAnchorTS, arm: ArmEvidence, now: Round, shared: Shared, common: float, z: Draws
) -> float:
    """Return the median of the three candidates; for an unknown arm the online bound."""
    logs = logs_of(arm, common)
    if is_unknown(policy, arm, logs):
        return bounds(policy, arm, now, shared).online_bound
    anchor, online_sample, hybrid_sample = candidates(policy, arm, logs, shared, z)
    return median(anchor, online_sample, hybrid_sample)


def candidates(
    policy: GuardedAnchorTS, arm: ArmEvidence, logs: LogEvidence, shared: Shared, z: Draws
) -> Candidates:
    """Return the guess, a sample around the live mean and a sample around the pooled mean.

    The logs are those after the drawn common move. Without live rewards both samples are the same.
    """
    both = pooled(policy, arm, logs)
    hybrid_sample = both.mean + both.sd * z.hyb
    online_sample = hybrid_sample
    if arm.pulls > 0:
        online_sample = arm.total / arm.pulls + policy.noise / math.sqrt(arm.pulls) * z.on
    anchor = guess(policy, arm, shared.common.mean, shared.level)
    return Candidates(anchor, online_sample, hybrid_sample)


def sampled_law(
    policy: GuardedAnchorTS, arm: ArmEvidence, now: Round, shared: Shared, common: float
) -> IndexLaw:
    """Return the distribution of `sampled_index`, given the drawn common move."""
    logs = logs_of(arm, common)
    if is_unknown(policy, arm, logs):
        return constant(bounds(policy, arm, now, shared).online_bound)
    both = pooled(policy, arm, logs)
    if arm.pulls == 0:
        return one_sample(both.mean, both.sd)
    anchor = guess(policy, arm, shared.common.mean, shared.level)
    live, live_sd = arm.total / arm.pulls, policy.noise / math.sqrt(arm.pulls)
    return median_law(anchor, live, live_sd, both.mean, both.sd)


@dataclass(frozen=True, kw_only=True)
class GuardedAnchorTS(Policy):
    """Anchor-TS around the best guess from logs and rewards, under a guard that tests every arm.

    An arm has T pulls and reward sum S online; n is T plus its pending pulls. Its logs have N
    rewards of mean m and a promise B: V, or W with m shifted by the estimated common move. t is the
    round and K the number of arms. In units of σ::

        N'     = 1/(1/N + (B/2)²)                      how many live rewards the logs are worth
        guess  = (S + N' m)/(T + N'), at most z/√T from S/T
        r      = √(2 log⁺(t/H) / n),  H = min(K n, n + R)
        online = S/T + 1/(2n) + r
        hybrid = the largest mean that rewards and logs (of mean at most m + B) allow together;
                 for W at most max(1, √(2 log⁺(t/(K n'))))/√n' above (S + N' m)/(T + N'),
                 n' = n + N'
        audit  = S/T + A/n + √ε r
        U      = median(audit, online, hybrid); without logs, online

    R counts the pulls of all arms but the most pulled one, plus one for each arm. The leader has
    the largest guess. If another arm's U is above the leader's U and guess, the arm with the
    largest U is played: a guard pull. Otherwise the index is Anchor-TS's median of the guess, an
    online sample N(S/T, 1/T) and a hybrid sample N((S + N' m)/(T + N'), 1/(T + N')), with one draw
    of the common move for all arms.

    If the promises are proved (A = ε = 0), the guess may be any distance from S/T, and W allows an
    arm m + 2W: all other arms may have moved by W against it.

    Once there is a reward or a log, only differences of means, σ and the bounds matter.

    Attributes:
        prior_mean: Changes no decision: an arm without logs is tried, whatever the prior.
        noise: σ; better too large than too small.
        budget: A, the live reward, in σ, that an arm may lose before its logs may rule it out.
            Wrong logs rule out an arm that is g better than the leader with a probability of about
            exp(−2 g A/σ). 0 if the promises are proved.
        eps: ε, at most 1: whatever its logs say, an arm keeps √ε of its online radius. This brings
            back an arm that was ruled out wrongly. 0 if the promises are proved.
        clip: z, the largest distance of the guess from the live mean, in standard errors.
        guard_share: The probability that a guard pull is played when it is due; otherwise
            Anchor-TS draws in this round, too. Below 1 no decision has probability 1, so all
            decisions can be reweighted.

    Example:
        >>> now, shared = Round(t=100, arms=2), Shared(Posterior(0, 0), level=0, rivals=2, doubt=0)
        >>> arm = ArmEvidence(pulls=4, total=1.2, offline_pulls=4, offline_mean=0.5, bias_bound=0.7)
        >>> [round(x, 2) for x in bounds(GuardedAnchorTS(), arm, now, shared)]
        [2.08, 1.61, 1.26]
    """

    name = "guarded-anchor-ts"
    formula = (
        "argmax U = median(audit, online, hybrid) if above the leader; else anchor-ts's median"
    )
    source = "this package, after Anchor-TS and MOSS (Audibert & Bubeck 2009)"
    normals = 2

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
        """Return the arm with the largest U in a guard pull, otherwise with the largest index."""
        judged = judge(self, evidence, now)
        shared, guard = judged.shared, plays_guard(self, judged, stream)
        common = shared.common.mean if guard else drawn_move(shared, stream)
        best = Best(-math.inf, -1, 0)
        for column in range(evidence.pulls.size):
            arm = arm_at(evidence, column)
            if guard:
                value = upper_bound(self, arm, now, shared)
            else:
                value = sampled_index(self, arm, now, shared, common, draw(self, stream))
            if evidence.playable[column]:
                best = challenge(best, value, column, stream)
        return best.column

    def account(self, evidence: Evidence, now: Round, stream: Stream) -> Account:
        """Repeat the decision of `choose`, and return the numbers of every arm."""
        judged = judge(self, evidence, now)
        shared, guard = judged.shared, plays_guard(self, judged, stream)
        common = shared.common.mean if guard else drawn_move(shared, stream)
        best, arms = Best(-math.inf, -1, 0), []
        for column in range(evidence.pulls.size):
            arm = arm_at(evidence, column)
            if guard:
                value = upper_bound(self, arm, now, shared)
                parts = {"guess": guess(self, arm, common, shared.level)}
                parts |= bounds(self, arm, now, shared)._asdict()
            else:
                z = draw(self, stream)
                value, logs = sampled_index(self, arm, now, shared, common, z), logs_of(arm, common)
                if is_unknown(self, arm, logs):
                    parts = {"guess": shared.level, "online_bound": value}
                else:
                    parts = candidates(self, arm, logs, shared, z)._asdict()
            arms.append((value, parts))
            if evidence.playable[column]:
                best = challenge(best, value, column, stream)
        return Account(
            best.column,
            arms,
            judged.leader if guard else None,
            skipped=judged.leader if judged.guard and not guard else None,
            guard_share=self.guard_share,
        )

    def laws(
        self, evidence: Evidence, now: Round, moves: Floats, guard: bool, laws: Floats
    ) -> RoundKind:
        """Write the law of every arm's index; see `driftanchor.policies.base.write_laws`."""
        judged, row = judge(self, evidence, now), 0
        shared, common = judged.shared, judged.shared.common
        for k in range(len(moves)):
            move = common.mean + common.sd * moves[k]
            for column in range(evidence.pulls.size):
                arm = arm_at(evidence, column)
                if not evidence.playable[column]:
                    laws[row, 0] = NEVER
                elif guard and judged.guard:
                    write_law(laws, row, constant(upper_bound(self, arm, now, shared)))
                else:
                    write_law(laws, row, sampled_law(self, arm, now, shared, move))
                row += 1
        return RoundKind(self.guard_share if judged.guard else 0.0, common.mean, common.sd)
