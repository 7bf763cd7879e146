"""WriteQueue: queues the requests for a campaign and writes all that wait in one transaction.

Callers only wait: a worker thread writes, so an interrupt in a caller never hits a transaction.
While one transaction is written, the next requests queue up, so that under load many requests share
one disk write. A few worker threads serve all campaigns of the process in turn; they end when
nothing is left to write.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from driftanchor.errors import StoreUnavailable
from driftanchor.live.campaigns.batch import Request, Spoiled

MAX_BATCH = 500  # requests in one transaction, unless one caller submits more
MAX_WAITING = 20_000  # requests for one campaign
MAX_THREADS = 8
LINGER = 0.02  # seconds that a thread waits for work before it ends

OnBatch = Callable[[int, Exception | None], object]


class Overloaded(StoreUnavailable):
    """Too many requests wait for the store."""


@dataclass(eq=False, slots=True)
class _Job:
    """The requests of one call.

    Attributes:
        requests: The requests.
        future: Receives the list of outcomes, or the outcome if `single`.
        single: Whether the job has one request, whose outcome is the result of the future.
        outcomes: The outcomes so far.
    """

    requests: Sequence[Request]
    future: Future[Any] = field(default_factory=Future)
    single: bool = False
    outcomes: list[Any] = field(default_factory=list)

    def start(self) -> bool:
        """Return whether to write the job; a job that was cancelled before is dropped."""
        return self.future.running() or self.future.set_running_or_notify_cancel()

    def left(self) -> Sequence[Request]:
        """Return the requests not yet written."""
        done = len(self.outcomes)
        return self.requests[done:] if done else self.requests

    def finish(self) -> None:
        """Set the result of the future."""
        first = self.outcomes[0] if self.outcomes else None
        kinds = BaseException if self.single else StoreUnavailable
        if isinstance(first, kinds):
            self.future.set_exception(first)
        else:
            self.future.set_result(first if self.single else self.outcomes)


class WriteQueue:
    """Queues requests for one campaign from any thread.

    Args:
        write: Writes requests in one transaction, and returns the outcome (answer or exception) of
            the first or of more of them.

    Attributes:
        on_batch: If set, called in the worker thread after each transaction, with the number of
            requests and the `StoreUnavailable` that it failed with, or `None`. It must not raise.
    """

    def __init__(self, write: Callable[[Sequence[Request]], list[Any]]) -> None:
        self._write = write
        self.on_batch: OnBatch | None = None

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
        job = _Job((request,), single=True)
        _writers.add(self, job)
        return job.future

    def submit(self, requests: Sequence[Request]) -> list[Any]:
        """Execute requests; return an answer or exception for each once all are on disk.

        An interrupt while waiting leaves the requests alone: they may still be written.

        Raises:
            StoreUnavailable: The store cannot be written; nothing was done.
        """
        if not requests:
            return []
        job = _Job(requests)
        _writers.add(self, job)
        outcomes: list[Any] = job.future.result()
        return outcomes

    def finish(self) -> None:
        """Wait until everything queued so far is written."""
        if self.waiting:
            job = _Job(())
            _writers.add(self, job)
            job.future.result()

    def write(self, jobs: Sequence[_Job]) -> None:
        """Write jobs in one transaction, and add the outcomes to them; workers call this."""
        requests = [request for job in jobs for request in job.left()]
        outcomes = self._outcomes(requests) if requests else []
        for job in jobs:
            count = len(job.left())
            job.outcomes += outcomes[:count]
            outcomes = outcomes[count:]

    def _outcomes(self, requests: Sequence[Request]) -> list[Any]:
        """Write requests together; if one makes the transaction fail, write each separately."""
        try:
            outcomes = self._write(requests)
        except StoreUnavailable as error:
            self._notify(len(requests), error)
            return [error] * len(requests)
        except BaseException as error:  # a policy may raise anything
            if len(requests) > 1:
                return [x for request in requests for x in self._outcomes((request,))]
            return [error.__cause__ if isinstance(error, Spoiled) else error]
        self._notify(len(outcomes), None)
        return outcomes

    def _notify(self, size: int, error: StoreUnavailable | None) -> None:
        if self.on_batch is not None:
            self.on_batch(size, error)


@dataclass(slots=True)
class _Waiting:
    """The jobs of one campaign.

    Attributes:
        jobs: The jobs that no thread has taken yet.
        size: The number of requests not yet answered.
        taken: Whether a thread is writing for this campaign.
    """

    jobs: deque[_Job] = field(default_factory=deque)
    size: int = 0
    taken: bool = False


class _Writers:
    """The threads that write for all campaigns of this process, one transaction at a time each."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._work = threading.Condition(self._lock)
        self._queues: dict[WriteQueue, _Waiting] = {}  # those with work, in turn
        self._threads = 0
        self._idle = 0  # threads that wait for work

    def waiting(self, queue: WriteQueue) -> int:
        """Return the number of requests of a campaign that are not yet answered."""
        waiting = self._queues.get(queue)
        return 0 if waiting is None else waiting.size

    def add(self, queue: WriteQueue, job: _Job) -> None:
        """Add a job, and see that a thread will take it."""
        with self._lock:
            waiting = self._queues.get(queue)
            if waiting is None:
                self._start_thread()
                waiting = self._queues[queue] = _Waiting()
            if job.requests and waiting.size >= MAX_WAITING:
                raise Overloaded(f"{waiting.size:,} requests wait for the store: try again later")
            waiting.size += len(job.requests)
            waiting.jobs.append(job)
            if self._idle and not waiting.taken:
                self._work.notify()

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
        while (turn := self._next()) is not None:
            queue, waiting, jobs = turn
            queue.write(jobs)
            self._done(queue, waiting, jobs)

    def _next(self) -> tuple[WriteQueue, _Waiting, list[_Job]] | None:
        """Take jobs of the campaign whose turn it is; `None` if there are none for a while."""
        with self._lock:
            queue = self._ready()
            if queue is None:
                self._idle += 1
                self._work.wait(LINGER)
                self._idle -= 1
                queue = self._ready()
            if queue is None:
                self._threads -= 1
                return None
            waiting = self._queues[queue]
            waiting.taken = True
            jobs, size = list[_Job](), 0
            while waiting.jobs and size < MAX_BATCH:
                job = waiting.jobs.popleft()
                if job.start():
                    jobs.append(job)
                    size += len(job.left())
                else:
                    waiting.size -= len(job.requests)
            return queue, waiting, jobs

    def _ready(self) -> WriteQueue | None:
        for queue, waiting in self._queues.items():
            if not waiting.taken:
                return queue
        return None

    def _done(self, queue: WriteQueue, waiting: _Waiting, jobs: Sequence[_Job]) -> None:
        """Answer the finished jobs; put the campaign at the end of the line if it has more."""
        finished = [job for job in jobs if not job.left()]
        with self._lock:
            waiting.jobs.extendleft(job for job in reversed(jobs) if job.left())
            waiting.size -= sum(len(job.requests) for job in finished)
            del self._queues[queue]
            waiting.taken = False
            if waiting.jobs:
                self._queues[queue] = waiting
        for job in finished:
            job.finish()


_writers = _Writers()


def _renew() -> None:
    """Start without threads and requests, which belong to the parent process."""
    global _writers
    _writers = _Writers()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
