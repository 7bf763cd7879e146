"""Guarded Anchor-TS, the default rule: trust the logs while live rewards agree, test every arm.

This rule is the package's own, not the paper's. Unless the bounds V and W on how far an arm's mean
moved since the logs are proved, it works as follows:

1. An arm's guess is an estimate of its mean from logs and live rewards together. Once the arm has
   live rewards, the guess stays within `clip` standard errors of their mean.
2. The leader is the arm with the largest guess. If another arm's upper bound U is above both the
   leader's guess and the leader's U, the arm with the largest U is pulled: a guard pull.
3. The logs cannot push U below the smaller of two bounds that use live rewards only. One of them,
   `online`, is an ordinary confidence bound. The other, `audit`, keeps an arm in play until
   testing it has cost a small budget. The exception is an arm with many pending pulls, which is not
   tested until rewards arrive.
4. In a round without a guard pull, an arm's index is a median of three numbers as in Anchor-TS,
   with the guess as the anchor. It uses neither the prior nor the shift Z of Anchor-TS, because
   guard pulls provide the optimism.

`GuardedAnchorTS`, at the end of this file, lists the formulas in one block. The functions before it
compute them, in the order in which a round needs them: the logs' evidence, the guess, the upper
bounds, the judgement, the samples. `docs/learn/guarded.md` explains why each part is there, what
else was tried, and which weaknesses remain.
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

HOPE = 0.5  # the online bound adds this to an arm's total reward, in units of σ
MAX_PENDING = 4  # tests of an arm with logs pause at max(this, T) pending pulls


def promises_may_fail(policy: GuardedAnchorTS) -> bool:
    """Return whether the bounds on the logs may be wrong.

    If `budget` and `eps` are both 0, the bounds are declared proved, so they cannot be wrong.
    """
    return policy.budget > 0.0 or policy.eps > 0.0


# The logs' evidence, and the guess


class LogEvidence(NamedTuple):
    """The evidence from an arm's logs about its live mean, given the common move."""

    pulls: float  # N; 0 if there are no logs, or no bound for them
    mean: float  # m; includes the common move if the bound is relative
    bound: float  # B: the bias bound V or the relative bound W
    relative: bool  # whether B is W


def logs_of(arm: ArmEvidence, move: float) -> LogEvidence:
    """Return the evidence from an arm's logs, given the common move.

    There are two choices: the logged mean with its bias bound, or the logged mean shifted by `move`
    with its relative bound. The choice with the smaller sum of mean and bound is used.
    """
    relative = moves_along(arm, move)
    mean, bound = arm.offline_mean, arm.bias_bound
    if relative:
        mean, bound = mean + move, arm.relative_bound
    if arm.offline_pulls == 0 or bound == math.inf:
        return LogEvidence(0.0, 0.0, math.inf, False)
    return LogEvidence(float(arm.offline_pulls), mean, bound, relative)


def log_weight(policy: GuardedAnchorTS, logs: LogEvidence) -> float:
    """Return N' = 1/(1/N + (B/2σ)²), the number of live rewards that the logs are worth.

    N is the number of logged rewards, B the bound of the logs, and σ the noise.
    """
    return moved_pulls(logs.pulls, own_sd(logs.bound), policy.noise)


def is_unknown(policy: GuardedAnchorTS, arm: ArmEvidence, logs: LogEvidence) -> bool:
    """Return whether the arm has neither live rewards nor usable logs."""
    return arm.pulls == 0 and log_weight(policy, logs) == 0.0


def pooled_posterior(policy: GuardedAnchorTS, arm: ArmEvidence, logs: LogEvidence) -> Posterior:
    """Return the posterior of the arm's mean from live rewards and logs together.

    It is N((S + N' m)/(T + N'), σ²/(T + N')) for T live rewards with sum S, noise σ, and logs with
    mean m that are worth N' live rewards (see `log_weight`). T + N' must be above 0.
    """
    weight = log_weight(policy, logs)
    n = arm.pulls + weight
    return Posterior((arm.total + weight * logs.mean) / n, policy.noise / math.sqrt(n))


