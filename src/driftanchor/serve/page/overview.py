"""The overview: every campaign in one sentence, alarms first.

One query returns the counters of each campaign. Only campaigns with new events are read again, and
as many as fit the time budget of one request; the others are shown slightly out of date.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from driftanchor.errors import NotFound
from driftanchor.live.campaigns.campaign import Campaign
from driftanchor.live.campaigns.handle import CampaignReader
from driftanchor.live.campaigns.past import STRETCH
from driftanchor.live.campaigns.reward_feed import feed_problems
from driftanchor.live.campaigns.status import Status
from driftanchor.live.campaigns.watching import alarms_of
from driftanchor.live.stores.store import Store
from driftanchor.serve.page.believed import plain
from driftanchor.serve.page.saved_view import said
from driftanchor.serve.page.sentence import sentence
from driftanchor.serve.page.timeline import Stretches, shown_columns

BUDGET = 0.15  # seconds of one request that may be spent on looking again
SPARK = 48  # stretches of a sparkline
SPARK_ARMS = 4  # that a sparkline shows by themselves


class Overview:
    """A cached overview of all campaigns in a store. Thread-safe.

    Args:
        store: The store.
        campaign: Opens a campaign by its name.
        clock: Returns the time, in seconds since 1970.
        budget: Seconds that one call may spend on reading campaigns.
        failed: Called with the name and the error of a campaign that cannot be shown.
    """

    def __init__(
        self,
        store: Store,
        campaign: Callable[[str], Campaign],
        clock: Callable[[], float],
        budget: float = BUDGET,
        failed: Callable[[str, Exception], None] = lambda name, error: None,
    ) -> None:
        self._store, self._campaign, self._clock = store, campaign, clock
        self._budget, self._failed = budget, failed
        self._known: dict[str, tuple[tuple[int, int], dict[str, Any]]] = {}
        self._last: dict[str, Any] | None = None  # the cached answer
        self._turn = 0  # where the next call continues, so that no campaign starves

    def read(self) -> dict[str, Any]:
        """Return all campaigns, those with an alarm first, then by name.

        Returns the same object as before if nothing has changed.
        """
        counters, generation = self._store.counters(), self._store.generation()
        places = {name: (generation, each.seq) for name, each in counters.items()}
        known = {name: x for name, x in self._known.items() if name in places}
        stale = [x for x in places if x not in known or known[x][0] != places[x]]
        if self._last is not None and not stale and known.keys() == self._known.keys():
            return self._last
        new = [name for name in stale if name not in known]
        turn = self._turn % len(stale) if stale else 0
        until = time.monotonic() + self._budget
        for name in dict.fromkeys([*new, *stale[turn:], *stale[:turn]]):
            known[name] = (places[name], self._item(name))
            self._turn += 1
            if time.monotonic() > until:
                break
        self._known = known
        items = [item for _, item in known.values() if item]
        items.sort(key=lambda item: (not item["alarmed"], item["name"]))
        self._last = {
            "campaigns": items,
            "alarmed": sum(item["alarmed"] for item in items),
            "unread": len(places.keys() - known.keys()),  # the next calls read them
        }
        return self._last

    def _item(self, name: str) -> dict[str, Any]:
        """Return the entry of one campaign; an unreadable one must not hide the others."""
        try:
            with self._campaign(name).at_one_moment() as reading:
                found: dict[str, Any] = plain(summary(reading, self._clock()))
            return found
        except NotFound:
            return {}  # deleted meanwhile
        except Exception as error:
            self._failed(name, error)
            text = said(error)
            return {"name": name, "alarmed": True, "error": text, "sentence": text}


def summary(reading: CampaignReader, now: float) -> dict[str, Any]:
    """Return the overview entry of a campaign."""
    current = reading.current
    name, reader = reading.row.name, reading.reader
    problems = feed_problems(name, current, reader, now)
    status = Status.of(name, current, alarms_of(reader.watch()), problems=problems)
    ranked = status.outlook.can_rank
    return {
        "name": status.name,
        "sentence": sentence(status, now),
        "alarmed": status.is_alarmed,
        "paused": status.paused,
        "leader": current.terms.arms[status.outlook.leader] if ranked else None,
        "p_best": float(status.outlook.p_best[status.outlook.leader]) if ranked else None,
        "loss": status.outlook.loss if ranked else None,
        "arms": len(status.arms),
        "decisions": status.decisions,
        "rewards": status.rewards,
        "pending": status.pending,
        "spark": _spark(reading, now),
        "now": now,
    }


def _spark(reading: CampaignReader, now: float) -> dict[str, Any]:
    """The shares of the last stretches, for a picture of the size of a word."""
    current = reading.current
    rows = reading.reader.history(now - SPARK * STRETCH)
    past = Stretches.of(rows, len(current.terms.arms), STRETCH)
    columns = shown_columns(current.decisions, SPARK_ARMS)
    played = past.decisions.sum(axis=1)
    shares = past.decisions[:, columns] / played.clip(1)[:, None]
    kept = played > 0
    return {
        "labels": [current.terms.arms[column] for column in columns.tolist()],
        "columns": columns.tolist(),
        "shares": shares[kept].T.round(4).tolist(),
    }
