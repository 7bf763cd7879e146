"""Arm rows: the data that the page shows for each arm."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from driftanchor.core.common_move import common_move, is_relative, moved, moves_along
from driftanchor.core.evidence import ArmEvidence, arm_at
from driftanchor.core.posterior import Posterior, hybrid_posterior
from driftanchor.core.promises import Range
from driftanchor.core.stats.distributions import critical_z
from driftanchor.live.campaigns.campaign_state import CampaignState
from driftanchor.live.campaigns.status import Status
from driftanchor.live.campaigns.stopping import live_interval
from driftanchor.live.decide import situation
from driftanchor.serve.page.page_intervals import LEVEL, finite, interval_json
from driftanchor.serve.page.sentences import share_reason

Z = critical_z(1 - LEVEL)


def arm_rows(
    status: Status, current: CampaignState, recent: Sequence[int], belief: Posterior | None
) -> list[dict[str, Any]]:
    """Return the numbers of all arms, in column order.

    Each arm has four 95 % intervals: `online` from live rewards alone; `hybrid` from logs and live
    rewards pooled, with the logs shifted by the estimated common move; `rule`, the rule's own
    belief; and `offline`, the logged mean shifted by the common move. `None` if nothing is known.

    Args:
        status: The status of the campaign.
        current: The state of the campaign at the same time.
        recent: The arms of the last decisions.
        belief: The belief about the common move; see `believed_move`.
    """
    terms, settings = current.terms, current.settings
    recent_counts = Counter(recent)
    evidence, _ = situation(terms, current.state)
    noise, limits = terms.policy.noise, terms.reward_range
    common = Posterior(0.0, 0.0) if belief is None else belief
    outlook, total = status.outlook, max(status.decisions, 1)
    rows = []
    for column, (label, arm) in enumerate(status.arms.items()):
        numbers = arm_at(evidence, column)
        rule = Posterior(outlook.means.item(column), outlook.sds.item(column))
        share = recent_counts[column] / max(len(recent), 1)
        best = outlook.p_best.item(column) if outlook.can_rank else None
        online = _online(numbers, noise, limits, arm.live_variance)
        logged = _offline(numbers, common, noise) if arm.logs_count else None
        rows.append(
            {
                "column": column,
                "label": label,
                "state": arm.state,
                "logs": {"n": arm.logs_n, "mean": finite(arm.logs_mean), "count": arm.logs_count},
                "live": {"n": round(arm.live_n, 1), "mean": finite(arm.live_mean)},
                "decisions": arm.decisions,
                "share": arm.decisions / total,
                "share_lately": share,
                "why": share_reason(arm.state, share, len(recent), best, settings.floor_of(label)),
                "expected": arm.expected,
                "pending": arm.pending,
                "p_best": best,
                "online": online,
                "hybrid": interval_json(_hybrid(numbers, common.mean, noise), limits) or online,
                "rule": interval_json(rule, limits) if outlook.knows(column) else None,
                "offline": interval_json(logged, limits),
            }
        )
    return rows


def believed_move(current: CampaignState) -> Posterior | None:
    """Return the belief about the common move; `None` without relative bounds."""
    evidence, _ = situation(current.terms, current.state)
    if not is_relative(evidence):
        return None
    return common_move(evidence, current.terms.policy.noise)


def _online(
    arm: ArmEvidence, noise: float, limits: Range, variance: float
) -> dict[str, float] | None:
    """Return the live mean with an interval that is valid for any number of rewards."""
    if not arm.pulls:
        return None
    low, high = live_interval(arm.pulls, arm.total, noise, limits, Z, variance)
    mean = arm.total / arm.pulls
    return {"mean": mean, "low": min(low, mean), "high": max(high, mean)}


def _hybrid(arm: ArmEvidence, common: float, noise: float) -> Posterior | None:
    """Pool logs and live rewards as one sample, ignoring the bounds."""
    shifted = moved(arm, common, noise)
    if shifted.bias_bound == math.inf or shifted.offline_pulls == 0:
        return None
    # Centre the prior, worth one pull, on the pooled mean, so that it has no effect.
    total = arm.total + shifted.offline_pulls * shifted.offline_mean
    return hybrid_posterior(shifted, total / (arm.pulls + shifted.offline_pulls), noise)


def _offline(arm: ArmEvidence, common: Posterior, noise: float) -> Posterior | None:
    if arm.offline_pulls == 0:
        return None
    sd = noise / math.sqrt(arm.offline_pulls)
    if not moves_along(arm, common.mean):
        return Posterior(arm.offline_mean, sd)
    return Posterior(arm.offline_mean + common.mean, math.hypot(sd, common.sd))
