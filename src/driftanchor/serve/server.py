"""Run a server: in this process, or with several workers that share a socket and a store."""

from __future__ import annotations

import contextlib
import errno
import gc
import logging
import multiprocessing
import os
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing import connection
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any

import uvicorn
from prometheus_client import multiprocess

from driftanchor.errors import DriftanchorError, InvalidInput
from driftanchor.live.stores.store import open_store
from driftanchor.serve import metrics
from driftanchor.serve.app import create_app
from driftanchor.serve.app_state import AppState, ServeSettings
from driftanchor.serve.request_log import Log
from driftanchor.serve.upkeep import warm_up

if sys.platform != "win32":
    import resource

BACKLOG = 2048  # connections that wait to be accepted
KEEP_ALIVE = 75  # seconds that an idle connection is kept
MAX_HEADER_BYTES = 32 * 1024
OTHER_FILES = 128  # that a process opens besides connections
GC_THRESHOLDS = (20_000, 20, 50)
POLL = 0.2  # seconds between looks at the workers and signals
RESTART_PAUSE = 1.0  # seconds before a worker that died is started again
KILL_AFTER = 5.0  # seconds after the grace period
PATIENCE = 2.0  # seconds to wait for an unreachable store before answering 503
Hook = Callable[[], object]


class Server(uvicorn.Server):
    """A uvicorn server that reports when it is ready, and when it stops.

    Args:
        config: The configuration of uvicorn.
        state: Is told when the server stops.
        ready: Called once it answers.
        stopping: Called when it starts to stop.
    """

    def __init__(
        self, config: uvicorn.Config, state: AppState, ready: Hook, stopping: Hook = lambda: None
    ) -> None:
        super().__init__(config)
        self._state, self._ready, self._stopping = state, ready, stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen."""
        await super().startup(sockets)
        if self.started:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept nothing new, and answer accepted requests."""
        self._state.stopping = True
        self._stopping()
        await super().shutdown(sockets)


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 takes a free one.

    Raises:
        InvalidInput: The address is not one of this machine, or is taken.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with contextlib.ExitStack() as closing:
            listening = closing.enter_context(socket.socket(family, kind, protocol))
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen(BACKLOG)
            closing.pop_all()
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        taken = getattr(error, "errno", None) == errno.EADDRINUSE
        remedy = (
            "Is another server running? Choose another --port"
            if taken
            else "Choose another --host or --port"
        )
        raise InvalidInput(f"cannot listen on {host}, port {port}: {reason}. {remedy}") from error
    listening.set_inheritable(True)
    return listening


def url_of(listening: socket.socket) -> str:
    """Return the URL of a listening socket."""
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def serve_store(
    store: str,
    settings: ServeSettings,
    listening: socket.socket,
    ready: Hook,
    stopping: Hook = lambda: None,
) -> None:
    """Serve a store until a signal arrives, with as many workers as the settings say.

    Args:
        store: The address of the store.
        settings: The settings.
        listening: The socket.
        ready: Called once the server answers.
        stopping: Called when it starts to stop.
    """
    if settings.workers > 1:
        supervise(store, settings, listening, ready, stopping)
        return
    opened = open_store(store, patience=PATIENCE)
    serve(AppState(opened, settings), listening, ready, stopping)


def serve(
    state: AppState, listening: socket.socket, ready: Hook, stopping: Hook = lambda: None
) -> None:
    """Serve an open store in this process until a signal arrives; then close it.

    Args:
        state: The open store and the settings.
        listening: The socket.
        ready: Called once the server answers.
        stopping: Called when it starts to stop.
    """
    warm_up(state)
    gc.collect()
    gc.freeze()  # the collector skips all objects created so far
    thresholds = gc.get_threshold()
    gc.set_threshold(*GC_THRESHOLDS)
    handler = state.log.handler
    logging.getLogger().addHandler(handler)
    try:
        with handling_signals(
            lambda *_: None
        ):  # uvicorn raises the signal again after it has stopped
            Server(config_for(state), state, ready, stopping).run([listening])
    finally:
        logging.getLogger().removeHandler(handler)
        gc.set_threshold(*thresholds)
        gc.unfreeze()  # libraries warn about objects that are left at the end


