"""Bridge: passes campaign requests from the event loop to threads that write in groups.

A thread takes all queued requests for a campaign and submits them at once, so that many requests
share one transaction. While it writes, the next group queues up. A request is answered once it is
on disk.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import Any

from driftanchor.errors import StoreUnavailable
from driftanchor.live.campaigns.batch import Request
from driftanchor.live.campaigns.campaign import Campaign
from driftanchor.live.campaigns.write_queue import MAX_BATCH, Overloaded
from driftanchor.serve.metrics import Metrics

LANES = 8  # threads that write: campaigns share them in turn
MOST_WAITING = 20_000  # requests; beyond that there is no use in waiting
STEP, STEPS = 1e-3, 8  # seconds to wait for others at most, and how often as long as they come
Job = tuple[Campaign, Request, "asyncio.Future[Any]"]


class Bridge:
    """Takes requests from one event loop.

    Args:
        metrics: Counts what is written together, and what fails.

    Attributes:
        waiting: How many requests wait for their answer.
    """

    def __init__(self, metrics: Metrics) -> None:
        self.waiting = 0
        self._metrics = metrics
        self._lanes: list[_Lane] = []
        self._lane_of: dict[str, _Lane] = {}

    def do(self, campaign: Campaign, request: Request) -> asyncio.Future[Any]:
        """Do one request; to wait for is its answer, once it is on disk, or what it raised.

        Raises:
            Overloaded: Too much waits for the store.
        """
        if self.waiting >= MOST_WAITING:
            raise Overloaded(f"{self.waiting:,} requests wait for the store: try again later")
        future = asyncio.get_running_loop().create_future()
        self._lane(campaign.name).add((campaign, request, future))
        self.waiting += 1
        return future

    def close(self) -> None:
        """Finish what waits, and end the threads."""
        for lane in self._lanes:
            lane.jobs.put(None)
        for lane in self._lanes:
            lane.thread.join()
        self._lanes, self._lane_of = [], {}

    def _lane(self, name: str) -> _Lane:
        lane = self._lane_of.get(name)
        if lane is None:
            if len(self._lanes) < LANES:
                loop = asyncio.get_running_loop()
                self._lanes.append(_Lane(loop, self._settle, self._metrics))
            lane = self._lanes[len(self._lane_of) % LANES]
            self._lane_of[name] = lane
        return lane

    def _settle(self, group: list[Job], outcomes: list[Any]) -> None:
        """Give each its answer, unless whoever asked has gone."""
        self.waiting -= len(group)
        for (_, _, future), outcome in zip(group, outcomes, strict=True):
            if future.done():
                continue
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)


class _Lane:
    """A thread that writes the jobs in its queue.

    Args:
        loop: The event loop that waits for the results.
        settle: Called in the event loop with jobs and their outcomes.
        metrics: The metrics to update.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        settle: Callable[[list[Job], list[Any]], None],
        metrics: Metrics,
    ) -> None:
        self.loop, self.settle, self.metrics = loop, settle, metrics
        self._most = 1  # size of recent groups
        self._are_back = threading.Event()  # set when that many are queued again
        self.jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self.thread = threading.Thread(target=self._run, name="driftanchor-write", daemon=True)
        self.thread.start()

    def add(self, job: Job) -> None:
        """Queue a job."""
        self.jobs.put(job)
        if self.jobs.qsize() == self._most - 1:  # the thread already took one
            self._are_back.set()

    def _run(self) -> None:
        while self._write(self._taken()):
            pass

    def _taken(self) -> list[Job | None]:
        """Wait for a job; return all queued jobs that fit one transaction.

        After a large group, its clients are about to send their next requests. Waiting briefly for
        them makes groups larger, and leaves the CPU to the event loop meanwhile.
        """
        jobs = [self.jobs.get()]
        if self._most > 1:
            self._gather()
        try:
            while len(jobs) < MAX_BATCH:
                jobs.append(self.jobs.get_nowait())
        except queue.Empty:
            pass
        self._most = max(len(jobs), self._most * 7 // 8)
        return jobs

    def _gather(self) -> None:
        """Wait briefly for more jobs, up to the size of recent groups."""
        self._are_back.clear()
        for _ in range(STEPS):
            before = self.jobs.qsize()
            if before >= self._most - 1 or self._are_back.wait(STEP):
                return
            if self.jobs.qsize() == before:
                return

    def _write(self, jobs: list[Job | None]) -> bool:
        """Write jobs, grouped by campaign; return whether to continue."""
        groups: dict[Campaign, list[Job]] = {}
        gone: list[Job] = []  # already answered, because the deadline passed
        for job in jobs:
            if job is not None:
                (gone if job[2].cancelled() else groups.setdefault(job[0], [])).append(job)
        if gone:
            self.loop.call_soon_threadsafe(self.settle, gone, [None] * len(gone))
        for campaign, group in groups.items():
            self.metrics.groups.observe(len(group))
            try:
                outcomes = campaign.submit([request for _, request, _ in group])
            except Exception as error:
                if isinstance(error, StoreUnavailable):
                    self.metrics.failures.inc()
                outcomes = [error] * len(group)
            self.loop.call_soon_threadsafe(self.settle, group, outcomes)
        return None not in jobs
