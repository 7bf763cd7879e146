"""The estimate of what the logs saved, as shown on the page.

The estimate assumes that the arms' means are constant. After an alarm they are not, so the estimate
covers only the time before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from driftanchor.core.check import Floats
from driftanchor.errors import DriftanchorError, excerpt
from driftanchor.live.campaigns.batch import HISTORY_SECONDS
from driftanchor.live.campaigns.campaign import CampaignReader
from driftanchor.live.campaigns.campaign_state import live_of
from driftanchor.live.campaigns.saved import Played, Saved, saved
from driftanchor.live.campaigns.stopping import Outlook
from driftanchor.live.campaigns.watching import alarms_of
from driftanchor.live.watch.alarms import Alarm
from driftanchor.serve.page.sentences import saved_text, when
from driftanchor.serve.page.timeline import outlook_at

MIN_REWARDS = 100
TOO_FEW = (
    f"The saving from the logs is estimated after {MIN_REWARDS} live rewards; with fewer, it would "
    "be little more than a guess."
)


@dataclass(frozen=True)
class Savings:
    """An estimate of what the logs saved, or the reason why there is none.

    Attributes:
        decisions: The campaign's number of decisions when the estimate was made.
        saved: The estimate; `None` if there are too few rewards, or it failed.
        until: The end of the period it covers, if there was an alarm.
        error: The message of a failure.
    """

    decisions: int
    saved: Saved | None = None
    until: float | None = None
    error: str | None = None

    def to_json(self, now: float) -> dict[str, Any]:
        """Return the JSON for the page."""
        if self.error is not None:
            return {"error": self.error, "text": f"The estimate failed: {self.error}"}
        if self.saved is None:
            return {"mean": None, "text": TOO_FEW}
        until = "" if self.until is None else when(self.until, now)
        return {
            **self.saved.to_json(),
            "until": self.until,
            "text": saved_text(self.saved, until),
        }


def message(error: Exception) -> str:
    """Return the message of an error, with its type if it was unexpected."""
    kind = "" if isinstance(error, DriftanchorError) else f"{type(error).__name__}: "
    return excerpt(f"{kind}{error}")


def estimate_savings(reading: CampaignReader) -> Savings | None:
    """Estimate what the logs saved; return `None` without logs or decisions."""
    current = reading.current
    terms, settings = current.terms, current.settings
    if not (terms.offline.n > 0).any():
        return None
    alarms = alarms_of(reading.reader.watch())
    until = min(map(_start, alarms)) // HISTORY_SECONDS * HISTORY_SECONDS if alarms else None
    decisions, outlook = _before(reading, until)
    if not decisions.any():
        return None
    made = current.counters.decisions
    if float(current.state.pulls.sum()) < MIN_REWARDS:
        return Savings(made)
    shares = [settings.floor_of(label) for label in terms.arms]
    floors = np.where(current.state.playable, shares, 0.0)[: decisions.size]
    noise, limits = terms.policy.noise, terms.reward_range
    played = Played(outlook.means, outlook.sds, decisions, floors, noise, limits)
    return Savings(made, saved(played, terms.seed), until)


def _before(reading: CampaignReader, until: float | None) -> tuple[Floats, Outlook]:
    """Return each arm's number of decisions before a time, and the outlook at that time."""
    current = reading.current
    state = current.state
    counts = np.array([current.decisions, state.tally.pulls, state.tally.totals], np.float64)
    for row in [] if until is None else reading.reader.history(until):
        counts[:, row.column] -= (row.decisions, row.rewards, row.total)
    counts[:2] = counts[:2].clip(0.0)
    terms = current.terms if until is None else reading.first
    playable = state.playable if until is None else np.ones(len(terms.arms), np.bool_)
    matured = reading.reader.matured(until) if current.settings.is_delayed else None
    live = live_of(matured, counts.shape[1])
    pulls, totals = (counts[1].astype(np.int64), counts[2]) if live is None else live
    return counts[0][: len(terms.arms)], outlook_at(terms, pulls, totals, playable)


def _start(alarm: Alarm) -> float:
    return datetime.fromisoformat(alarm.since.time).timestamp()