def config_for(state: AppState) -> uvicorn.Config:
    """Return the configuration of uvicorn.

    h11 ignores the trailers of a chunked body and limits the size of the headers; httptools, the
    faster parser, takes trailers for headers.
    """
    options: dict[str, Any] = {
        "http": "h11",
        "ws": "none",
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,
        "lifespan": "on",
        "backlog": BACKLOG,
        "limit_concurrency": _max_connections(),
        "timeout_keep_alive": KEEP_ALIVE,
        "timeout_graceful_shutdown": int(state.settings.grace),
        "h11_max_incomplete_event_size": MAX_HEADER_BYTES,
    }
    return uvicorn.Config(create_app(state), **options)


def _max_connections() -> int:
    """Return the process's limit of open files, less those for the store and logs."""
    if sys.platform == "win32":
        return 10_000
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return 100_000 if files == resource.RLIM_INFINITY else max(OTHER_FILES, files - OTHER_FILES)


@contextlib.contextmanager
def handling_signals(handler: Callable[..., Any]) -> Iterator[None]:
    """Handle SIGINT and SIGTERM; no-op outside the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    earlier = {number: signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, before in earlier.items():
            signal.signal(number, before)


class Worker:
    """A process that serves.

    Args:
        store: The address of the store.
        settings: The settings.
        listening: The shared socket.
    """

    def __init__(self, store: str, settings: ServeSettings, listening: socket.socket) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process: SpawnProcess = context.Process(
            target=work, args=(store, settings, listening, theirs), name="driftanchor-worker"
        )
        self.process.start()
        theirs.close()

    def is_ready(self) -> bool:
        """Wait briefly; return whether it answers.

        Raises:
            DriftanchorError: It ended.
        """
        done = connection.wait([self.pipe, self.process.sentinel], POLL)
        if self.process.sentinel in done and self.pipe not in done:
            raise DriftanchorError("a worker ended before it was ready; stderr says why")
        return bool(done)

    def forget(self) -> None:
        """Remove the live gauges of a dead worker."""
        library: Any = multiprocess
        library.mark_process_dead(self.process.pid)
        self.pipe.close()

    def end(self, until: float) -> None:
        """Wait for the process until a deadline, then kill it."""
        self.process.join(max(0.0, until - time.monotonic()))
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.pipe.close()


def work(store: str, settings: ServeSettings, listening: socket.socket, pipe: Connection) -> None:
    """Serve as a worker until a signal arrives or the supervisor is gone."""

    def watch() -> None:
        with contextlib.suppress(EOFError, OSError):
            pipe.recv()
        os.kill(os.getpid(), signal.SIGTERM)

    def ready() -> None:
        pipe.send(None)
        threading.Thread(target=watch, daemon=True, name="driftanchor-watch").start()

    opened = open_store(store, patience=PATIENCE)
    serve(AppState(opened, settings), listening, ready)


def supervise(
    store: str,
    settings: ServeSettings,
    listening: socket.socket,
    ready: Hook,
    stopping: Hook = lambda: None,
) -> None:
    """Run workers until a signal arrives; one that dies is started again.

    Args:
        store: The address of the store.
        settings: The settings.
        listening: The socket that all workers share.
        ready: Called once all of them answer.
        stopping: Called when they start to stop.
    """
    is_stopping = False

    def stop(*_: object) -> None:
        nonlocal is_stopping
        is_stopping = True

    log = Log()
    with _shared_metrics(), handling_signals(stop):
        workers = [Worker(store, settings, listening) for _ in range(settings.workers)]
        try:
            for worker in workers:
                while not (worker.is_ready() or is_stopping):
                    pass
            if not is_stopping:
                ready()
            while not is_stopping:
                connection.wait([worker.process.sentinel for worker in workers], POLL)
                for i, worker in enumerate(workers):
                    if not (worker.process.is_alive() or is_stopping):
                        log.event("worker died", "error", code=worker.process.exitcode)
                        worker.forget()
                        time.sleep(RESTART_PAUSE)
                        workers[i] = Worker(store, settings, listening)
            stopping()
        finally:
            listening.close()
            for worker in workers:
                worker.process.terminate()
            until = time.monotonic() + settings.grace + KILL_AFTER
            for worker in workers:
                worker.end(until)
            log.close()


@contextlib.contextmanager
def _shared_metrics() -> Iterator[None]:
    """Provide a folder in which all workers keep their metrics."""
    with tempfile.TemporaryDirectory(prefix="driftanchor-metrics-") as folder:
        os.environ[metrics.SHARED] = folder
        try:
            yield
        finally:
            del os.environ[metrics.SHARED]
