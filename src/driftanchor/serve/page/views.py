"""Views: the page's data, cached until the campaign changes."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from driftanchor.core import check
from driftanchor.live.campaigns.campaign import Campaign
from driftanchor.live.campaigns.handle import CampaignReader
from driftanchor.live.campaigns.stopping import Outlook
from driftanchor.live.stores.store import Store
from driftanchor.serve.etag import tag_of
from driftanchor.serve.page.believed import plain
from driftanchor.serve.page.campaign_view import campaign_view
from driftanchor.serve.page.overview import Overview
from driftanchor.serve.page.saved_view import Failed, SavedView, said, saved_view
from driftanchor.serve.page.timeline import SPANS, timeline

FRESH = 1.0  # seconds for which a view is shown as it is, however much happens
KEPT = 4_000  # beliefs that are kept
GREW = 1.05  # what the logs saved is estimated again after as many more decisions


class SentView(NamedTuple):
    """A view as it is sent, and a tag that changes when it does."""

    body: bytes
    tag: str


class _Kept(NamedTuple):
    place: tuple[int, int]
    at: float
    answer: SentView
    is_whole: bool  # whether all of it was known


class Views:
    """Cached views of the campaigns in a store. Thread-safe.

    Args:
        store: The store.
        campaign: Opens a campaign by its name.
        clock: Returns the time, in seconds since 1970.
        extra: Data added to every view, such as a demo flag.
        failed: Called with the name of a campaign and the error if an estimate fails.
    """

    def __init__(
        self,
        store: Store,
        campaign: Callable[[str], Campaign],
        clock: Callable[[], float] = time.time,
        extra: dict[str, Any] | None = None,
        failed: Callable[[str, Exception], None] = lambda name, error: None,
    ) -> None:
        self._campaign, self._clock, self._failed = campaign, clock, failed
        self._store = store
        self._extra = extra or {}
        self._overview = Overview(store, campaign, clock, failed=failed)
        self._lock = threading.Lock()
        self._all: tuple[dict[str, Any], SentView] | None = None
        self._kept: dict[tuple[str, ...], _Kept] = {}
        self._beliefs: dict[Any, Outlook] = {}
        self._saved: dict[str, SavedView | Failed] = {}
        self._estimating: set[str] = set()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="page")

    def overview(self) -> SentView:
        """All campaigns."""
        with self._lock:
            found = self._overview.read()
            if self._all is None or self._all[0] is not found:
                self._all = (found, sent_view({**found, **self._extra}))
            return self._all[1]

    def campaign(self, name: str, *, shared: bool = False) -> SentView:
        """Return the current view of a campaign, without its latest decisions if shared."""

        def view(reading: CampaignReader) -> dict[str, Any]:
            return campaign_view(reading, self._clock(), self._saved_by(reading))

        found = self._view((name,), self._campaign(name), view)
        if not shared:
            return found
        return sent_view({**json.loads(found.body), "recent": [], "shared": True})

    def history(self, name: str, span: str) -> SentView:
        """Return the view of a campaign over time."""
        check.choice(span, "span", list(SPANS))

        def view(reading: CampaignReader) -> dict[str, Any]:
            if len(self._beliefs) > KEPT:
                self._beliefs = {}
            found: dict[str, Any] = plain(timeline(reading, span, self._clock(), self._beliefs))
            return found

        return self._view((name, span), self._campaign(name), view)

    def close(self) -> None:
        """Stop the estimating thread."""
        self._thread.shutdown(wait=True, cancel_futures=True)

    def _view(
        self,
        key: tuple[str, ...],
        campaign: Campaign,
        view: Callable[[CampaignReader], dict[str, Any]],
    ) -> SentView:
        """Return a view, recomputed if the campaign has new events, at a limited rate."""
        kept, now = self._kept.get(key), time.monotonic()
        if kept is not None and now - kept.at < FRESH:
            return kept.answer
        with campaign.at_one_moment() as reading:
            place = (self._store.generation(), reading.current.counters.seq)
            if kept is not None and kept.place == place and not self._is_new(key, kept):
                return kept.answer
            data = view(reading)
        is_whole = data.get("complete", True) and data.get("saved", True) is not None
        self._kept[key] = _Kept(place, now, sent_view({**data, **self._extra}), is_whole)
        return self._kept[key].answer

    def _is_new(self, key: tuple[str, ...], kept: _Kept) -> bool:
        """Return whether a cached view is out of date."""
        is_history = len(key) > 1
        return not kept.is_whole and (is_history or key[0] in self._saved)

    def _saved_by(self, reading: CampaignReader) -> SavedView | Failed | None:
        """Return the last estimate of what the logs saved; update it in the background."""
        name, decisions = reading.row.name, reading.current.counters.decisions
        last = self._saved.get(name)
        too_early = isinstance(last, SavedView) and last.saved is None
        stale = last is None or too_early or decisions > GREW * last.of
        if stale and name not in self._estimating:
            self._estimating.add(name)
            self._thread.submit(self._estimate, name)
        return last

    def _estimate(self, name: str) -> None:
        decisions = 0
        try:
            with self._campaign(name).at_one_moment() as reading:
                decisions = reading.current.counters.decisions
                found = saved_view(reading)
            if found is not None:
                self._saved[name] = found
        except Exception as error:
            self._saved[name] = Failed(said(error), decisions)
            self._failed(name, error)
        finally:
            self._estimating.discard(name)


def sent_view(view: dict[str, Any]) -> SentView:
    """A view as JSON, and its tag."""
    body = json.dumps(view, allow_nan=False, separators=(",", ":")).encode()
    return SentView(body, tag_of(body))
