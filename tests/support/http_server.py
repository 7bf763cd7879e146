"""A real server on loopback, in a thread of the tests; it can be stopped and started again."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn

from driftanchor.live.stores.store import open_store
from driftanchor.serve.app_state import AppState, ServeSettings
from driftanchor.serve.request_log import Log
from driftanchor.serve.server import config_for, listen


class HttpServer:
    """A server over the store at an address.

    Args:
        store: The address.
        serve: What to serve in place of it, if not with the usual settings.

    Attributes:
        port: Its port, the same after it was started again.
        url: Its address.
        state: What it serves.
    """

    def __init__(
        self,
        store: str,
        clock: Callable[[], float] = time.time,
        settings: ServeSettings | None = None,
        serve: Callable[[], AppState] | None = None,
    ) -> None:
        self.store, self.clock, self.settings = store, clock, settings
        self._serve = serve
        self._socket = listen("127.0.0.1", 0)
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        """Answer from now on."""
        if self._socket.fileno() < 0:
            self._socket = listen("127.0.0.1", self.port)
        if self._serve is None:
            store, log = open_store(self.store), Log(io.StringIO())
            self.state = AppState(store, self.settings, self.clock, log)
        else:
            self.state = self._serve()
        self._server = uvicorn.Server(config_for(self.state))
        sockets = [self._socket]
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": sockets})
        self._thread.start()  # whoever connects before it answers waits in the queue

    def stop(self) -> None:
        """Answer no more; connections are refused."""
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()


@contextmanager
def http_server(
    store: str,
    clock: Callable[[], float] = time.time,
    settings: ServeSettings | None = None,
    serve: Callable[[], AppState] | None = None,
) -> Iterator[HttpServer]:
    """A server that is stopped at the end."""
    server = HttpServer(store, clock, settings, serve)
    try:
        yield server
    finally:
        server.stop()
