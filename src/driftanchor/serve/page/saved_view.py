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
from driftanchor.live.campaigns.campaign_state import live_of
from driftanchor.live.campaigns.handle import CampaignReader
from driftanchor.live.campaigns.past import STRETCH
from driftanchor.live.campaigns.saved import Played, Saved, saved
from driftanchor.live.campaigns.stopping import Outlook
from driftanchor.live.campaigns.watching import alarms_of
from driftanchor.live.watch.alarm import Alarm
from driftanchor.render.numbers import count, rounded
from driftanchor.serve.page.sentence import when
from driftanchor.serve.page.timeline import outlook_at

ENOUGH = 100  # live rewards before anything is estimated
TOO_FEW = (
    f"The saving from the logs is estimated after {ENOUGH} live rewards; with fewer, it would "
    "be little more than a guess."
)


@dataclass(frozen=True)
class SavedView:
    """An estimate of what the logs saved.

    Attributes:
        saved: The estimate; None if there are too few rewards.
        until: The end of the period it covers, if there was an alarm.
        of: The campaign's number of decisions when the estimate was made.
    """

    saved: Saved | None
    until: float | None
    of: int

    def to_json(self, now: float) -> dict[str, Any]:
        """Return the JSON for the page."""
        if self.saved is None:
            return {"mean": None, "text": TOO_FEW}
        return {
            **self.saved.to_json(),
            "until": self.until,
            "text": saved_text(self.saved, "" if self.until is None else when(self.until, now)),
        }


@dataclass(frozen=True)
class Failed:
    """An estimate that failed.

    Attributes:
        error: The message.
        of: The campaign's number of decisions at that time.
    """

    error: str
    of: int

    def to_json(self, now: float) -> dict[str, Any]:
        """Return the JSON for the page."""
        return {"error": self.error, "text": f"The estimate failed: {self.error}"}


def said(error: Exception) -> str:
    """Return the message of an error, with its type if it was unexpected."""
    kind = "" if isinstance(error, DriftanchorError) else f"{type(error).__name__}: "
    return excerpt(f"{kind}{error}")


def saved_view(reading: CampaignReader) -> SavedView | None:
    """Estimate what the logs saved; return `None` without logs or decisions."""
    current = reading.current
    terms, settings = current.terms, current.settings
    if not (terms.offline.n > 0).any():
        return None
    alarms = alarms_of(reading.reader.watch())
    until = min(map(_time, alarms)) // STRETCH * STRETCH if alarms else None
    decisions, known = _up_to(reading, until)
    if not decisions.any():
        return None
    if float(current.state.pulls.sum()) < ENOUGH:
        return SavedView(None, None, current.counters.decisions)
    shares = [settings.floor_of(label) for label in terms.arms]
    floors = np.where(current.state.playable, shares, 0.0)[: decisions.size]
    played = Played(
        known.means, known.sds, decisions, floors, terms.policy.noise, terms.reward_range
    )
    return SavedView(saved(played, terms.seed), until, current.counters.decisions)


def _up_to(reading: CampaignReader, until: float | None) -> tuple[Floats, Outlook]:
    """Return each arm's number of decisions before a time, and the beliefs at that time."""
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
    known = outlook_at(terms, pulls, totals, playable)
    return counts[0][: len(terms.arms)], known


def _time(alarm: Alarm) -> float:
    return datetime.fromisoformat(alarm.since.time).timestamp()


def saved_text(gained: Saved, until: str = "") -> str:
    """Describe what the logs saved, and how certain that is.

    Example:
        >>> print(saved_text(Saved(40.2, 21.0, 60.5, 50.0, 9.8, 1000)))  # doctest: +ELLIPSIS
        The logs saved about 40.2 rewards (21.0 to 60.5) over 1,000 decisions: a start without ...
    """
    low, high, mean = gained.low, gained.high, gained.mean
    verdict = "The logs saved about"
    if high < 0:
        verdict, low, high, mean = "The logs cost about", -high, -low, -mean
    elif low <= 0:
        yet = "" if until else " yet"
        verdict = f"It is not clear{yet} whether the logs saved anything: about"
    if until:
        verdict = f"Before the arms moved, until {until}: {verdict[0].lower()}{verdict[1:]}"
    return (
        f"{verdict} {rounded(mean)} rewards ({rounded(low)} to {rounded(high)}) over "
        f"{count(gained.decisions, 'decision')}: a start without them would have lost about "
        f"{rounded(gained.cold)}, and {rounded(gained.lost)} were lost. This is an estimate: "
        "nobody knows what would have happened."
    )
