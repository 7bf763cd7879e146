"""Group commit: writes the requests of many threads for one campaign in groups.

The first thread to arrive becomes the leader: it writes all queued requests in one transaction and
then hands over to the next thread. So under load many requests share one disk write, no thread runs
while there are no requests, and a request is answered only after it is on disk.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeGuard

from driftanchor.core import check
from driftanchor.errors import StoreUnavailable
from driftanchor.live.campaigns.arm_requests import SweepAndCheck
from driftanchor.live.campaigns.batch import Batch, Needs, Spoiled, outcome
from driftanchor.live.campaigns.campaign_state import CampaignState
from driftanchor.live.campaigns.maturing import (
    CohortCounts,
    count_as_they_come,
    counts_for,
    mature,
    warm,
)
from driftanchor.live.campaigns.same_campaign import SameCampaign
from driftanchor.live.campaigns.settings import Settings
from driftanchor.live.campaigns.telling import Tell, needs_of, settle_if_due, tell_all
from driftanchor.live.campaigns.watching import advance
from driftanchor.live.stores.rows import CampaignRow, DecisionRow
from driftanchor.live.stores.store import Changes, Reader, Store
from driftanchor.live.terms import Terms

MOST_REQUESTS = 500  # in one transaction
LONGEST = 2.0  # seconds after which a transaction ends, so that other campaigns can write
MOST_SWEPT = 500  # decisions whose window has ended, in one transaction
MOST_EVENTS = 1_000  # to catch up with; beyond that it is quicker to load the sums


class Request(Protocol):
    """A request in a batch: it returns its answer, or raises without changing anything."""

    @property
    def needs(self) -> Needs:
        """The rows to read before the request runs."""

    def __call__(self, batch: Batch) -> Any:
        """Execute the request."""


class _Job:
    """The requests of one thread, with an answer or exception for each."""

    def __init__(self, requests: Sequence[Request]) -> None:
        self.requests = requests
        self.outcomes: list[Any] = []
        # Set when the job is done or its thread becomes the leader; `None` if it need not wait.
        self.turn: threading.Event | None = None
        self.done = False
        self.taken: list[_Job] = []  # the jobs that its thread writes

    @property
    def left(self) -> Sequence[Request]:
        """The requests not yet written."""
        done = len(self.outcomes)
        return self.requests[done:] if done else self.requests


class GroupCommit:
    """Accepts requests for one campaign from any thread.

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
        self._generation = -1
        self.same = SameCampaign(store, row)
        self._start()

    def _start(self) -> None:
        self._process = os.getpid()
        self._mutex = threading.Lock()
        self._waiting: list[_Job] = []
        self._leader: _Job | None = None  # its thread is writing, or writes next

    def submit(self, requests: Sequence[Request]) -> list[Any]:
        """Execute requests; return an answer or exception for each once all are on disk.

        Raises:
            StoreUnavailable: The store cannot be written; nothing was done.
        """
        if self._process != os.getpid():  # forked: the threads that held our locks are gone
            self._start()
        job = _Job(requests)
        try:
            try:
                self._take_part(job)
            finally:
                self._leave(job)
        except BaseException:  # the thread may have been interrupted in `_leave`
            self._leave(job)
            raise
        if job.outcomes and isinstance(job.outcomes[0], StoreUnavailable):
            raise job.outcomes[0]
        return job.outcomes

    def _take_part(self, job: _Job) -> None:
        """Wait until a job is done, or become the leader and write all queued jobs."""
        with self._mutex:
            if self._leader is None:  # so the queue is empty
                self._leader, job.taken = job, [job]
            else:
                job.turn = threading.Event()
                self._waiting.append(job)
        if job.turn is None:
            self._write_all(job.taken)
            return
        job.turn.wait()
        if job.done:
            return
        with self._mutex:
            count = size = 0
            while count < len(self._waiting) and (not count or size < MOST_REQUESTS):
                size += len(self._waiting[count].requests)
                count += 1
            job.taken, self._waiting = self._waiting[:count], self._waiting[count:]
        self._write_all(job.taken)

    def _leave(self, job: _Job) -> None:
        """Release all threads that wait for this job, even after an interrupt. Idempotent."""
        for other in job.taken:
            if not other.done:  # only if this thread was interrupted
                error = StoreUnavailable("the writing thread was interrupted: try again")
                other.outcomes, other.done = [error], True
            if other.turn is not None:
                other.turn.set()
        with self._mutex:
            if job in self._waiting:
                self._waiting.remove(job)
            if self._leader is job:
                self._leader = self._waiting[0] if self._waiting else None
            if self._leader is not None and self._leader.turn is not None:
                self._leader.turn.set()

    def _write_all(self, jobs: list[_Job]) -> None:
        """Write the jobs together; if one makes the transaction fail, write each separately."""
        try:
            self._write(jobs)
        except StoreUnavailable as error:
            for job in jobs:
                job.outcomes += [error] * len(job.left)
                job.done = True
        except Exception as error:
            if len(jobs) == 1 and len(jobs[0].requests) == 1:
                cause = error.__cause__ if isinstance(error, Spoiled) else error
                jobs[0].outcomes, jobs[0].done = [cause], True
                return
            for job in jobs:
                alone = [_Job([request]) for request in job.left]
                for single in alone:
                    self._write_all([single])
                job.outcomes += [x for single in alone for x in single.outcomes]
                job.done = True

    def _write(self, jobs: list[_Job]) -> None:
        """Write jobs in one transaction, or in several if the policy is slow."""
        while left := [job for job in jobs if job.left]:
            self._write_once(left)
        for job in jobs:
            job.done = True

    def _write_once(self, jobs: list[_Job]) -> None:
        """Write at least one request, and as many as fit the time limit of a transaction."""
        after: list[CampaignState] = []
        self._warm()
        outcomes: list[list[Any]] = []

        def work(reader: Reader) -> Changes | None:
            current = self._caught_up(reader)
            batch = Batch(self.row.name, current, check.clock_time(self.clock))
            due = reader.due(batch.now, MOST_SWEPT) if current.windowed else []
            self._counts = counts_for(current, self._counts)
            if self._counts is None:
                count_as_they_come(batch, reader)
            else:
                mature(batch, reader, self._counts, due)
            _sweep(batch, due)
            batch.read(reader, [x for job in jobs for x in _needs(job.left)])
            outcomes.clear()
            until = time.monotonic() + LONGEST
            for job in jobs:
                outcomes.append(_outcomes(batch, job.left, until))
                if time.monotonic() >= until:
                    break
            if batch.is_long_ago() or _wants_check(jobs):
                advance(batch, reader)
            after[:] = [current]
            return batch.changes()

        self.store.transact(self.row.id, work)
        self._current, self._generation = after[0], self.store.generation()
        if self._counts is not None:
            self._counts.committed()
        for job, found in zip(jobs, outcomes, strict=False):
            job.outcomes += found

    def _warm(self) -> None:
        """Count recent decisions for the next estimate, before the first transaction."""
        if self._generation != self.store.generation():  # the file of the store was replaced
            self._current = self._counts = None
        if self._current is None and self._counts is None and self.settings.is_delayed:
            with contextlib.suppress(StoreUnavailable), self.store.reading(self.row.id) as reader:
                current = load(reader, self.terms, self.settings)
                self._counts = counts_for(current, None)
                if self._counts is not None:
                    warm(reader, self._counts, check.clock_time(self.clock))

    def _caught_up(self, reader: Reader) -> CampaignState:
        """Return the state, brought up to date with the store."""
        current, self._current = self._current, None  # invalid if this transaction fails
        self.same.check(reader)
        counters = reader.counters
        if (
            current is None
            or self._generation != self.store.generation()
            or not 0 <= counters.seq - current.counters.seq <= MOST_EVENTS
        ):
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


def _wants_check(jobs: list[_Job]) -> bool:
    return any([isinstance(x, SweepAndCheck) for job in jobs for x in job.requests])


def _needs(requests: Sequence[Request]) -> list[Needs]:
    """Return the rows that some requests need."""
    if _are_rewards(requests):
        return [needs_of(requests)]
    return [request.needs for request in requests]


def _outcomes(batch: Batch, requests: Sequence[Request], until: float) -> list[Any]:
    """Return the answer to each request, or its exception; stop at the deadline.

    At least one request is executed. `until` is a `time.monotonic` time.
    """
    if _are_rewards(requests):
        return tell_all(batch, requests)
    outcomes = []
    for request in requests:
        outcomes.append(outcome(batch, request))
        if time.monotonic() >= until:
            break
    return outcomes


def _are_rewards(requests: Sequence[Request]) -> TypeGuard[Sequence[Tell]]:
    """Whether all requests are rewards; these are recorded together."""
    return all([type(request) is Tell for request in requests])
