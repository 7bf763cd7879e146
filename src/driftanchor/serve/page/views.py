"""The page's views as JSON, computed again only when their campaign has changed."""

from __future__ import annotations

import functools
import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from driftanchor.core import check
from driftanchor.errors import NotFound
from driftanchor.live.campaigns.campaign import Campaign, CampaignReader
from driftanchor.live.stores.store import Store
from driftanchor.serve.page.campaign_view import campaign_view, summary
from driftanchor.serve.page.savings import Savings, estimate_savings, message
from driftanchor.serve.page.timeline import SPANS, Outlooks, timeline
from driftanchor.serve.responses import tag_of

MIN_AGE = 1.0  # seconds before a view is computed again
BUDGET = 0.15  # seconds of one overview request for reading campaigns
MAX_OUTLOOKS = 1_000  # kept for each campaign
GROWTH = 1.05  # savings are estimated again after 5 % more decisions


class SentView(NamedTuple):
    """A view as it is sent, with its ETag."""

    body: bytes
    tag: str


@dataclass
class _View:
    seq: int  # the last event that it shows
    at: float  # monotonic time when it was computed
    data: dict[str, Any]
    savings: Savings | None = None  # the estimate that it shows

    @functools.cached_property
    def sent(self) -> SentView:
        return sent_view(self.data)


@dataclass
class _Cached:
    """One campaign's cached views, by kind or span, and the data they are computed from."""

    views: dict[str, _View] = field(default_factory=dict)
    outlooks: Outlooks = field(default_factory=dict)
    savings: Savings | None = None
    estimating: bool = False


class Views:
    """Cached views of the campaigns in a store. Thread-safe.

    Args:
        store: The store.
        campaign: Opens a campaign by its name.
        extra: Data added to every view, such as a demo flag.
        failed: Called with the name of a campaign and the error if it cannot be shown.
        budget: Seconds that one overview request may spend on reading campaigns.
    """

    def __init__(
        self,
        store: Store,
        campaign: Callable[[str], Campaign],
        extra: dict[str, Any] | None = None,
        failed: Callable[[str, Exception], None] = lambda name, error: None,
        budget: float = BUDGET,
    ) -> None:
        self._store, self._campaign, self._failed = store, campaign, failed
        self._extra, self._budget = extra or {}, budget
        self._cache: dict[str, _Cached] = {}
        self._overview: SentView | None = None
        self._lock = threading.Lock()  # one overview at a time
        self._estimator = ThreadPoolExecutor(1, thread_name_prefix="page")

    def overview(self) -> SentView:
        """Return all campaigns, those with an alarm first, then by name.

        One query returns the last event of each campaign. Only campaigns with new events are read
        again, and only until the budget is spent; the others are shown slightly out of date.
        """
        with self._lock:
            seqs = {name: counters.seq for name, counters in self._store.counters().items()}
            gone = [name for name in self._cache if name not in seqs]
            for name in gone:
                del self._cache[name]
            entries = {name: self._cached(name).views.get("summary") for name in seqs}
            stale = [name for name, x in entries.items() if x is None or x.seq != seqs[name]]
            if self._overview is not None and not stale and not gone:
                return self._overview
            stale.sort(key=lambda name: x.at if (x := entries[name]) else 0.0)  # the oldest first
            deadline = time.monotonic() + self._budget
            for name in stale:
                entries[name] = self._summary(name, seqs[name])
                if time.monotonic() > deadline:
                    break
            items = [x.data for x in entries.values() if x and x.data]
            items.sort(key=lambda item: (not item["alarmed"], item["name"]))
            self._overview = sent_view(
                {
                    "campaigns": items,
                    "alarmed": sum(item["alarmed"] for item in items),
                    "unread": sum(x is None for x in entries.values()),
                    **self._extra,
                }
            )
            return self._overview

    def campaign(self, name: str, *, shared: bool = False) -> SentView:
        """Return the current view of a campaign, without its latest decisions if shared."""

        def compute(reading: CampaignReader) -> dict[str, Any]:
            return campaign_view(reading, self._savings(reading))

        view = self._view(name, "campaign", compute)
        return sent_view({**view.data, "recent": [], "shared": True}) if shared else view.sent

    def history(self, name: str, span: str) -> SentView:
        """Return the view of a campaign over time."""
        check.choice(span, "span", list(SPANS))

        def compute(reading: CampaignReader) -> dict[str, Any]:
            outlooks = self._cached(name).outlooks
            if len(outlooks) > MAX_OUTLOOKS:
                outlooks.clear()
            return timeline(reading, span, outlooks)

        return self._view(name, span, compute).sent

    def close(self) -> None:
        """Stop the estimating thread."""
        self._estimator.shutdown(wait=True, cancel_futures=True)

    def _cached(self, name: str) -> _Cached:
        return self._cache.setdefault(name, _Cached())

    def _view(
        self, name: str, kind: str, compute: Callable[[CampaignReader], dict[str, Any]]
    ) -> _View:
        """Return a view of a campaign, computed again if there are new events."""
        campaign = self._campaign(name)
        cached, now = self._cached(name), time.monotonic()
        view = cached.views.get(kind)
        if view is not None and now - view.at < MIN_AGE:
            return view
        with campaign.at_one_moment() as reading:
            seq = reading.current.counters.seq
            current = view is not None and (view.seq, view.savings) == (seq, cached.savings)
            if view is not None and current and view.data.get("complete", True):
                return view
            savings = cached.savings
            data = {**compute(reading), **self._extra}
        cached.views[kind] = _View(seq, now, data, savings)
        return cached.views[kind]

    def _summary(self, name: str, seq: int) -> _View:
        """Read a campaign's entry in the overview; an unreadable campaign must not hide others."""
        try:
            with self._campaign(name).at_one_moment() as reading:
                data = summary(reading)
        except NotFound:
            data = {}  # deleted meanwhile
        except Exception as error:
            self._failed(name, error)
            text = message(error)
            data = {"name": name, "alarmed": True, "error": text, "sentence": text}
        view = self._cached(name).views["summary"] = _View(seq, time.monotonic(), data)
        return view

    def _savings(self, reading: CampaignReader) -> Savings | None:
        """Return the last estimate of what the logs saved; update it in the background."""
        name, decisions = reading.row.name, reading.current.counters.decisions
        cached = self._cached(name)
        last = cached.savings
        too_early = last is not None and last.saved is None and last.error is None
        stale = last is None or too_early or decisions > GROWTH * last.decisions
        if stale and not cached.estimating:
            cached.estimating = True
            self._estimator.submit(self._estimate, name, cached)
        return last

    def _estimate(self, name: str, cached: _Cached) -> None:
        decisions = 0
        try:
            with self._campaign(name).at_one_moment() as reading:
                decisions = reading.current.counters.decisions
                cached.savings = estimate_savings(reading) or cached.savings
        except Exception as error:
            cached.savings = Savings(decisions, error=message(error))
            self._failed(name, error)
        finally:
            cached.estimating = False


def sent_view(view: dict[str, Any]) -> SentView:
    """Serialize a view."""
    body = json.dumps(view, allow_nan=False, separators=(",", ":")).encode()
    return SentView(body, tag_of(body))