def guess(policy: GuardedAnchorTS, arm: ArmEvidence, move: float, level: float) -> float:
    """Return an estimate of the arm's mean, from live rewards and logs together.

    This is the pooled mean, clipped to within `policy.clip` standard errors of the live mean. If
    the bounds on the logs are proved, the pooled mean is not clipped. Without live rewards, the
    guess is the logged mean. With neither live rewards nor usable logs, it is `level`.
    """
    logs = logs_of(arm, move)
    if is_unknown(policy, arm, logs):
        return level
    if arm.pulls == 0:
        return logs.mean  # the pooled mean without rounding, so that it can tie with `level`
    mean = pooled_posterior(policy, arm, logs).mean
    if not promises_may_fail(policy):
        return mean
    live, limit = arm.total / arm.pulls, policy.clip * policy.noise / math.sqrt(arm.pulls)
    return max(live - limit, min(mean, live + limit))


# The upper bounds


class Shared(NamedTuple):
    """Numbers that are the same for all arms in a round and enter their upper bounds."""

    move_law: Posterior  # distribution of the common move c
    level: float  # stands in for the live mean of an arm without live rewards
    others: float  # R: see `other_pulls`
    move_margin: float  # added to all hybrid bounds; 0 if the leader has logs


class Bounds(NamedTuple):
    """Three upper bounds on an arm's mean; `upper_bound` combines them."""

    audit_bound: float  # keeps an arm in play until testing it has cost A σ
    online_bound: float  # from live rewards alone
    hybrid_bound: float  # from live rewards and logs; ∞ without logs


def radius(n: float, t: int, h: float) -> float:
    """Return the confidence radius √(2 log(t/h) / n), in units of σ; 0 while t ≤ h."""
    if t <= h:
        return 0.0
    return math.sqrt(2.0 * math.log(t / h) / n)


def bounds(policy: GuardedAnchorTS, arm: ArmEvidence, now: Round, shared: Shared) -> Bounds:
    """Return the three upper bounds of an arm.

    A pending pull narrows the bounds as much as a pull whose reward has arrived.
    """
    n = arm.pulls + arm.pending
    live = arm.total / arm.pulls if arm.pulls > 0 else shared.level
    audit, online = math.inf, math.inf
    if n > 0:
        r = policy.noise * radius(n, now.t, min(now.arms * n, n + shared.others))
        online = live + policy.noise * HOPE / n + r
        audit = live + policy.noise * policy.budget / n + math.sqrt(policy.eps) * r
    if arm.pulls == 0 and not promises_may_fail(policy):
        audit = -math.inf  # proved bounds need no test
    logs = logs_of(arm, shared.move_law.mean)
    if logs.pulls == 0.0:
        return Bounds(audit, online, math.inf)
    hybrid = joint_bound(policy, arm, logs, now, live)
    if logs.relative and promises_may_fail(policy):
        hybrid = min(hybrid, likely_bound(policy, arm, logs, now))
    return Bounds(audit, online, hybrid + shared.move_margin)


def joint_bound(
    policy: GuardedAnchorTS, arm: ArmEvidence, logs: LogEvidence, now: Round, live: float
) -> float:
    """Return an upper bound on the arm's mean from live rewards and logs together.

    Let S be the sum of the T live rewards, n the number of live rewards and pending pulls, and N
    the number of logged rewards. Let the ceiling u be the logged mean plus its bound, or plus twice
    its bound if that is a proved relative bound. Let r₂ be the confidence radius for n + N rewards.
    The result is (S + N u)/(T + N) + r₂.

    If T > 0 and S/T < u, the result is capped at max(u, x), because logs contradict only means
    above u. Here x is the larger root of n (x − S/T)² + N (x − u)² = (n + N) r₂². If this equation
    has no root, the cap is u.
    """
    ceiling = logs.mean + logs.bound
    if logs.relative and not promises_may_fail(policy):
        ceiling += logs.bound  # all other arms, and so the estimated move, may be off by W
    count = arm.pulls + arm.pending + logs.pulls
    r2 = policy.noise * radius(count, now.t, now.arms * count)
    if arm.pulls == 0:
        return ceiling + r2
    highest = (arm.total + logs.pulls * ceiling) / (arm.pulls + logs.pulls) + r2
    if live >= ceiling:
        return highest
    logs_share = logs.pulls / count
    square = r2 * r2 - logs_share * (1.0 - logs_share) * (ceiling - live) ** 2
    if not square > 0.0:  # no root
        return min(highest, ceiling)
    root = live + logs_share * (ceiling - live) + math.sqrt(square)
    return min(highest, max(ceiling, root))


