"""Running a server: one process that answers, or several that share a socket and a store."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import logging
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn

from driftanchor.errors import InvalidInput
from driftanchor.live.stores.sql.sql_store import open_sql
from driftanchor.serve.app import create_app
from driftanchor.serve.connection import Connection, sweep
from driftanchor.serve.end_signals import end_signals
from driftanchor.serve.request_log import LogHandler
from driftanchor.serve.served import Served, ServeSettings
from driftanchor.serve.warming import warm_up

BACKLOG = 2048  # connections that may wait to be accepted
COLLECTING = (20_000, 20, 50)  # new objects, and rounds, before garbage is looked for


class Server(uvicorn.Server):
    """A server that says when it is ready, and ends without a signal of its own.

    Args:
        config: How it is run.
        served: What it serves.
        ready: Called once it answers.
        stopping: Called when it starts to stop.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        served: Served,
        ready: Callable[[], object],
        stopping: Callable[[], object] = lambda: None,
    ) -> None:
        super().__init__(config)
        self._served, self._ready, self._stopping = served, ready, stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen."""
        await super().startup(sockets)
        if self.started:
            self._ready()

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second: look for what has to end."""
        if counter % 10 == 0:
            sweep(self.server_state.connections, asyncio.get_running_loop().time())
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept nothing new, and answer what was accepted."""
        self._served.stopping = True
        self._stopping()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Let signals end the server in good order; they are not raised again afterwards."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        with end_signals(self.handle_exit):
            yield


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes a free one.

    Raises:
        InvalidInput: The address is not one of this machine, or is taken.
    """
    try:
        family, kind, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with contextlib.ExitStack() as closing:
            listening = closing.enter_context(socket.socket(family, kind))
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
    """The address of a server that listens."""
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def answer(
    store: str,
    settings: ServeSettings,
    listening: socket.socket,
    ready: Callable[[], object],
    stopping: Callable[[], object] = lambda: None,
) -> None:
    """Answer requests in this process until a signal ends it.

    Args:
        store: The address of the store.
        settings: How the server is run.
        listening: The socket.
        ready: Called once it answers.
        stopping: Called when it starts to stop.
    """
    answer_for(Served(open_sql(store, settings.patience), settings), listening, ready, stopping)


def answer_for(
    served: Served,
    listening: socket.socket,
    ready: Callable[[], object],
    stopping: Callable[[], object] = lambda: None,
) -> None:
    """As `answer`, for what is there to be served already.

    Args:
        served: What to serve; it is closed in the end.
        listening: The socket.
        ready: Called once it answers.
        stopping: Called when it starts to stop.
    """
    warm_up(served)
    gc.collect()
    gc.freeze()  # what is there now stays: to look through it again and again takes time
    before = gc.get_threshold()
    gc.set_threshold(*COLLECTING)
    handler = LogHandler(served.log)
    logging.getLogger().addHandler(handler)
    options: dict[str, Any] = {
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,
        "lifespan": "on",
        "http": Connection,
        "ws": "none",
        "backlog": BACKLOG,
        "timeout_graceful_shutdown": int(served.settings.grace),
    }
    config = uvicorn.Config(create_app(served), **options)
    try:
        Server(config, served, ready, stopping).run([listening])
    finally:
        logging.getLogger().removeHandler(handler)
        gc.set_threshold(*before)
        gc.unfreeze()  # libraries complain of what is still there when the process ends
