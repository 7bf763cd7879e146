"""Caps: bounds on U that hold for some rounds, so that U of an arm is not computed in each.

While an arm waits and no arms move together, U grows with the round and falls as R grows. So U some
rounds later, with today's R, is a bound until then: a cap. Each step of `upper_bound` keeps this
order in floating point as well, but for the last bit of a logarithm. A cap is therefore taken one
round after the last for which it is used, where the logarithm is larger by far more than that.

Caps are kept with what is believed of the arm (see `keep` in `driftanchor.policies.base`): when the
arm is played, its cap goes away. Interpreted, nothing is kept, and all of this is left out.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from driftanchor.core.evidence import Evidence, Round, arm_at
from driftanchor.policies.base import belief_at, keep, keeps_beliefs
from driftanchor.policies.guarded_beliefs import GuardedBelief
from driftanchor.policies.guarded_bounds import Judgement, believed_guess, upper_bound

if TYPE_CHECKING:
    from driftanchor.policies.guarded_anchor_ts import GuardedAnchorTS

SHARE = 64  # a cap is used for the 64th part of all rounds so far: U hardly grows in it
LONG = 4  # or for a quarter of them, where that suffices
CAP, UNTIL, RIVALS = (GuardedBelief._fields.index(name) for name in ("cap", "until", "rivals"))


def all_are_capped(
    policy: GuardedAnchorTS, evidence: Evidence, now: Round, judged: Judgement, x: float
) -> bool:
    """Whether all arms but the leader have a cap of at most x."""
    for column in range(evidence.pulls.size):
        other = column != judged.leader and evidence.playable[column]
        if other and not is_capped(policy, evidence, column, now, judged, x):
            return False
    return True


def is_capped(
    policy: GuardedAnchorTS,
    evidence: Evidence,
    column: int,
    now: Round,
    judged: Judgement,
    x: float,
) -> bool:
    """Whether an arm has a cap of at most x."""
    belief = belief_at(policy, evidence, column)
    return belief.cap <= x and holds(belief, evidence.pending[column], now, judged)


def holds(belief: GuardedBelief, pending: float, now: Round, judged: Judgement) -> bool:
    """Whether the cap of an arm holds now."""
    return now.t <= belief.until and judged.rivals >= belief.rivals and pending == 0


def is_capped_anew(
    policy: GuardedAnchorTS,
    evidence: Evidence,
    column: int,
    now: Round,
    judged: Judgement,
    x: float,
) -> bool:
    """The same, with a new cap for an arm that needs one.

    It holds for long where one of at most x is likely, and otherwise for a while.
    """
    if is_capped(policy, evidence, column, now, judged, x):
        return True
    arm, belief = arm_at(evidence, column), belief_at(policy, evidence, column)
    last = now.t + now.t // SHARE
    if arm.pulls == 0 or arm.pending > 0:
        return False
    if holds(belief, arm.pending, now, judged) and belief.until <= last:
        return False  # the cap is nearly U
    cap = math.inf
    if belief.cap <= x:
        far = now.t + now.t // LONG
        cap = upper_bound(policy, arm, Round(far + 1, now.arms), judged)
        last = far if cap <= x else last
    if cap > x:
        cap = upper_bound(policy, arm, Round(last + 1, now.arms), judged)
    keep(policy, evidence, column, CAP, cap)
    keep(policy, evidence, column, UNTIL, float(last))
    keep(policy, evidence, column, RIVALS, float(judged.rivals))
    return cap <= x


def bound_to_beat(
    policy: GuardedAnchorTS,
    evidence: Evidence,
    column: int,
    now: Round,
    judged: Judgement,
    x: float,
) -> float:
    """U of an arm in a guard pull; −∞ where a cap shows that it is below x.

    U of the leader is the threshold, where that is above the leader's guess.
    """
    arm = arm_at(evidence, column)
    if keeps_beliefs(policy):
        belief = belief_at(policy, evidence, column)
        if belief.cap < x and holds(belief, arm.pending, now, judged):
            return -math.inf
        leads = column == judged.leader and arm.pulls > 0
        if leads and judged.threshold > believed_guess(policy, arm, belief, judged.common.mean):
            return judged.threshold
    return upper_bound(policy, arm, now, judged)