def likely_bound(policy: GuardedAnchorTS, arm: ArmEvidence, logs: LogEvidence, now: Round) -> float:
    """Return the pooled mean plus a confidence radius, for logs with a relative bound W.

    The arm's own move since the logs is treated as random, with standard deviation W/2. A bound
    that assumes the worst case, a move by the full W, would rule out no arm if W is wider than the
    gaps between the arms. An estimated W can be that wide, because it covers the moves of all arms
    at once.
    """
    weight = log_weight(policy, logs)
    if weight == 0.0:
        return math.inf  # W is so wide that the logs carry no information
    n = arm.pulls + arm.pending + weight
    r = policy.noise * max(1.0 / math.sqrt(n), radius(n, now.t, now.arms * n))
    return pooled_posterior(policy, arm, logs).mean + r


def upper_bound(policy: GuardedAnchorTS, arm: ArmEvidence, now: Round, shared: Shared) -> float:
    """Return U, the upper bound that decides on guard pulls.

    U is the median of the three `bounds`, or the online bound if the arm has no usable logs. While
    many of the arm's pulls are pending, U is at most the hybrid bound. So the arm is not tested
    again before its rewards arrive.
    """
    audit, online, hybrid = bounds(policy, arm, now, shared)
    if hybrid == math.inf:
        return online
    middle = median(audit, online, hybrid)
    if arm.pending >= max(MAX_PENDING, arm.pulls):
        return min(middle, hybrid)
    return middle


# The judgement: who leads, and whether a guard pull is due


class Judgement(NamedTuple):
    """The leader of a round, and whether a guard pull is due. Neither is random."""

    shared: Shared
    leader: int  # the column with the largest guess; -1 if no arm can be played
    guard_due: bool  # whether another arm's U is above the leader's guess and U


def judge(policy: GuardedAnchorTS, evidence: Evidence, now: Round) -> Judgement:
    """Find the leader, and decide whether a guard pull is due.

    A guard pull is due if another arm's upper bound exceeds both the leader's guess and the
    leader's upper bound.
    """
    move_law = Posterior(0.0, 0.0)
    if is_relative(evidence):
        move_law = common_move(evidence, policy.noise)
    move = move_law.mean
    level = level_of(policy, evidence, move)
    leader = leader_of(policy, evidence, move, level)
    if leader < 0:
        return Judgement(Shared(move_law, level, 0.0, 0.0), leader, False)
    arm = arm_at(evidence, leader)
    margin = 0.0
    if move_law.sd > 0.0 and logs_of(arm, move).pulls == 0.0:
        # Other arms' logs compare with this leader only through the estimated common move.
        margin = move_law.sd * math.sqrt(2.0 * math.log(now.t + 1.0))
    shared = Shared(move_law, level, other_pulls(evidence), margin)
    threshold = max(guess(policy, arm, move, level), upper_bound(policy, arm, now, shared))
    for column in range(evidence.pulls.size):
        rival = evidence.playable[column] and column != leader
        if rival and upper_bound(policy, arm_at(evidence, column), now, shared) > threshold:
            return Judgement(shared, leader, True)
    return Judgement(shared, leader, False)


