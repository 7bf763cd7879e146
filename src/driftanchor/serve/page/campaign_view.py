"""The JSON behind the page of a campaign, and behind its entry in the overview."""

from __future__ import annotations

from collections import Counter
from typing import Any

from driftanchor.live.campaigns.batch import HISTORY_SECONDS
from driftanchor.live.campaigns.campaign import CampaignReader
from driftanchor.live.stores.rows import DecisionRow
from driftanchor.live.watch.watch import Watch
from driftanchor.render.palette import POLICY_NAMES
from driftanchor.serve.page.arm_rows import arm_rows, believed_move
from driftanchor.serve.page.decision_view import listed
from driftanchor.serve.page.page_intervals import json_ready
from driftanchor.serve.page.savings import Savings
from driftanchor.serve.page.sentences import campaign_sentence
from driftanchor.serve.page.shift_view import shift_tests
from driftanchor.serve.page.timeline import History, shown_columns

RECENT = 1_000  # decisions whose rewards are counted
LISTED = 12  # decisions
SPARK_INTERVALS = 48
SPARK_ARMS = 4


def campaign_view(reading: CampaignReader, savings: Savings | None) -> dict[str, Any]:
    """Return the page's data for a campaign, without its history.

    Args:
        reading: The campaign.
        savings: The estimate of what the logs saved, if ready.
    """
    current, reader, now = reading.current, reading.reader, reading.now
    terms, counters = current.terms, current.counters
    status, record = reading.status(), reader.watch()
    watch = Watch.start(terms) if record is None else Watch.from_json(record["watch"])
    recent = list(reader.all_decisions(after=max(counters.decisions - RECENT, 0)))
    belief = believed_move(current)
    outlook = status.outlook
    view: dict[str, Any] = json_ready(
        {
            "name": status.name,
            "sentence": campaign_sentence(status, now),
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
            "settings": current.settings.to_json(),
            "changes": [change.text(terms.arms.labels) for change in status.changes],
            "leader": terms.arms[outlook.leader] if outlook.can_rank else None,
            "outlook": {
                "loss": outlook.loss if outlook.can_rank else None,
                "loss_95": outlook.loss_95 if outlook.can_rank else None,
                "enough": outlook.is_enough,
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
            "saved": None if savings is None else savings.to_json(now),
        }
    )
    return view


def summary(reading: CampaignReader) -> dict[str, Any]:
    """Return the entry of a campaign in the overview."""
    current, status = reading.current, reading.status()
    outlook = status.outlook
    entry: dict[str, Any] = json_ready(
        {
            "name": status.name,
            "sentence": campaign_sentence(status, reading.now),
            "alarmed": status.is_alarmed,
            "paused": status.paused,
            "leader": current.terms.arms[outlook.leader] if outlook.can_rank else None,
            "p_best": float(outlook.p_best[outlook.leader]) if outlook.can_rank else None,
            "loss": outlook.loss if outlook.can_rank else None,
            "arms": len(status.arms),
            "decisions": status.decisions,
            "rewards": status.rewards,
            "pending": status.pending,
            "spark": _sparkline(reading),
            "now": reading.now,
        }
    )
    return entry


def _outcomes(recent: list[DecisionRow]) -> dict[str, Any]:
    """Count the states of the last decisions."""
    counts = Counter(row.state for row in recent)
    states = ("assigned", "open", "rewarded", "defaulted", "expired")
    return {"of": len(recent), **{state: counts[state] for state in states}}


def _sparkline(reading: CampaignReader) -> dict[str, Any]:
    """Return the shares of the most played arms in the last intervals."""
    current = reading.current
    rows = reading.reader.history(reading.now - SPARK_INTERVALS * HISTORY_SECONDS)
    history = History.of(rows, len(current.terms.arms), HISTORY_SECONDS)
    columns = shown_columns(current.decisions, SPARK_ARMS)
    played = history.decisions.sum(axis=1)
    shares = history.decisions[:, columns] / played.clip(1)[:, None]
    return {
        "labels": [current.terms.arms[column] for column in columns.tolist()],
        "columns": columns.tolist(),
        "shares": shares[played > 0].T.round(4).tolist(),
    }
