"""Bounded: work that must not keep its caller waiting, whatever it does."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

MOST_THREADS = 64
IDLE = 10.0  # seconds after which a thread without work ends


class _Job:
    def __init__(self, work: Callable[[], Any]) -> None:
        self.work = work
        self.done = threading.Event()
        self.value: Any = None
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.value = self.work()
        except BaseException as error:
            self.error = error


class Bounded:
    """Threads for work with a deadline.

    A look-up of a name, or a server that sends a byte now and then, can take any time, and no
    time-out of a socket ends it. So such work happens in another thread, and whoever waits for it
    leaves when the time is over. The threads end with the process.

    Args:
        most: How many threads there may be.

    Example:
        >>> Bounded().run(lambda: 6 * 7, seconds=5.0)
        42
    """

    def __init__(self, most: int = MOST_THREADS) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._count = 0
        self._idle: list[queue.SimpleQueue[_Job]] = []

    def run(self, work: Callable[[], Any], *, seconds: float, promised: float | None = None) -> Any:
        """What `work` returns, or raises.

        Args:
            work: What to do.
            seconds: How long to wait for it.
            promised: The seconds that the message names, if the caller knows another number.

        Raises:
            TimeoutError: It takes longer, or all threads are still busy. It may go on.
        """
        job = _Job(work)
        if not self._hand_over(job):
            raise TimeoutError(f"{self._most} requests before this one still wait")
        if not job.done.wait(seconds):
            raise TimeoutError(f"no answer within {seconds if promised is None else promised:g} s")
        if job.error is not None:
            raise job.error
        return job.value

    def _hand_over(self, job: _Job) -> bool:
        with self._lock:
            if self._idle:
                self._idle.pop().put(job)
                return True
            if self._count >= self._most:
                return False
            self._count += 1
        jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        jobs.put(job)
        threading.Thread(target=self._work, args=(jobs,), daemon=True).start()
        return True

    def _work(self, jobs: queue.SimpleQueue[_Job]) -> None:
        while True:
            try:
                job = jobs.get(timeout=IDLE)
            except queue.Empty:
                with self._lock:
                    if jobs in self._idle:  # else a job comes this moment
                        self._idle.remove(jobs)
                        self._count -= 1
                        return
                continue
            job.run()
            with self._lock:
                self._idle.append(jobs)
            job.done.set()