def level_of(policy: GuardedAnchorTS, evidence: Evidence, move: float) -> float:
    """Return the best live mean of the playable arms.

    If no playable arm has live rewards, this is the best logged mean. If none has usable logs
    either, it is the prior mean.
    """
    live, logged = -math.inf, -math.inf
    for column in range(evidence.pulls.size):
        if evidence.playable[column]:
            arm = arm_at(evidence, column)
            if arm.pulls > 0:
                live = max(live, arm.total / arm.pulls)
            else:
                logs = logs_of(arm, move)
                if logs.pulls > 0.0:
                    logged = max(logged, logs.mean)
    if live > -math.inf:
        return live
    return logged if logged > -math.inf else policy.prior_mean


def leader_of(policy: GuardedAnchorTS, evidence: Evidence, move: float, level: float) -> int:
    """Return the playable column with the largest guess, or -1 if no arm is playable.

    If several columns share the largest guess, the first of them is returned.
    """
    leader, best = -1, -math.inf
    for column in range(evidence.pulls.size):
        if evidence.playable[column]:
            value = guess(policy, arm_at(evidence, column), move, level)
            if value > best:
                leader, best = column, value
    return leader


def other_pulls(evidence: Evidence) -> float:
    """Return R: the sum of n_j + 1 over the playable arms j, without the largest term.

    n_j is the number of pulls of arm j, including pending ones.
    """
    total, most = 0.0, 0.0
    for column in range(evidence.pulls.size):
        if evidence.playable[column]:
            n = evidence.pulls[column] + evidence.pending[column] + 1.0
            total += n
            most = max(most, n)
    return total - most


# The decision: a guard pull, or a median of three as in Anchor-TS


class Candidates(NamedTuple):
    """The three numbers whose median is the arm's index in a round without a guard pull."""

    guess: float
    online_sample: float
    hybrid_sample: float


def plays_guard(policy: GuardedAnchorTS, judged: Judgement, stream: Stream) -> bool:
    """Return whether to play a guard pull.

    If one is due, it is played with probability `guard_share`.
    """
    if not judged.guard_due:
        return False
    return policy.guard_share >= 1.0 or uniform(stream) < policy.guard_share


def drawn_move(shared: Shared, stream: Stream) -> float:
    """Draw the common move, once for all arms."""
    if shared.move_law.sd == 0.0:
        return shared.move_law.mean
    return shared.move_law.mean + shared.move_law.sd * normal(stream)


def sampled_index(
    policy: GuardedAnchorTS, arm: ArmEvidence, now: Round, shared: Shared, move: float, z: Draws
) -> float:
    """Return the arm's index in a round without a guard pull.

    This is the median of the three `candidates`. For an arm with neither live rewards nor usable
    logs, it is the online bound.
    """
    logs = logs_of(arm, move)
    if is_unknown(policy, arm, logs):
        return bounds(policy, arm, now, shared).online_bound
    anchor, online_sample, hybrid_sample = candidates(policy, arm, logs, shared, z)
    return median(anchor, online_sample, hybrid_sample)


def candidates(
    policy: GuardedAnchorTS, arm: ArmEvidence, logs: LogEvidence, shared: Shared, z: Draws
) -> Candidates:
    """Return the guess, a sample around the live mean and a sample around the pooled mean.

    `logs` must already be shifted by the drawn common move. The guess uses the mean of the common
    move instead. Without live rewards, both samples are the same number.
    """
    pooled = pooled_posterior(policy, arm, logs)
    hybrid_sample = pooled.mean + pooled.sd * z.hyb
    online_sample = hybrid_sample
    if arm.pulls > 0:
        online_sample = arm.total / arm.pulls + policy.noise / math.sqrt(arm.pulls) * z.on
    anchor = guess(policy, arm, shared.move_law.mean, shared.level)
    return Candidates(anchor, online_sample, hybrid_sample)


