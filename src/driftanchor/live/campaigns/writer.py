"""Writer: executes requests for one campaign, many in one transaction."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any

from driftanchor.core import check
from driftanchor.errors import StoreUnavailable
from driftanchor.live.campaigns.batch import Batch, Request
from driftanchor.live.campaigns.campaign_state import CampaignState
from driftanchor.live.campaigns.change_requests import SweepAndCheck
from driftanchor.live.campaigns.maturing import (
    CohortCounts,
    count_as_they_come,
    counts_for,
    mature,
    warm,
)
from driftanchor.live.campaigns.requests import settle_if_due
from driftanchor.live.campaigns.settings import Settings
from driftanchor.live.campaigns.watching import advance
from driftanchor.live.stores.reader import Reader
from driftanchor.live.stores.rows import CampaignRow, Changes
from driftanchor.live.stores.store import Store
from driftanchor.live.terms import Terms

MAX_SECONDS = 2.0  # after which a transaction ends, so that other campaigns can write
MAX_SWEPT = 500  # decisions whose window has ended, in one transaction
MAX_EVENTS = 1_000  # to catch up with; beyond that it is quicker to load the sums


class Writer:
    """Writes to one campaign; only one thread at a time may call it.

    Args:
        store: Where the campaign is kept.
        row: The campaign.
        terms: The terms it started with.
        settings: The settings it started with.
        clock: Tells the time, in seconds since 1970.
    """

    def __init__(
        self,
        store: Store,
        row: CampaignRow,
        terms: Terms,
        settings: Settings,
        clock: Callable[[], float],
    ) -> None:
        self.store, self.row, self.terms, self.settings = store, row, terms, settings
        self.clock = clock
        self._current: CampaignState | None = None  # a cache; the store is authoritative
        self._counts: CohortCounts | None = None

    def write(self, requests: Sequence[Request]) -> list[Any]:
        """Execute requests in order in one transaction, until time is up; always at least one.

        Returns:
            The answer to each, or the exception that it raised.

        Raises:
            Exception: The transaction failed; nothing was written.
        """
        self._warm()
        outcomes: list[Any] = []
        after: list[CampaignState] = []

        def work(reader: Reader) -> Changes | None:
            current = self._caught_up(reader)
            batch = Batch(self.row.name, current, check.clock_time(self.clock), reader)
            due = reader.due(batch.now, MAX_SWEPT) if current.windowed else []
            self._counts = counts_for(current, self._counts)
            if self._counts is None:
                count_as_they_come(batch, reader)
            else:
                mature(batch, reader, self._counts, due)
            batch.know(due)
            for row in due:
                settle_if_due(batch, batch.decisions[row.id])
            batch.read(request.needs for request in requests)
            outcomes.clear()
            until = time.monotonic() + MAX_SECONDS
            for request in requests:
                outcomes.append(batch.execute(request))
                if time.monotonic() >= until:
                    break
            if batch.snapshot_due or any(isinstance(x, SweepAndCheck) for x in requests):
                advance(batch, reader)
            after[:] = [current]
            return batch.changes()

        self.store.transact(self.row.id, work)
        self._current = after[0]
        if self._counts is not None:
            self._counts.committed()
        return outcomes

    def _warm(self) -> None:
        """Count recent decisions for the next estimate, before the first transaction."""
        if self._current is None and self._counts is None and self.settings.is_delayed:
            with contextlib.suppress(StoreUnavailable), self.store.reading(self.row.id) as reader:
                current = CampaignState.load(reader, self.terms, self.settings)
                self._counts = counts_for(current, None)
                if self._counts is not None:
                    warm(reader, self._counts, check.clock_time(self.clock))

    def _caught_up(self, reader: Reader) -> CampaignState:
        """Return the state, brought up to date with the store."""
        current, self._current = self._current, None  # invalid if this transaction fails
        counters = reader.counters
        if current is None or not 0 <= counters.seq - current.counters.seq <= MAX_EVENTS:
            return CampaignState.load(reader, self.terms, self.settings)
        if counters.seq > current.counters.seq:
            current.catch_up(reader.entries(current.counters.seq))
            if counters.decisions != current.counters.decisions:
                return CampaignState.load(reader, self.terms, self.settings)
            current.traffic.load(reader.expected())
            current.counters.snapshot = counters.snapshot
        return current
