"""WriteQueue: queues the requests for a campaign and writes all that wait in one transaction.

Callers only wait: a worker thread writes, so an interrupt in a caller never hits a transaction.
While one transaction is written, the next requests queue up, so that under load many requests share
one disk write. A few worker threads serve all campaigns of the process in turn; they end when
nothing is left to write.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any

from driftanchor.errors import StoreUnavailable
from driftanchor.live.campaigns.batch import Request, Spoiled

MAX_BATCH = 500  # requests in one transaction
MAX_WAITING = 20_000  # requests for one campaign
MAX_THREADS = 8
LINGER = 0.02  # seconds that a thread waits for work before it ends

OnBatch = Callable[[int, Exception | None], object]


class Overloaded(StoreUnavailable):
    """Too many requests wait for the store."""


class WriteQueue:
    """Queues requests for one campaign from any thread.

    Args:
        write: Writes requests in one transaction, and returns the outcomes (answers or exceptions)
            of the first ones: at least one.

    Attributes:
        on_batch: If set, called in the worker thread after each transaction, with the number of
            requests and the `StoreUnavailable` that it failed with, or `None`. It must not raise.
        gather: Seconds to pause after a batch of several requests. A server sets it, so that its
            clients can ask again and the next batch is larger.
    """

    def __init__(self, write: Callable[[Sequence[Request]], list[Any]]) -> None:
        self._write = write
        self.on_batch: OnBatch | None = None
        self.gather = 0.0

    @property
    def waiting(self) -> int:
        """The number of requests not yet answered."""
        return _writers.waiting(self)

    def enqueue(self, request: Request) -> Future[Any]:
        """Return a future: the answer after the commit, or the exception.

        Cancelling the future drops the request, unless its transaction has started.

        Raises:
            Overloaded: Too many requests wait.
        """
        future = Future[Any]()
        _writers.add(self, [(request, future)])
        return future

    def submit(self, requests: Sequence[Request]) -> list[Any]:
        """Execute requests; return an answer or exception for each once all are on disk.

        An interrupt while waiting leaves the requests alone: they may still be written.

        Raises:
            StoreUnavailable: The store cannot be written; nothing was done.
        """
        if not requests:
            return []
        group = _Group(len(requests))
        _writers.add(self, [(request, group) for request in requests])
        outcomes = group.wait()
        if isinstance(outcomes[0], StoreUnavailable):
            raise outcomes[0]
        return outcomes

    def finish(self) -> None:
        """Wait until nothing is left to write."""
        _writers.wait_for(self)

    def write(self, requests: Sequence[Request]) -> list[Any]:
        """Return the outcomes of the first requests; if the transaction fails, write each alone."""
        failure: Exception | None = None
        try:
            outcomes = self._write(requests)
        except StoreUnavailable as error:
            failure, outcomes = error, [error] * len(requests)
        except BaseException as error:  # a policy may raise anything
            if len(requests) > 1:
                return [outcome for request in requests for outcome in self.write([request])]
            return [error.__cause__ if isinstance(error, Spoiled) else error]
        if self.on_batch is not None:
            self.on_batch(len(outcomes), failure)
        return outcomes


class _Group:
    """Collects the outcomes of a `submit`, in order: cheaper than a future for each request.

    An interrupt at the wrong moment leaves the lock of a `Future` or `Event` taken, which would
    block the worker thread. That of a `SimpleQueue` cannot stay taken.
    """

    def __init__(self, size: int) -> None:
        self._size, self._outcomes = size, list[Any]()
        self._done = SimpleQueue[list[Any]]()

    def wait(self) -> list[Any]:
        """Return the outcomes once all are there."""
        return self._done.get()

    def set_result(self, outcome: Any) -> None:
        """Add the next outcome."""
        self._outcomes.append(outcome)
        if len(self._outcomes) == self._size:
            self._done.put(self._outcomes)

    set_exception = set_result


Job = tuple[Request, Future[Any] | _Group]


def _start(future: Future[Any] | _Group) -> bool:
    """Return whether to write a request; a cancelled one is dropped."""
    if isinstance(future, _Group) or future.running():
        return True
    return future.set_running_or_notify_cancel()


@dataclass(slots=True)
class _Waiting:
    """The requests for one campaign: those that wait, and how many a thread is writing."""

    jobs: deque[Job] = field(default_factory=deque)
    written: int = 0
    taken: bool = False


class _Writers:
    """The threads that write for all campaigns of this process, one transaction at a time each."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._work = threading.Condition(self._lock)
        self._done = threading.Condition(self._lock)
        self._queues: dict[WriteQueue, _Waiting] = {}  # those with work, in turn
        self._threads = 0
        self._idle = 0  # threads that wait for work

    def waiting(self, queue: WriteQueue) -> int:
        """Return the number of requests of a campaign that are not yet answered."""
        waiting = self._queues.get(queue)
        return 0 if waiting is None else len(waiting.jobs) + waiting.written

    def add(self, queue: WriteQueue, jobs: Sequence[Job]) -> None:
        """Add requests, and make sure that a thread will take them."""
        with self._lock:
            size = self.waiting(queue)
            if size >= MAX_WAITING:
                raise Overloaded(f"{size:,} requests wait for the store: try again later")
            if queue not in self._queues:
                self._start_thread()
            self._queues.setdefault(queue, _Waiting()).jobs.extend(jobs)
            self._work.notify()

    def wait_for(self, queue: WriteQueue) -> None:
        """Wait until a campaign has no requests left."""
        with self._lock:
            while queue in self._queues:
                self._done.wait()

    def _start_thread(self) -> None:
        """Start a thread, unless one is idle or there are enough."""
        ready = sum(not waiting.taken for waiting in self._queues.values())
        if self._idle > ready or self._threads >= MAX_THREADS:
            return
        self._threads += 1
        try:
            threading.Thread(target=self._run, name="driftanchor-write", daemon=False).start()
        except BaseException:
            self._threads -= 1
            raise

    def _run(self) -> None:
        """Write for one campaign after another until nothing is left."""
        while (queue := self._next()) is not None:
            jobs = self._take(queue)
            outcomes = queue.write([request for request, _ in jobs]) if jobs else []
            for (_, future), outcome in zip(jobs, outcomes, strict=False):
                if isinstance(outcome, BaseException):
                    future.set_exception(outcome)
                else:
                    future.set_result(outcome)
            if queue.gather and len(jobs) > 1:
                time.sleep(queue.gather)
            self._put_back(queue, jobs[len(outcomes) :])

    def _next(self) -> WriteQueue | None:
        """Return the campaign whose turn it is; `None` if there is none for a while."""
        with self._lock:
            queue = self._ready()
            if queue is None:
                self._idle += 1
                self._work.wait(LINGER)
                self._idle -= 1
                queue = self._ready()
            if queue is None:
                self._threads -= 1
            else:
                self._queues[queue].taken = True
            return queue

    def _ready(self) -> WriteQueue | None:
        """Return the first campaign for which no thread is writing."""
        return next((queue for queue, x in self._queues.items() if not x.taken), None)

    def _take(self, queue: WriteQueue) -> list[Job]:
        """Take the requests of one batch, without those that were cancelled."""
        with self._lock:
            waiting, jobs = self._queues[queue], list[Job]()
            while waiting.jobs and len(jobs) < MAX_BATCH:
                job = waiting.jobs.popleft()
                if _start(job[1]):
                    jobs.append(job)
            waiting.written = len(jobs)
            return jobs

    def _put_back(self, queue: WriteQueue, jobs: Sequence[Job]) -> None:
        """Put back requests that were not written, and give other campaigns their turn."""
        with self._lock:
            waiting = self._queues.pop(queue)
            waiting.jobs.extendleft(reversed(jobs))
            waiting.written, waiting.taken = 0, False
            if waiting.jobs:
                self._queues[queue] = waiting
            else:
                self._done.notify_all()


_writers = _Writers()


def _renew() -> None:
    """Start without threads and requests, which belong to the parent process."""
    global _writers
    _writers = _Writers()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
