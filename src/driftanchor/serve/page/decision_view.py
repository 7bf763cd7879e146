"""The view of one decision: made again from what was known then, every number a picture."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from driftanchor.errors import InvalidInput
from driftanchor.live.campaigns.asking import LONGEST, is_text
from driftanchor.live.campaigns.campaign import Campaign
from driftanchor.live.explanation import Explanation
from driftanchor.live.stores.rows import DecisionRow
from driftanchor.serve.page.believed import plain

LOOKED_AT = 20_000  # decisions in which a unit is looked for at once
MOST = 50  # decisions of a unit that are listed

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
    """Why a decision chose its arm, computed again exactly.

    Raises:
        NotFound: There is no such decision.
    """
    explanation = campaign.explain(decision_id)
    with campaign.at_one_moment() as reading:
        (row,) = reading.reader.decisions([decision_id])
        labels = reading.current.terms.arms.labels
        ends = reading.current.terms.reward_range
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
        "range": list(ends),
        "replayed": True,  # `explain` raises where the decision comes out otherwise
        "decided": decided_by(explanation),
        "sentence": decided_text(explanation, row),
        "explanation": explanation.to_json(),
        "parts": {name: PARTS.get(name, name) for name in _parts(explanation)},
    }
    checked: dict[str, Any] = plain(view)
    return checked


def decided_by(explanation: Explanation) -> str:
    """What decided: the arm's `"floor"`, the `"guard"`, or the `"index"`."""
    if explanation.floor:
        return "floor"
    return "guard" if explanation.guard else "index"


def decided_text(explanation: Explanation, row: DecisionRow) -> str:
    """What decided, in one or two sentences of plain words."""
    won = explanation.arms.get(explanation.arm)
    chance = f"It had a chance of {row.propensity:.1%}".replace("%", " %")
    if decided_by(explanation) == "floor":
        return (
            f"{explanation.arm} was drawn as part of the share that is guaranteed to it, whatever "
            f"the rule says. {chance}."
        )
    if won is None or won.decided_by is None:
        return f"{explanation.reason[0].upper()}{explanation.reason[1:]}. {chance}."
    part = PARTS.get(won.decided_by, won.decided_by)
    if explanation.guard:
        return (
            f"{explanation.arm} was played to check the logs: judging by {part}, it may still be "
            f"better than the leader. {chance}."
        )
    middle = "the middle one of its three numbers, " if len(won.parts) == 3 else ""
    return (
        f"{explanation.arm} was played because its index was the largest: {middle}{part}. {chance}."
    )


def _parts(explanation: Explanation) -> list[str]:
    return list(dict.fromkeys(name for arm in explanation.arms.values() for name in arm.parts))


def find(campaign: Campaign, text: str, through: int | None = None) -> dict[str, Any]:
    """Decisions by id, by number (such as `#12`), or by unit.

    A unit is looked for in a fixed number of decisions at once, the newest first; `through` of the
    answer says where to go on. So a search never reads all decisions of a large campaign.

    Args:
        campaign: The campaign.
        text: An id, a number or a unit.
        through: The number of the newest decision to look at; by default the last one.
    """
    wanted = text.strip()
    if not is_text(wanted):
        raise InvalidInput(
            f"must be an id, #number or a unit of 1 to {LONGEST} characters", argument="q"
        )
    numbered = re.fullmatch(r"#(\d{1,18})", wanted)
    with campaign.at_one_moment() as reading:
        reader, last = reading.reader, reading.current.counters.decisions
        end = last if through is None else min(through, last)
        start = max(end - LOOKED_AT, 0)
        if numbered:
            number = int(numbered[1])
            near = reader.all_decisions(after=number - 1) if 1 <= number <= last else iter(())
            found, start = [x for x in [next(near, None)] if x is not None], 0
        else:
            found = reader.decisions([wanted])
            held = (
                reader.holding([wanted], reading.current.counters.epoch) if through is None else []
            )
            found += [row for row in held if row.number <= start]
            found += reader.of_unit(wanted, start, end)
        labels = reading.current.terms.arms.labels
    newest = sorted({row.number: row for row in found}.values(), key=lambda row: -row.number)
    answer = {
        "campaign": campaign.name,
        "query": wanted,
        "found": [listed(row, labels) for row in newest[:MOST]],
        "looked_after": start,
        "through": start or None,  # where to go on
    }
    checked: dict[str, Any] = plain(answer)
    return checked


def listed(row: DecisionRow, labels: tuple[str, ...]) -> dict[str, Any]:
    """A decision in a list."""
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
