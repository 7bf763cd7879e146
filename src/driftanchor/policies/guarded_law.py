"""The laws of guarded Anchor-TS's indices, once the round is judged."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from driftanchor.core.evidence import ArmEvidence, Evidence, Round, arm_at
from driftanchor.core.index_law import IndexLaw, constant, median_law, one_sample
from driftanchor.core.win_chances import NEVER, Column, Laws, write_law
from driftanchor.policies.guarded_bounds import Judgement, bounds, guess, logs_of, upper_bound
from driftanchor.policies.guarded_judge import judge
from driftanchor.policies.round_law import RoundKind

if TYPE_CHECKING:
    from driftanchor.policies.guarded_anchor_ts import GuardedAnchorTS


def guarded_law(
    policy: GuardedAnchorTS, arm: ArmEvidence, now: Round, judged: Judgement, common: float
) -> IndexLaw:
    """The index of an arm in a round without a guard pull, given the drawn common move.

    The median of the guess, an online sample and a hybrid sample. Before the first reward both
    samples are the same, so the index is that sample. An arm of which nothing is known has its
    online bound for an index. (In a guard pull the index is the upper bound, which is a constant.)
    """
    logs = logs_of(policy, arm, common)
    n = arm.pulls + logs.weight
    if n == 0.0:
        return constant(bounds(policy, arm, now, judged).online_bound)
    mean, sd = (arm.total + logs.weight * logs.mean) / n, policy.noise / math.sqrt(n)
    if arm.pulls == 0:
        return one_sample(mean, sd)
    live, live_sd = arm.total / arm.pulls, policy.noise / math.sqrt(arm.pulls)
    return median_law(guess(policy, arm, judged), live, live_sd, mean, sd)


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
                laws[row, 0] = NEVER
            elif guard and judged.guard:
                write_law(laws, row, constant(upper_bound(policy, arm, now, judged)))
            else:
                write_law(laws, row, guarded_law(policy, arm, now, judged, common))
            row += 1
    share = policy.guard_share if judged.guard else 0.0
    return RoundKind(share, judged.common.mean, judged.common.sd)
