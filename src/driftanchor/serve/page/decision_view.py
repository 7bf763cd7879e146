"""The view of one decision, replayed exactly, and the search for decisions."""

from __future__ import annotations

import itertools
import re
from datetime import UTC, datetime
from typing import Any

from driftanchor.errors import InvalidInput
from driftanchor.live.campaigns.campaign import Campaign
from driftanchor.live.campaigns.requests import MAX_TEXT, is_text
from driftanchor.live.explanation import Explanation
from driftanchor.live.stores.rows import DecisionRow
from driftanchor.serve.page.page_intervals import json_ready

SCANNED = 20_000  # decisions that one search reads
MAX_FOUND = 50  # decisions of a unit that are listed

PARTS = {
    "anchor": "the mean of live rewards",
    "guess": "the rule's guess of what the arm pays",
    "online_sample": "a draw from what live rewards alone say",
    "hybrid_sample": "a draw from what logs and live rewards say together",
    "audit_bound": "how good the arm may be while the rule checks the logs",
    "online_bound": "how good the arm may be according to live rewards alone",
    "hybrid_bound": "how good the arm may be according to logs and live rewards together",
}


def decision_view(campaign: Campaign, decision_id: str) -> dict[str, Any]:
    """Replay a decision, and return why it chose its arm.

    Raises:
        NotFound: There is no such decision.
    """
    explanation = campaign.explain(decision_id)
    with campaign.at_one_moment() as reading:
        (row,) = reading.reader.decisions([decision_id])
        labels = reading.current.terms.arms.labels
        limits = reading.current.terms.reward_range
    view = {
        "campaign": campaign.name,
        "decision": {
            "id": row.id,
            "number": row.number,
            "arm": labels[row.column],
            "unit": row.unit,
            "propensity": row.propensity,
            "epoch": row.epoch,
            "state": row.state,
            "reward": row.reward,
            "asked": row.asked_at,
            "settled": row.settled_at,
        },
        "range": list(limits),
        "replayed": True,  # otherwise `explain` raises
        "decided": decided_by(explanation),
        "sentence": decided_text(explanation, row),
        "explanation": explanation.to_json(),
        "parts": {
            name: PARTS.get(name, name) for arm in explanation.arms.values() for name in arm.parts
        },
    }
    ready: dict[str, Any] = json_ready(view)
    return ready


def decided_by(explanation: Explanation) -> str:
    """Return what decided: the arm's `"floor"`, the `"guard"`, or the `"index"`."""
    if explanation.floor:
        return "floor"
    return "guard" if explanation.guard else "index"


def decided_text(explanation: Explanation, row: DecisionRow) -> str:
    """Explain the decision in plain words."""
    winner = explanation.arms.get(explanation.arm)
    chance = f"It had a chance of {row.propensity:.1%}".replace("%", " %")
    if decided_by(explanation) == "floor":
        return (
            f"{explanation.arm} was drawn as part of the share that is guaranteed to it, whatever "
            f"the rule says. {chance}."
        )
    if winner is None or winner.decided_by is None:
        return f"{explanation.reason[0].upper()}{explanation.reason[1:]}. {chance}."
    part = PARTS.get(winner.decided_by, winner.decided_by)
    if explanation.guard:
        return (
            f"{explanation.arm} was played to check the logs: judging by {part}, it may still be "
            f"better than the leader. {chance}."
        )
    middle = "the middle one of its three numbers, " if len(winner.parts) == 3 else ""
    return (
        f"{explanation.arm} was played because its index was the largest: {middle}{part}. {chance}."
    )


def find_decisions(campaign: Campaign, text: str, through: int | None = None) -> dict[str, Any]:
    """Find decisions by id, by number (such as `#12`), or by unit.

    One call scans a fixed number of decisions for a unit, newest first. The `through` of the answer
    is the argument of the next call.

    Args:
        campaign: The campaign.
        text: An id, a number or a unit.
        through: The number of the newest decision to scan; by default the last one.
    """
    query = text.strip()
    if not is_text(query):
        raise InvalidInput(
            f"must be an id, #number or a unit of 1 to {MAX_TEXT} characters", argument="q"
        )
    numbered = re.fullmatch(r"#(\d{1,18})", query)
    with campaign.at_one_moment() as reading:
        reader, last = reading.reader, reading.current.counters.decisions
        end = last if through is None else min(through, last)
        start = max(end - SCANNED, 0)
        if numbered:
            number = int(numbered[1])
            rows = reader.all_decisions(after=number - 1) if 1 <= number <= last else iter(())
            decisions, start = list(itertools.islice(rows, 1)), 0
        else:
            decisions = reader.decisions([query])
            if through is None:
                held = reader.holding([query], reading.current.counters.epoch)
                decisions += [row for row in held if row.number <= start]
            decisions += reader.of_unit(query, start, end)
        labels = reading.current.terms.arms.labels
    newest = sorted({row.number: row for row in decisions}.values(), key=lambda row: -row.number)
    answer: dict[str, Any] = json_ready(
        {
            "campaign": campaign.name,
            "query": query,
            "found": [listed(row, labels) for row in newest[:MAX_FOUND]],
            "looked_after": start,
            "through": start or None,
        }
    )
    return answer


def listed(row: DecisionRow, labels: tuple[str, ...]) -> dict[str, Any]:
    """Return a decision as an item of a list."""
    return {
        "id": row.id,
        "number": row.number,
        "arm": labels[row.column],
        "unit": row.unit,
        "propensity": row.propensity,
        "state": row.state,
        "reward": row.reward,
        "at": row.asked_at,
        "time": datetime.fromtimestamp(row.asked_at, UTC).isoformat(timespec="seconds"),
    }
