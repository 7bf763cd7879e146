"""Which arms a guard pull is surely not due for, without a logarithm or a root for each of them.

U > x is what makes a guard pull, and most arms are far below. The bounds of
`driftanchor.policies.guarded_bounds` are radii √(2 log(t/H)/n) around means, so a bound is at most
x where the squared distance exceeds the squared radius; log t is the same for all arms, and log n is
kept. The answer errs on one side only: an arm that is called quiet has U ≤ x, rounding included.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from driftanchor.core.common_move import moves_along
from driftanchor.core.evidence import ArmEvidence, Round
from driftanchor.policies.guarded_beliefs import GuardedBelief, hybrid, is_insured
from driftanchor.policies.guarded_bounds import HOPE, Judgement

if TYPE_CHECKING:
    from driftanchor.policies.guarded_anchor_ts import GuardedAnchorTS

ROUNDING = 1e-12  # of the numbers compared: some thousand times what rounding makes of them
LOG_2 = math.log(2.0)


class RoundLogs(NamedTuple):
    """The logarithms that all arms share in a round."""

    now: float  # log t, rounded up
    arms: float  # log K
    rivals: float  # log R


def round_logs(now: Round, judged: Judgement) -> RoundLogs:
    """The logarithms of a round."""
    return RoundLogs(
        math.log(now.t) + ROUNDING, math.log(now.arms), math.log(max(judged.rivals, 1))
    )


def is_quiet(
    policy: GuardedAnchorTS,
    arm: ArmEvidence,
    belief: GuardedBelief,
    judged: Judgement,
    logs: RoundLogs,
    x: float,
) -> bool:
    """Whether U ≤ x surely: two of its three bounds are."""
    if x == math.inf:
        return True
    if arm.pulls == 0 or arm.pending > 0:
        return False
    n = arm.pulls
    each = policy.noise / n
    level = x - belief.live - ROUNDING * (abs(x) + abs(belief.live))
    squared = (
        belief.live_sd * belief.live_sd * 2.0 * max(logs.now - log_share(n, belief, logs), 0.0)
    )
    online = level - HOPE * each
    if online >= 0.0 and squared <= online * online:
        audit = level - policy.budget * each
        if audit >= 0.0 and policy.eps * squared <= audit * audit:
            return True
        return not is_logged(arm) or hybrid_quiet(policy, arm, belief, judged, logs, x)
    if not is_logged(arm):
        return False
    audit = level - policy.budget * each
    if not (audit >= 0.0 and policy.eps * squared <= audit * audit):
        return False
    return hybrid_quiet(policy, arm, belief, judged, logs, x)


def is_logged(arm: ArmEvidence) -> bool:
    """Whether something is promised of the logs of an arm."""
    return arm.offline_pulls > 0 and min(arm.bias_bound, arm.relative_bound) < math.inf


def log_share(n: int, belief: GuardedBelief, logs: RoundLogs) -> float:
    """At most log H, H = min(K n, n + R), by log (n + R) ≥ log 2 + (log n + log R)/2."""
    middle = LOG_2 + 0.5 * (belief.log_pulls + logs.rivals)
    both = max(middle, max(belief.log_pulls, logs.rivals))
    return min(logs.arms + belief.log_pulls, both)


def hybrid_quiet(
    policy: GuardedAnchorTS,
    arm: ArmEvidence,
    belief: GuardedBelief,
    judged: Judgement,
    logs: RoundLogs,
    x: float,
) -> bool:
    """Whether the hybrid bound is surely at most x."""
    common = judged.common.mean
    along = moves_along(arm, common)
    bound = arm.relative_bound if along else arm.bias_bound
    base = arm.offline_mean + common if along else arm.offline_mean
    ceiling = base + bound
    if along and not is_insured(policy):
        ceiling += bound
    x -= judged.doubt
    x -= ROUNDING * (abs(x) + judged.doubt + abs(belief.live) + abs(base) + bound + abs(common))
    if along and belief.moved_weight > 0.0 and is_insured(policy):
        # likely_bound
        law = hybrid(arm, belief, common)
        radius = max(1.0, 2.0 * (logs.now - logs.arms - belief.log_moved))
        if x >= law.mean and law.sd * law.sd * radius <= (x - law.mean) ** 2:
            return True
    # hybrid_bound: reach² (n + N)/σ² is 2 log⁺(t/(K (n + N)))
    logged = float(arm.offline_pulls)
    both = arm.pulls + logged
    spread = policy.noise * policy.noise * 2.0 * max(logs.now - logs.arms - belief.log_both, 0.0)
    above = x * both - (arm.total + logged * ceiling)  # (x − mean) (n + N)
    above -= ROUNDING * (abs(arm.total) + logged * abs(ceiling))
    if above >= 0.0 and spread * both <= above * above:
        return True
    if not (belief.live < ceiling and ceiling <= x):
        return False
    # At x at or above the ceiling: n (x − S/T)² + N (x − ceiling)² ≥ (n + N) reach²
    return arm.pulls * (x - belief.live) ** 2 + logged * (x - ceiling) ** 2 >= spread
