"""What guarded Anchor-TS keeps of an arm: the numbers that change only when the arm is played.

Where arms move together, an arm's guess also depends on what all of them say of the common move.
What is kept then are the parts of it: one division is left for each round.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from driftanchor.core.common_move import moved_pulls, moves_along, own_sd, say_of
from driftanchor.core.evidence import ArmEvidence, Evidence, arm_at
from driftanchor.core.posterior import Posterior

if TYPE_CHECKING:
    from driftanchor.policies.guarded_anchor_ts import GuardedAnchorTS


NEW = 0.0  # in place of `until`, for an arm that has no cap yet
UNASKED = -1.0  # in place of a logarithm that nobody asked for yet: those of pulls are at least 0


class GuardedBelief(NamedTuple):
    """What the numbers of one arm say, whatever the round and the other arms."""

    live: float  # S/T; 0 without pulls
    live_sd: float  # σ/√T
    reach: float  # z σ/√T, how far the guess may be from the live mean
    guess: float  # where the logs did not move
    weight: float  # N' under V; 0 where there are no logs, or V is infinite
    mean: float  # of rewards and logs that did not move
    sd: float  # σ/√(T + N')
    moved_weight: float  # N' under W
    moved_sd: float
    say: float  # of the common move: w
    say_total: float  # w y
    log_pulls: float  # log T; this and the next two once asked for: see `guarded_quiet`
    log_both: float  # log (T + N)
    log_moved: float  # log (T + N') under W
    cap: float  # U is at most this: see `guarded_caps`
    until: float  # up to this round
    rivals: float  # while R is at least this


def beliefs(policy: GuardedAnchorTS, arm: ArmEvidence) -> GuardedBelief:
    """What the numbers of one arm say."""
    live, live_sd, reach = 0.0, math.inf, math.inf
    if arm.pulls > 0:
        root = math.sqrt(arm.pulls)
        live, live_sd = arm.total / arm.pulls, policy.noise / root
        reach = policy.clip * policy.noise / root
    logged = float(arm.offline_pulls)
    weight, mean, sd, guess = 0.0, live, live_sd, live
    if logged > 0.0 and arm.bias_bound < math.inf:
        weight = moved_pulls(logged, own_sd(arm.bias_bound), policy.noise)
        n = arm.pulls + weight  # perhaps below 1
        if n > 0.0:
            mean = (arm.total + weight * arm.offline_mean) / n
            sd = policy.noise / math.sqrt(n)
        guess = limited(policy, live, reach, mean)
    if arm.pulls == 0:
        # The mean as it is: an arm that nothing is known of may be taken to pay just that.
        guess = arm.offline_mean
    moved_weight, moved_sd = 0.0, math.inf
    if logged > 0.0 and arm.relative_bound < math.inf:
        moved_weight = moved_pulls(logged, own_sd(arm.relative_bound), policy.noise)
        if arm.pulls + moved_weight > 0.0:
            moved_sd = policy.noise / math.sqrt(arm.pulls + moved_weight)
    say = say_of(arm, policy.noise)
    return GuardedBelief(
        live,
        live_sd,
        reach,
        guess,
        weight,
        mean,
        sd,
        moved_weight,
        moved_sd,
        say.weight,
        say.total,
        UNASKED,
        UNASKED,
        UNASKED,
        math.inf,
        NEW,
        math.inf,
    )


def arm_seen(evidence: Evidence, column: int, relative: bool) -> ArmEvidence:
    """The arm in `column`; `relative` says whether any arm has a relative bound.

    Where none has, this says so of each arm: the compiler then leaves out all that is about moves.
    """
    arm = arm_at(evidence, column)
    if relative:
        return arm
    return ArmEvidence(
        arm.pulls,
        arm.total,
        arm.offline_pulls,
        arm.offline_mean,
        arm.bias_bound,
        arm.pending,
        math.inf,
    )


def limited(policy: GuardedAnchorTS, live: float, reach: float, mean: float) -> float:
    """A mean of logs and rewards, within reach of the live mean where the bounds may be wrong."""
    if not is_insured(policy):
        return mean
    return max(live - reach, min(mean, live + reach))


def is_insured(policy: GuardedAnchorTS) -> bool:
    """Whether the bounds may be wrong: where they are proved, budget and ε are 0."""
    return policy.budget > 0.0 or policy.eps > 0.0


def log_weight(arm: ArmEvidence, belief: GuardedBelief, common: float) -> float:
    """N' after a common move."""
    return belief.moved_weight if moves_along(arm, common) else belief.weight


def hybrid(arm: ArmEvidence, belief: GuardedBelief, common: float) -> Posterior:
    """What rewards and logs say together of the mean after a common move.

    The arm must not be unknown: it has a reward, or logs that weigh something.
    """
    if not moves_along(arm, common):
        return Posterior(belief.mean, belief.sd)
    weight = belief.moved_weight
    total = arm.total + weight * (arm.offline_mean + common)
    return Posterior(total / (arm.pulls + weight), belief.moved_sd)
