"""Connections, with limits on their number, header size, and slow or idle clients.

Slow and idle connections are looked for once a second, so that requests need no timer.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from starlette.types import Scope
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from driftanchor.serve.answer import WHOLE, Fields
from driftanchor.serve.corked import Corked
from driftanchor.serve.problem import MEDIA, Problem

if sys.platform != "win32":
    import resource

SLOWEST_REQUEST = 10.0  # seconds from its first byte, or from the connection, to its last
SLOWEST_ANSWER = 60.0  # seconds in which a client reads nothing of what waits for it
KEPT = 75.0  # seconds that an idle connection is kept
MOST_HEADERS = 100
MOST_HEADER_BYTES = 32 * 1024  # limit for all header names and values, and for unparsed bytes
LONGEST_ADDRESS = 8 * 1024  # bytes
_UPGRADE = re.compile(rb"\nupgrade:", re.IGNORECASE)
MOST_AHEAD = 32  # requests that wait for the answer to one before them
SPARE_FILES = 128  # of the process that are no connections


class Connection(HttpToolsProtocol):
    """A client connection.

    Attributes:
        receiving_since: When receiving a request started; `None` between requests.
        writing_since: When the client stopped reading; `None` if it is reading.
        idle_since: When the connection became idle; `None` if it is active.
    """

    receiving_since: float | None = None
    writing_since: float | None = None
    idle_since: float | None = None
    _unread = 0  # bytes received since the last progress of the parser
    _header_bytes = 0
    _in_body = False
    _refusal: Problem | None = None
    _is_deaf = False  # whether to ignore further input

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Handle a new connection."""
        self._corked = Corked(transport, self.loop)
        corked: Any = self._corked
        # Shared by all requests: one per request would create a reference cycle.
        self._extensions: Any = {WHOLE: self._send_whole}
        super().connection_made(corked)
        self.receiving_since = self.loop.time()
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Handle the end of the connection."""
        self._extensions.clear()  # breaks a reference cycle
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Handle received bytes."""
        if self._is_deaf:
            return
        if b"pgrade" in data and not self._in_body:
            data = without_upgrade(data)
        if self.receiving_since is None:  # also for empty lines, which start no request
            self.receiving_since = self.loop.time()
        self.idle_since = None
        self._unread += len(data)
        super().data_received(data)
        if self._unread > MOST_HEADER_BYTES and not self.transport.is_closing():
            self.refuse(431, "headers_too_large", "the headers are too long")

    def on_message_begin(self) -> None:
        """Handle the start of a request."""
        self.receiving_since = self.loop.time()
        self._in_body, self._header_bytes = False, 0
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Store a header; ignore trailers, which uvicorn would append to the headers."""
        if self._in_body:
            return
        self._header_bytes += len(name) + len(value)
        if self._header_bytes > MOST_HEADER_BYTES:
            self._refusal = Problem(431, "headers_too_large", "send fewer or shorter headers")
            raise ValueError  # stops the parser
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Handle the end of the headers."""
        self._unread, self._in_body = 0, True
        if len(self.headers) > MOST_HEADERS or len(self.url) > LONGEST_ADDRESS:
            status = 431 if len(self.headers) > MOST_HEADERS else 414
            self._refusal = Problem(status, "headers_too_large", "send fewer or shorter headers")
            raise ValueError  # stops the parser
        if len(self.pipeline) >= MOST_AHEAD:
            raise ValueError
        super().on_headers_complete()
        self.scope["extensions"] = self._extensions

    def on_body(self, body: bytes) -> None:
        """Handle a part of the body."""
        self._unread = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Handle the end of a request."""
        self.receiving_since = None
        self._unread, self._in_body = 0, False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Handle the end of a response: start the next queued request, or wait for one."""
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
        else:
            self.idle_since = self.loop.time()

    def _send_whole(self, scope: Scope, status: int, fields: Fields, body: bytes) -> bool:
        """Send a complete response; return `False` if it must wait or is not a plain one."""
        cycle = self.cycle
        if cycle.scope is not scope:  # another request arrived meanwhile
            return False
        if cycle.disconnected or cycle.response_started or self.flow.write_paused:
            return False
        head = [STATUS_LINE[status]]
        for name, value in (*cycle.default_headers, *fields):
            if name == b"connection":
                return False
            head += (name, b": ", value, b"\r\n")
        head.append(b"\r\n" if cycle.keep_alive else b"connection: close\r\n\r\n")
        cycle.response_started = cycle.response_complete = True
        self._corked.write_now(b"".join([*head, body]))
        cycle.message_event.set()
        if not cycle.keep_alive:
            self.transport.close()
        cycle.on_response()
        return True

    def pause_writing(self) -> None:
        """Pause writing: the client reads too slowly."""
        self.writing_since = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        """Resume writing."""
        self.writing_since = None
        super().resume_writing()

    def _unsupported_upgrade_warning(self) -> None:
        """Ignore unsupported protocol upgrades without a warning."""

    def send_400_response(self, msg: str) -> None:
        """Reject invalid HTTP or too many headers."""
        refusal = self._refusal or Problem(400, "invalid_http", "this is not HTTP/1.1")
        self.refuse(refusal.status, refusal.code, refusal.detail)

    def refuse(self, status: int, code: str, detail: str) -> None:
        """Answer without the app, and close the connection.

        If an earlier request is unanswered, the client would mistake our answer for its answer, so
        we close the connection after that one instead.
        """
        cycle: Any = self.cycle  # `None` before the first request
        is_idle = cycle is None or cycle.response_complete
        if not is_idle and not cycle.more_body and not self.pipeline:
            self._is_deaf, cycle.keep_alive = True, False
            return
        if is_idle or not (cycle.response_started or self.pipeline):
            text = json.dumps(Problem(status, code, detail).body()).encode()
            phrase = HTTPStatus(status).phrase
            head = (
                f"HTTP/1.1 {status} {phrase}\r\ncontent-type: {MEDIA}\r\n"
                f"content-length: {len(text)}\r\nconnection: close\r\n\r\n"
            )
            self.transport.write(head.encode() + text)
        self.transport.close()


def without_upgrade(data: bytes) -> bytes:
    r"""The start of a request, without the wish for another protocol.

    The client of Java wishes for HTTP/2 with its first request. The parser would leave out the
    body of a request that has such a wish.

    Example:
        >>> without_upgrade(b"POST / HTTP/1.1\r\nUpgrade: h2c\r\n\r\n\nupgrade: a")
        b'POST / HTTP/1.1\r\nx-upgrade: h2c\r\n\r\n\nupgrade: a'
    """
    head, end, body = data.partition(b"\r\n\r\n")
    return _UPGRADE.sub(b"\nx-upgrade:", head) + end + body


def sweep(connections: Iterable[Any], now: float) -> None:
    """Close the connections that are too slow, or idle for too long.

    Args:
        connections: All connections of a server.
        now: The time of its event loop.
    """
    for found in list(connections):
        since, writing = found.receiving_since, found.writing_since
        if since is not None and now - since > SLOWEST_REQUEST:
            found.refuse(408, "request_too_slow", "the request did not come in time")
        elif writing is not None and now - writing > SLOWEST_ANSWER:
            found.transport.abort()
        elif found.idle_since is not None and now - found.idle_since > KEPT:
            found.transport.close()


def _most_connections() -> int:
    """As many as the process may have files open, but for those of the store and of logs."""
    if sys.platform == "win32":
        return 10_000
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return 100_000 if files == resource.RLIM_INFINITY else max(SPARE_FILES, files - SPARE_FILES)


MOST_CONNECTIONS = _most_connections()
