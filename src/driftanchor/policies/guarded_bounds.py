"""What guarded Anchor-TS computes of one arm: its logs' say, the best guess, three upper bounds.

Plain scalar functions, compiled with the policy. `docs/learn/guarded.md` says why each is as it is.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from driftanchor.core.common_move import moved, moved_pulls, moves_along, own_sd
from driftanchor.core.evidence import ArmEvidence, Round
from driftanchor.core.hints import apart
from driftanchor.core.posterior import Posterior, median
from driftanchor.policies.guarded_beliefs import (
    GuardedBelief,
    beliefs,
    hybrid,
    is_insured,
    limited,
    log_weight,
)

if TYPE_CHECKING:
    from driftanchor.policies.guarded_anchor_ts import GuardedAnchorTS

WAITING = 4  # pulls on their way after which a test waits for rewards, if there are no more yet
HOPE = 0.5  # what every arm is hoped to gain, in σ, spread over its pulls


class LogEvidence(NamedTuple):
    """What the logs say of an arm's live mean."""

    pulls: float  # N; 0 where nothing is promised of them
    mean: float  # m, moved along with all arms
    ceiling: float  # the largest live mean that the promises allow behind them
    weight: float  # N', how many live rewards they are worth in a guess
    relative: bool  # whether they moved along


class GuardBounds(NamedTuple):
    """The three upper bounds of an arm; it may be better than the leader if their median is."""

    audit_bound: float
    online_bound: float
    hybrid_bound: float


class Judgement(NamedTuple):
    """What is true of a round before anything is drawn."""

    common: Posterior  # what is believed of the common move
    level: float  # what an arm without live rewards is taken to pay
    rivals: float  # R: pulls of all arms but the one most pulled, and one for each
    leader: int  # the column with the best guess
    doubt: float  # how far the logs may be off beside a leader that has none
    threshold: float  # what an upper bound must exceed
    guard: bool  # whether one does


def logs_of(policy: GuardedAnchorTS, arm: ArmEvidence, common: float) -> LogEvidence:
    """What the logs of an arm say after a common move; the tighter promise decides."""
    there = moved(arm, common, policy.noise)
    if arm.offline_pulls == 0 or there.bias_bound == math.inf:
        return LogEvidence(0.0, 0.0, math.inf, 0.0, False)
    logged = float(arm.offline_pulls)
    weight = moved_pulls(logged, own_sd(there.bias_bound), policy.noise)
    relative = there.relative_bound < math.inf
    ceiling = there.offline_mean + there.bias_bound
    if relative and not is_insured(policy):
        # All other arms may have moved by W against this one, and the common move with them.
        ceiling += there.bias_bound
    return LogEvidence(logged, there.offline_mean, ceiling, weight, relative)


def guess(policy: GuardedAnchorTS, arm: ArmEvidence, judged: Judgement) -> float:
    """The mean of logs and rewards together, within z standard errors of the live mean.

    Where the bounds are proved, logs that disagree with live rewards are bad luck: no limit then.
    """
    belief = beliefs(policy, arm)
    if arm.pulls == 0 and log_weight(arm, belief, judged.common.mean) == 0.0:
        return judged.level
    return believed_guess(policy, arm, belief, judged.common.mean)


def believed_guess(
    policy: GuardedAnchorTS, arm: ArmEvidence, belief: GuardedBelief, common: float
) -> float:
    """The guess of an arm that something is known of."""
    if not moves_along(arm, common):
        return belief.guess
    if arm.pulls == 0:
        return arm.offline_mean + common
    return limited(policy, belief.live, belief.reach, hybrid(arm, belief, common).mean)