def sampled_law(
    policy: GuardedAnchorTS, arm: ArmEvidence, now: Round, shared: Shared, move: float
) -> IndexLaw:
    """Return the distribution of `sampled_index`, given the drawn common move."""
    logs = logs_of(arm, move)
    if is_unknown(policy, arm, logs):
        return constant(bounds(policy, arm, now, shared).online_bound)
    pooled = pooled_posterior(policy, arm, logs)
    if arm.pulls == 0:
        return one_sample(pooled.mean, pooled.sd)
    anchor = guess(policy, arm, shared.move_law.mean, shared.level)
    live, live_sd = arm.total / arm.pulls, policy.noise / math.sqrt(arm.pulls)
    return median_law(anchor, live, live_sd, pooled.mean, pooled.sd)


@dataclass(frozen=True, kw_only=True)
class GuardedAnchorTS(Policy):
    """The median of Anchor-TS, anchored at a guess from logs and rewards; a guard tests every arm.

    An arm has T live rewards with sum S; n is T plus its pending pulls. Its logs have N rewards
    with mean m, and a bound B. B is the bias bound V, or the relative bound W with m shifted by the
    estimated common move c, whichever gives the lower m + B. Logs without a bound do not count. t
    is the round, K the number of playable arms, and R the sum of n_j + 1 over the playable arms j,
    without the largest term. log⁺ is max(0, log). In units of σ::

        N'     = 1/(1/N + (B/2)²)                    number of live rewards the logs are worth
        guess  = (S + N' m)/(T + N'), clipped to S/T ± z/√T
        r      = √(2 log⁺(t/H) / n),  H = min(K n, n + R)
        audit  = S/T + A/n + √ε r                    keeps an arm until its tests have cost A
        online = S/T + 1/(2n) + r
        hybrid = (S + N u)/(T + N) + r₂,  u = m + B,  r₂ = √(2 log⁺(t/(K (n + N))) / (n + N));
          [1]    if S/T < u, at most max(u, x), where x is the larger root of
                 n (x − S/T)² + N (x − u)² = (n + N) r₂²; at most u if there is no root;
          [2]    B = W: at most (S + N' m)/(T + N') + max(1, √(2 log⁺(t/(K n'))))/√n', n' = n + N';
          [3]    if the leader has no logs, sd(c) √(2 log(t + 1)) is added for all arms
        U      = median(audit, online, hybrid); without logs, online;
                 at most hybrid while max(4, T) or more pulls are pending

    The leader is the arm with the largest guess. If another arm's U is above both the leader's
    guess and the leader's U, the arm with the largest U is played: a guard pull. Otherwise the arm
    with the largest index is played. The index is the median of the guess, θ_on ~ N(S/T, 1/T) and
    θ_hyb ~ N((S + N' m)/(T + N'), 1/(T + N')). In θ_hyb, c is drawn once for all arms; all other
    formulas use the estimate of c. Without a relative bound, c = sd(c) = 0.

    While T = 0, the guess is m, [1] is skipped, and θ_on is θ_hyb. In audit and online, `level`
    replaces S/T. `level` is the best live mean of the playable arms. If there are no live rewards,
    it is the best logged mean; if there are no logs either, it is m₀. If n = 0, audit and online
    are ∞. An arm with neither rewards nor logs has `level` as its guess and online as its index.

    A = ε = 0 declares the bounds V and W proved. Then the guess is not clipped, and audit is −∞
    while T = 0. If B = W, [2] is skipped and u = m + 2W, because all other arms may have moved by W
    in the opposite direction.

    Decisions do not change if a constant is added to all live and logged rewards, or if all
    rewards, σ and the bounds are multiplied by a positive number.

    Attributes:
        prior_mean: m₀. Used only as `level`, while there are neither live rewards nor logs.
        noise: σ, the standard deviation of a reward. A value that is too large is safer than
            one that is too small.
        budget: A, the reward, in units of σ, that testing an arm may cost before its logs may rule
            it out. If the leader's mean is known, the probability that wrong logs rule out an arm
            that is better by g is at most exp(−2 g A/σ). Use 0 if V and W are proved.
        eps: ε, from 0 to 1. Whatever the logs say, an arm keeps the fraction √ε of its online
            radius r. This brings back an arm that was wrongly ruled out. Use 0 if V and W are
            proved.
        clip: z, the largest distance of the guess from the live mean, in standard errors. Not used
            if V and W are proved.
        guard_share: The probability that a guard pull is played when one is due; otherwise the
            round draws samples as usual. With a value below 1, no arm is chosen with probability 1
            once every arm has rewards or logs, so decisions can be weighted by inverse propensity.

    Example:
        >>> arm = ArmEvidence(pulls=4, total=1.2, offline_pulls=4, offline_mean=0.5, bias_bound=0.7)
        >>> now = Round(t=100, arms=2)  # the other arm has had 95 pulls
        >>> shared = Shared(Posterior(0, 0), level=0.3, others=5, move_margin=0)
        >>> [round(x, 2) for x in bounds(GuardedAnchorTS(), arm, now, shared)]
        [2.05, 1.55, 1.26]
        >>> round(upper_bound(GuardedAnchorTS(), arm, now, shared), 2)
        1.55
    """

    name = "guarded-anchor-ts"
    formula = (
        "argmax U = median(audit, online, hybrid) if above leader, else median(guess, θ_on, θ_hyb)"
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
        """Return the arm to play.

        On a guard pull, this is the arm with the largest upper bound; otherwise, it is the arm with
        the largest index.
        """
        judged = judge(self, evidence, now)
        shared = judged.shared
        played = plays_guard(self, judged, stream)
        move = shared.move_law.mean if played else drawn_move(shared, stream)
        best = Best(-math.inf, -1, 0)
        for column in range(evidence.pulls.size):
            arm = arm_at(evidence, column)
            if played:
                value = upper_bound(self, arm, now, shared)
            else:
                value = sampled_index(self, arm, now, shared, move, draw(self, stream))
            if evidence.playable[column]:
                best = challenge(best, value, column, stream)
        return best.column

    def account(self, evidence: Evidence, now: Round, stream: Stream) -> Account:
        """Repeat the decision of `choose`, and record the index or upper bounds of every arm."""
        judged = judge(self, evidence, now)
        shared = judged.shared
        played = plays_guard(self, judged, stream)
        move = shared.move_law.mean if played else drawn_move(shared, stream)
        best, arms = Best(-math.inf, -1, 0), []
        for column in range(evidence.pulls.size):
            arm = arm_at(evidence, column)
            if played:
                value = upper_bound(self, arm, now, shared)
                parts = {"guess": guess(self, arm, move, shared.level)}
                parts |= bounds(self, arm, now, shared)._asdict()
            else:
                z = draw(self, stream)
                value, logs = sampled_index(self, arm, now, shared, move, z), logs_of(arm, move)
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
            judged.leader if played else None,
            skipped=judged.leader if judged.guard_due and not played else None,
            guard_share=self.guard_share,
        )

    def laws(
        self, evidence: Evidence, now: Round, moves: Floats, guard: bool, laws: Floats
    ) -> RoundKind:
        """Write the distribution of every arm's index into `laws`: see `base.write_laws`."""
        judged, row = judge(self, evidence, now), 0
        shared, move_law = judged.shared, judged.shared.move_law
        for k in range(len(moves)):
            move = move_law.mean + move_law.sd * moves[k]
            for column in range(evidence.pulls.size):
                arm = arm_at(evidence, column)
                if not evidence.playable[column]:
                    laws[row, 0] = NEVER
                elif guard and judged.guard_due:
                    write_law(laws, row, constant(upper_bound(self, arm, now, shared)))
                else:
                    write_law(laws, row, sampled_law(self, arm, now, shared, move))
                row += 1
        return RoundKind(self.guard_share if judged.guard_due else 0.0, move_law.mean, move_law.sd)
