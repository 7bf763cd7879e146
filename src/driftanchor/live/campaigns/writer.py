"""Writer: executes requests for one campaign, many in one transaction."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

from driftanchor.core import check
from driftanchor.errors import StoreUnavailable
from driftanchor.live.campaigns.arm_requests import SweepAndCheck
from driftanchor.live.campaigns.batch import Batch, Needs, Request, outcome
from driftanchor.live.campaigns.campaign_state import CampaignState
from driftanchor.live.campaigns.maturing import (
    CohortCounts,
    count_as_they_come,
    counts_for,
    mature,
    warm,
)
from driftanchor.live.campaigns.settings import Settings
from driftanchor.live.campaigns.telling import Tell, needs_of, settle_if_due, tell_all
from driftanchor.live.campaigns.watching import advance
from driftanchor.live.stores.rows import CampaignRow, DecisionRow
from driftanchor.live.stores.store import Changes, Reader, Store
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
        """Execute requests in one transaction, in order: at least one, and all that time allows.

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
            batch = Batch(self.row.name, current, check.clock_time(self.clock))
            due = reader.due(batch.now, MAX_SWEPT) if current.windowed else []
            self._counts = counts_for(current, self._counts)
            if self._counts is None:
                count_as_they_come(batch, reader)
            else:
                mature(batch, reader, self._counts, due)
            _sweep(batch, due)
            batch.read(reader, _needs(requests))
            outcomes[:] = _outcomes(batch, requests)
            if batch.is_long_ago() or any(type(x) is SweepAndCheck for x in requests):
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
                current = load(reader, self.terms, self.settings)
                self._counts = counts_for(current, None)
                if self._counts is not None:
                    warm(reader, self._counts, check.clock_time(self.clock))

    def _caught_up(self, reader: Reader) -> CampaignState:
        """Return the state, brought up to date with the store."""
        current, self._current = self._current, None  # invalid if this transaction fails
        counters = reader.counters
        if current is None or not 0 <= counters.seq - current.counters.seq <= MAX_EVENTS:
            return load(reader, self.terms, self.settings)
        if counters.seq > current.counters.seq:
            current.apply(*reader.entries(current.counters.seq))
            if counters.decisions != current.counters.decisions:
                return load(reader, self.terms, self.settings)
            current.traffic.take_over(reader.expected())
            current.counters.snapshot = counters.snapshot
        return current


def load(reader: Reader, terms: Terms, settings: Settings) -> CampaignState:
    """Load the state of a campaign from its stored sums."""
    changes = reader.changes()
    known = settings.is_delayed or any(entry.kind == "changed" for entry in changes)
    matured = reader.matured() if known else None
    counters, arms = reader.counters, reader.arms()
    return CampaignState.load(terms, settings, counters, arms, reader.expected(), changes, matured)


def _sweep(batch: Batch, due: list[DecisionRow]) -> None:
    """Settle decisions whose window is over, in the same transaction."""
    batch.know(due)
    for row in due:
        settle_if_due(batch, batch.found[row.id])


def _needs(requests: Sequence[Request]) -> list[Needs]:
    """Return the rows that some requests need."""
    if _are_rewards(requests):
        return [needs_of(requests)]
    return [request.needs for request in requests]


def _outcomes(batch: Batch, requests: Sequence[Request]) -> list[Any]:
    """Return the answer to each request, or its exception; stop at the time limit."""
    if _are_rewards(requests):
        return tell_all(batch, requests)
    until = time.monotonic() + MAX_SECONDS
    outcomes = []
    for request in requests:
        outcomes.append(outcome(batch, request))
        if time.monotonic() >= until:
            break
    return outcomes


def _are_rewards(requests: Sequence[Request]) -> TypeGuard[Sequence[Tell]]:
    """Whether all requests are rewards; these are recorded together."""
    return all([type(request) is Tell for request in requests])
