"""Workers: several processes that answer on one socket, and the one that looks after them."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing import connection
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any

from driftanchor.errors import DriftanchorError
from driftanchor.serve import metrics
from driftanchor.serve.end_signals import end_signals
from driftanchor.serve.request_log import Log
from driftanchor.serve.served import ServeSettings

PAUSE = 1.0  # seconds before a worker that died is started again
LONGER = 5.0  # seconds beyond the grace of requests, in which a worker must have ended


class Worker:
    """A process that answers.

    Args:
        store: The address of the store.
        settings: How the server is run.
        listening: The socket.
    """

    def __init__(self, store: str, settings: ServeSettings, listening: socket.socket) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process: SpawnProcess = context.Process(
            target=work, args=(store, settings, listening, theirs), name="driftanchor-worker"
        )
        self.process.start()
        theirs.close()

    def end(self, until: float) -> None:
        """Wait until it has ended, then kill it."""
        self.process.join(max(0.0, until - time.monotonic()))
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.pipe.close()


def work(store: str, settings: ServeSettings, listening: socket.socket, pipe: Connection) -> None:
    """What a worker does: it answers until it is asked to end, or nobody looks after it."""
    from driftanchor.serve.server import answer

    def watch() -> None:
        with contextlib.suppress(EOFError, OSError):
            pipe.recv()
        os.kill(os.getpid(), signal.SIGTERM)  # whoever started us has gone

    def ready() -> None:
        pipe.send(None)
        threading.Thread(target=watch, daemon=True, name="driftanchor-watch").start()

    answer(store, settings, listening, ready)


def supervise(
    store: str,
    settings: ServeSettings,
    listening: socket.socket,
    ready: Callable[[], object],
    stopping: Callable[[], object] = lambda: None,
) -> None:
    """Run workers until a signal ends them; one that dies is started again.

    Args:
        store: The address of the store.
        settings: How the server is run.
        listening: The socket that all of them share.
        ready: Called once all of them answer.
        stopping: Called when they start to stop.
    """
    log = Log()
    with _shared_metrics(), _signals() as stop:
        workers = [Worker(store, settings, listening) for _ in range(settings.workers)]
        try:
            for worker in workers:
                _wait_until_ready(worker, stop)
            if not stop.is_set():
                ready()
            while not stop.is_set():
                ended = connection.wait([stop.reader, *(x.process.sentinel for x in workers)])
                for i, worker in enumerate(workers):
                    if worker.process.sentinel in ended and not stop.is_set():
                        log.event("worker died", "error", code=worker.process.exitcode)
                        _forget(worker)
                        time.sleep(PAUSE)
                        workers[i] = Worker(store, settings, listening)
            stopping()
        finally:
            listening.close()
            for worker in workers:
                if worker.process.is_alive():
                    worker.process.terminate()
            until = time.monotonic() + settings.grace + LONGER
            for worker in workers:
                worker.end(until)
            log.close()


def _wait_until_ready(worker: Worker, stop: Stop) -> None:
    found = connection.wait([worker.pipe, worker.process.sentinel, stop.reader])
    if worker.process.sentinel in found and worker.pipe not in found:
        raise DriftanchorError("a worker ended before it was ready; stderr says why")


def _forget(worker: Worker) -> None:
    """Let metrics that speak of now leave out a worker that died."""
    from prometheus_client import multiprocess

    library: Any = multiprocess
    library.mark_process_dead(worker.process.pid)
    worker.pipe.close()


class Stop:
    """Whether a signal asked to stop, as something that can be waited for."""

    def __init__(self) -> None:
        self.reader, self._writer = multiprocessing.get_context("spawn").Pipe(duplex=False)
        self._came = False

    def is_set(self) -> bool:
        """Whether it did."""
        return self._came

    def __call__(self, *_: object) -> None:
        """A signal came."""
        if not self._came:
            self._came = True
            self._writer.send(None)

    def close(self) -> None:
        """Close both ends."""
        self.reader.close()
        self._writer.close()


@contextlib.contextmanager
def _signals() -> Iterator[Stop]:
    with contextlib.closing(Stop()) as stop, end_signals(stop):
        yield stop


@contextlib.contextmanager
def _shared_metrics() -> Iterator[None]:
    """A folder in which all workers keep what they count."""
    with tempfile.TemporaryDirectory(prefix="driftanchor-metrics-") as folder:
        os.environ[metrics.SHARED] = folder
        try:
            yield
        finally:
            del os.environ[metrics.SHARED]