@apart
def upper_bound(policy: GuardedAnchorTS, arm: ArmEvidence, now: Round, judged: Judgement) -> float:
    """U: Anchor-TS's median, with bounds in place of samples."""
    three = bounds(policy, arm, now, judged)
    if three.hybrid_bound == math.inf:
        return three.online_bound
    middle = median(three.audit_bound, three.online_bound, three.hybrid_bound)
    if arm.pending >= max(WAITING, arm.pulls):  # the rewards of a test are on their way
        return min(middle, three.hybrid_bound)
    return middle


def least_bound(policy: GuardedAnchorTS, arm: ArmEvidence) -> float:
    """U is at least this: the smaller of the audit and the online bound, without their radius.

    It is nearly U itself for the arm that is most pulled, whose radius is 0.
    """
    if arm.pulls == 0 or arm.pending > 0:
        return -math.inf
    return arm.total / arm.pulls + policy.noise * min(HOPE, policy.budget) / arm.pulls


def bounds(policy: GuardedAnchorTS, arm: ArmEvidence, now: Round, judged: Judgement) -> GuardBounds:
    """The three upper bounds of one arm."""
    n = arm.pulls + arm.pending
    live = arm.total / arm.pulls if arm.pulls > 0 else judged.level
    audit, online = math.inf, math.inf
    if n > 0:
        reach = policy.noise * radius(n, now.t, min(now.arms * n, n + judged.rivals))
        online = live + policy.noise * HOPE / n + reach
        audit = live + policy.noise * policy.budget / n + math.sqrt(policy.eps) * reach
    if arm.pulls == 0 and not is_insured(policy):
        audit = -math.inf  # nothing is tested
    logs = logs_of(policy, arm, judged.common.mean)
    if logs.pulls == 0.0:
        return GuardBounds(audit, online, math.inf)
    both = n + logs.pulls
    reach = policy.noise * radius(both, now.t, now.arms * both)
    highest = hybrid_bound(arm, logs, live, n, reach)
    if logs.relative and logs.weight > 0.0 and is_insured(policy):  # 0: W says nothing at all
        highest = min(highest, likely_bound(policy, arm, logs, now))
    return GuardBounds(audit, online, highest + judged.doubt)


def hybrid_bound(arm: ArmEvidence, logs: LogEvidence, live: float, n: float, reach: float) -> float:
    """The largest mean x that rewards and logs allow together.

    Rewards and logs that may all be off by B have the mean of both as if they were, and a radius.
    Where the live mean is below the ceiling u = m + B, x is also at most the larger solution of
    n (x − S/T)² + N (x − u)² = (n + N) r², and at least u: below u the logs do not object.
    """
    if arm.pulls == 0:
        return logs.ceiling + reach
    mean = (arm.total + logs.pulls * logs.ceiling) / (arm.pulls + logs.pulls)
    if live >= logs.ceiling:
        return mean + reach
    share = logs.pulls / (n + logs.pulls)
    left = reach * reach - share * (1.0 - share) * (logs.ceiling - live) ** 2
    if not left > 0.0:
        return min(mean + reach, logs.ceiling)
    joint = live + share * (logs.ceiling - live) + math.sqrt(left)
    return min(mean + reach, max(logs.ceiling, joint))


def likely_bound(policy: GuardedAnchorTS, arm: ArmEvidence, logs: LogEvidence, now: Round) -> float:
    """How large the mean is likely to be, own moves of W/2 taken for a standard deviation.

    An estimated W covers the moves of all arms at once. Where it is wider than the arms are apart,
    a bound that allows each arm all of it would rule out none.
    """
    mean = (arm.total + logs.weight * logs.mean) / (arm.pulls + logs.weight)
    n = arm.pulls + arm.pending + logs.weight
    return mean + policy.noise * max(1.0 / math.sqrt(n), radius(n, now.t, now.arms * n))


def radius(n: float, t: int, share: float) -> float:
    """r(n)/σ = √(2 log⁺(t/H) / n): 0 for an arm that had its share H of the rounds."""
    if t <= share:
        return 0.0
    return math.sqrt(2.0 * math.log(t / share) / n)
