"""The view of one campaign: everything that the page shows of it, as JSON."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from driftanchor.live.campaigns.handle import Moment
from driftanchor.live.campaigns.saved import Saved, saved
from driftanchor.live.campaigns.status import Status
from driftanchor.live.campaigns.watching import alarms_of
from driftanchor.live.stores.store_rows import DecisionRow
from driftanchor.live.watch.watch import Watch
from driftanchor.render.numbers import rounded
from driftanchor.render.palette import POLICY_NAMES
from driftanchor.serve.page.arm_rows import arm_rows, believed_move
from driftanchor.serve.page.believed import plain
from driftanchor.serve.page.sentence import sentence
from driftanchor.serve.page.shift_tests import shift_tests

PANELS = 100  # enough for what is shown
RECENT = 1_000  # decisions whose rewards are counted
LISTED = 12  # decisions that are listed


def campaign_view(moment: Moment, now: float, gained: Saved | None) -> dict[str, Any]:
    """All that the page shows of a campaign at one moment, without its history.

    Args:
        moment: The campaign.
        now: The time.
        gained: What the logs saved, if that is known yet.
    """
    books, reader, name = moment.books, moment.reader, moment.row.name
    terms, head, settings = books.terms, books.head, books.settings
    record = reader.watch()
    status = Status.of(name, books, alarms_of(record), PANELS)
    watch = Watch.start(terms) if record is None else Watch.from_json(record["watch"])
    recent = list(reader.all_decisions(after=max(head.decisions - RECENT, 0)))
    view = {
        "name": name,
        "sentence": sentence(status, now),
        "findings": status.findings(),
        "alarmed": status.is_alarmed,
        "now": now,
        "created": moment.row.created_at,
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
        "leader": terms.arms[status.outlook.leader],
        "outlook": {
            "loss": status.outlook.loss,
            "loss_95": status.outlook.loss_95,
            "enough": status.outlook.is_enough,
        },
        "arms": arm_rows(status, books),
        "shift": shift_tests(watch, books, believed_move(books)),
        "traffic": {
            "p_value": status.ratio.p_value,
            "off": status.ratio.is_off(),
            "text": status.ratio.text(terms.arms.labels),
        },
        "outcomes": _outcomes(recent),
        "recent": [_listed(row, terms.arms.labels) for row in recent[: -LISTED - 1 : -1]],
        "saved": None if gained is None else {**gained.to_json(), "text": saved_text(gained)},
    }
    checked: dict[str, Any] = plain(view)
    return checked


def saved_of(moment: Moment, status: Status) -> Saved | None:
    """What the logs saved; `None` without logs or decisions."""
    terms, books = moment.books.terms, moment.books
    if not books.head.decisions or not (terms.offline.n > 0).any():
        return None
    known = status.outlook
    counts = books.decisions.astype(np.float64)
    return saved(
        known.means, known.sds, counts, terms.policy.noise, terms.reward_range, terms.seed
    )


def saved_text(gained: Saved) -> str:
    """What the logs saved, in honest words.

    Example:
        >>> print(saved_text(Saved(40.2, 21.0, 60.5, 50.0, 9.8, 1000)))
        The logs saved about 40.2 rewards (21.0 to 60.5) over 1,000 decisions: a start without them
        would have lost about 50.0, and 9.80 were lost. This is an estimate: nobody knows what would
        have happened.
    """
    if gained.low > 0:
        verdict = f"The logs saved about {rounded(gained.mean)} rewards"
    elif gained.high < 0:
        verdict = f"The logs cost about {rounded(-gained.mean)} rewards"
    else:
        verdict = f"Whether the logs saved anything is not clear yet: {rounded(gained.mean)} rewards"
    ends = sorted((gained.low, gained.high))
    if gained.high < 0:
        ends = [-ends[1], -ends[0]]
    return (
        f"{verdict} ({rounded(ends[0])} to {rounded(ends[1])}) over {gained.decisions:,} "
        f"decisions: a start without them would have lost about {rounded(gained.cold)}, and "
        f"{rounded(gained.lost)} were lost. This is an estimate: nobody knows what would have "
        "happened."
    )


def _outcomes(recent: list[DecisionRow]) -> dict[str, Any]:
    """What became of the last decisions."""
    found = Counter(row.state for row in recent)
    states = ("assigned", "open", "rewarded", "defaulted", "expired")
    return {"of": len(recent), **{state: found[state] for state in states}}


def _listed(row: DecisionRow, labels: tuple[str, ...]) -> dict[str, Any]:
    return {
        "id": row.id,
        "number": row.number,
        "arm": labels[row.column],
        "unit": row.unit,
        "propensity": row.propensity,
        "state": row.state,
        "reward": row.reward,
        "at": row.asked_at,
    }
