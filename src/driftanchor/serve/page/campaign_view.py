"""The view of one campaign: the JSON behind its page."""

from __future__ import annotations

from collections import Counter
from typing import Any

from driftanchor.live.campaigns.handle import CampaignReader
from driftanchor.live.campaigns.reward_feed import feed_problems
from driftanchor.live.campaigns.status import Status
from driftanchor.live.campaigns.watching import alarms_of
from driftanchor.live.stores.rows import DecisionRow
from driftanchor.live.watch.watch import Watch
from driftanchor.render.palette import POLICY_NAMES
from driftanchor.serve.page.arm_rows import arm_rows, believed_move
from driftanchor.serve.page.believed import plain
from driftanchor.serve.page.decision_view import listed
from driftanchor.serve.page.saved_view import Failed, SavedView
from driftanchor.serve.page.sentence import sentence
from driftanchor.serve.page.shift_tests import shift_tests

RECENT = 1_000  # decisions whose rewards are counted
LISTED = 12  # decisions that are listed


def campaign_view(
    reading: CampaignReader, now: float, gained: SavedView | Failed | None
) -> dict[str, Any]:
    """Return the page's data for a campaign, without its history.

    Args:
        reading: The campaign.
        now: The time.
        gained: The estimate of what the logs saved, if ready.
    """
    current, reader, name = reading.current, reading.reader, reading.row.name
    terms, counters, settings = current.terms, current.counters, current.settings
    record = reader.watch()
    problems = feed_problems(name, current, reader, now)
    status = Status.of(name, current, alarms_of(record), problems=problems)
    watch = Watch.start(terms) if record is None else Watch.from_json(record["watch"])
    recent = list(reader.all_decisions(after=max(counters.decisions - RECENT, 0)))
    belief = believed_move(current)
    ranked = status.outlook.can_rank
    view = {
        "name": name,
        "sentence": sentence(status, now),
        "findings": status.findings(),
        "problems": list(status.problems),
        "alarmed": status.is_alarmed,
        "now": now,
        "created": reading.row.created_at,
        "paused": status.paused,
        "policy": POLICY_NAMES.get(status.policy, status.policy),
        "reasons": list(status.reasons),
        "range": list(terms.reward_range),
        "epoch": status.epoch,
        "decisions": status.decisions,
        "rewards": status.rewards,
        "pending": status.pending,
        "late": status.late,
        "settings": settings.to_json(),
        "changes": [change.text(terms.arms.labels) for change in status.changes],
        "leader": terms.arms[status.outlook.leader] if ranked else None,
        "outlook": {
            "loss": status.outlook.loss if ranked else None,
            "loss_95": status.outlook.loss_95 if ranked else None,
            "enough": status.outlook.is_enough,
        },
        "arms": arm_rows(status, current, [row.column for row in recent], belief),
        "shift": shift_tests(watch, current, belief, now),
        "traffic": {
            "p_value": status.ratio.p_value,
            "off": status.ratio.is_off(),
            "text": status.ratio.text(terms.arms.labels),
        },
        "outcomes": _outcomes(recent),
        "recent": [listed(row, terms.arms.labels) for row in recent[: -LISTED - 1 : -1]],
        "saved": None if gained is None else gained.to_json(now),
    }
    checked: dict[str, Any] = plain(view)
    return checked


def _outcomes(recent: list[DecisionRow]) -> dict[str, Any]:
    """What became of the last decisions."""
    found = Counter(row.state for row in recent)
    states = ("assigned", "open", "rewarded", "defaulted", "expired")
    return {"of": len(recent), **{state: found[state] for state in states}}
