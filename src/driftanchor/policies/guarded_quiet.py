"""Which arms a guard pull is surely not due for, without a logarithm or a root for each of them.

U > x is what makes a guard pull, and most arms are far below. The bounds of
`driftanchor.policies.guarded_bounds` are radii √(2 log(t/H)/n) around means, so a bound is at most
x where the squared distance exceeds the squared radius. log t is the same for all arms, and log n
is kept once it was asked for. The answer errs on one side only: an arm that is called quiet has
U ≤ x, rounding included.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from driftanchor.core.common_move import moves_along
from driftanchor.core.evidence import ArmEvidence, Evidence, Round, arm_at
from driftanchor.core.hints import apart
from driftanchor.policies.base import belief_at, keep
from driftanchor.policies.guarded_beliefs import UNASKED, GuardedBelief, hybrid, is_insured
from driftanchor.policies.guarded_bounds import HOPE, Judgement

if TYPE_CHECKING:
    from driftanchor.policies.guarded_anchor_ts import GuardedAnchorTS

ROUNDING = 1e-12  # of the numbers compared: some thousand times what rounding makes of them
LOG_2 = math.log(2.0)
LOG_PULLS, LOG_BOTH, LOG_MOVED = (
    GuardedBelief._fields.index(name) for name in ("log_pulls", "log_both", "log_moved")
)


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


class ArmLogs(NamedTuple):
    """The logarithms of one arm, which has rewards."""

    pulls: float  # log T
    both: float  # log (T + N)
    moved: float  # log (T + N') under W


def arm_logs(
    policy: GuardedAnchorTS,
    evidence: Evidence,
    column: int,
    arm: ArmEvidence,
    belief: GuardedBelief,
) -> ArmLogs:
    """The logarithms of an arm, kept with what is believed of it: the leader's are never needed."""
    if belief.log_pulls != UNASKED:
        return ArmLogs(belief.log_pulls, belief.log_both, belief.log_moved)
    logs = new_logs(arm, belief)
    keep(policy, evidence, column, LOG_PULLS, logs.pulls)
    keep(policy, evidence, column, LOG_BOTH, logs.both)
    keep(policy, evidence, column, LOG_MOVED, logs.moved)
    return logs


@apart
def new_logs(arm: ArmEvidence, belief: GuardedBelief) -> ArmLogs:
    """The logarithms of an arm; 0 for one without rewards, of which none is needed."""
    if arm.pulls == 0:
        return ArmLogs(0.0, 0.0, 0.0)
    pulls = math.log(arm.pulls)
    both = math.log(arm.pulls + arm.offline_pulls) if arm.offline_pulls > 0.0 else pulls
    weight = belief.moved_weight
    return ArmLogs(pulls, both, math.log(arm.pulls + weight) if weight > 0.0 else pulls)


def is_quiet(
    policy: GuardedAnchorTS,
    arm: ArmEvidence,
    belief: GuardedBelief,
    own: ArmLogs,
    now: Round,
    judged: Judgement,
    logs: RoundLogs,
    x: float,
) -> bool:
    """Whether U ≤ x surely: two of its three bounds are."""
    if x == math.inf:
        return True
    if arm.pulls == 0 or arm.pending > 0:
        return False
    # H = min(K n, n + R), and log (n + R) ≥ log 2 + (log n + log R)/2
    both = max(logs.rivals, LOG_2 + 0.5 * (own.pulls + logs.rivals))
    share = min(logs.arms + own.pulls, both)
    if two_are_quiet(policy, arm, belief, own, judged, logs, x, share):
        return True
    if now.arms * arm.pulls <= arm.pulls + judged.rivals:
        return False
    return is_quiet_near(policy, arm, belief, own, judged, logs, x)


@apart
def is_quiet_near(
    policy: GuardedAnchorTS,
    arm: ArmEvidence,
    belief: GuardedBelief,
    own: ArmLogs,
    judged: Judgement,
    logs: RoundLogs,
    x: float,
) -> bool:
    """The same with the share n + R as it is, for an arm that is near x."""
    share = math.log(arm.pulls + judged.rivals)
    return two_are_quiet(policy, arm, belief, own, judged, logs, x, share)


def all_are_quiet(
    policy: GuardedAnchorTS, evidence: Evidence, now: Round, judged: Judgement, x: float
) -> bool:
    """Whether all arms but the leader surely have U ≤ x."""
    logs = round_logs(now, judged)
    for column in range(evidence.pulls.size):
        if column != judged.leader and evidence.playable[column]:
            arm, belief = arm_at(evidence, column), belief_at(policy, evidence, column)
            own = arm_logs(policy, evidence, column, arm, belief)
            if not is_quiet(policy, arm, belief, own, now, judged, logs, x):
                return False
    return True


def two_are_quiet(
    policy: GuardedAnchorTS,
    arm: ArmEvidence,
    belief: GuardedBelief,
    own: ArmLogs,
    judged: Judgement,
    logs: RoundLogs,
    x: float,
    share: float,
) -> bool:
    """Whether two of the three bounds are surely at most x; `share` is at most log H."""
    variance = belief.live_sd * belief.live_sd
    squared = variance * 2.0 * max(logs.now - share, 0.0)
    room = x - belief.live - ROUNDING * (abs(x) + abs(belief.live))
    to_online = room - variance * (HOPE / policy.noise)  # σ²/n for σ/n, times 1/σ
    to_audit = room - variance * (policy.budget / policy.noise)
    online = to_online >= 0.0 and squared <= to_online * to_online
    audit = to_audit >= 0.0 and policy.eps * squared <= to_audit * to_audit
    if online and audit:
        return True
    if not is_logged(arm):
        return online
    return (online or audit) and hybrid_is_quiet(policy, arm, belief, own, judged, logs, x)


def is_logged(arm: ArmEvidence) -> bool:
    """Whether something is promised of the logs of an arm."""
    return arm.offline_pulls > 0 and min(arm.bias_bound, arm.relative_bound) < math.inf


def hybrid_is_quiet(
    policy: GuardedAnchorTS,
    arm: ArmEvidence,
    belief: GuardedBelief,
    own: ArmLogs,
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
        radius = max(1.0, 2.0 * (logs.now - logs.arms - own.moved))
        if x >= law.mean and law.sd * law.sd * radius <= (x - law.mean) ** 2:
            return True
    # hybrid_bound: reach² (n + N)/σ² is 2 log⁺(t/(K (n + N)))
    logged = float(arm.offline_pulls)
    both = arm.pulls + logged
    spread = policy.noise * policy.noise * 2.0 * max(logs.now - logs.arms - own.both, 0.0)
    above = x * both - (arm.total + logged * ceiling)  # (x − mean) (n + N)
    above -= ROUNDING * (abs(arm.total) + logged * abs(ceiling))
    if above >= 0.0 and spread * both <= above * above:
        return True
    if not (belief.live < ceiling and ceiling <= x):
        return False
    # At x at or above the ceiling: n (x − S/T)² + N (x − ceiling)² ≥ (n + N) reach²
    return arm.pulls * (x - belief.live) ** 2 + logged * (x - ceiling) ** 2 >= spread
