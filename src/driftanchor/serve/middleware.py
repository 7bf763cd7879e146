"""Middleware: what applies to every request, each concern in one class.

From the outside in: `Observe`, `CatchErrors`, `LimitBody`, `Deadline`.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import Iterable, Mapping
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from driftanchor.errors import StoreUnavailable
from driftanchor.serve import ofrep
from driftanchor.serve.app_state import AppState
from driftanchor.serve.problem import Problem, problem_of

TRACE = re.compile(rb"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")
UNMATCHED = "unmatched"  # the route of an unknown address
MAX_BYTES = 64 * 1024  # of a body
LARGER = {"/v1/rewards": 256 * 1024, "/v1/campaigns": 256 * 1024}  # batches, and many arms
MAX_DISCARDED = 1024 * 1024  # bytes of an oversized body that are read before the answer
RECEIVE_SECONDS = 10.0  # for a body
CLOSE = {"Connection": "close"}  # the rest of the body is not read


class Observe:
    """Middleware that gives each request an id, counts it, times it and logs it.

    Args:
        app: The wrapped app.
        state: Its metrics and log.
    """

    def __init__(self, app: ASGIApp, state: AppState) -> None:
        self.app, self._state = app, state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status = time.perf_counter(), 0
        request_id = scope["request_id"] = request_id_of(scope["headers"])
        more = [(b"x-request-id", request_id.encode())]
        if scope["method"] in ("GET", "HEAD") and scope["path"].startswith("/v1/"):
            more.append((b"cache-control", b"no-store"))  # some caches ignore X-API-Key

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *more]
            await send(message)

        try:
            await self.app(scope, receive, sending)
        finally:
            seconds = time.perf_counter() - start
            method, route = scope["method"], route_of(scope)
            self._state.metrics.request(method, route, status, seconds)
            self._state.log.request(request_id, method, route, status, seconds)


class CatchErrors:
    """Middleware that answers exceptions with problems, and records them.

    OFREP has error answers of its own.

    Args:
        app: The wrapped app.
        state: Its log and recent errors.
    """

    def __init__(self, app: ASGIApp, state: AppState) -> None:
        self.app, self._state = app, state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        has_begun = False

        async def sending(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self.app(scope, receive, sending)
        except Exception as error:
            problem = problem_of(error)
            self._state.errors.add(scope, problem, self._state.clock())
            if problem.status >= 500:
                self._state.log.failure(scope["request_id"], error)
            if has_begun:
                raise  # closes the connection: the answer is cut off
            is_flag = scope["path"].startswith(ofrep.PREFIX)
            response = ofrep.error(problem, scope["path"]) if is_flag else problem.response()
            await response(scope, receive, send)


class LimitBody:
    """Middleware that reads the body into `scope["body"]`, within limits of size and time.

    Args:
        app: The wrapped app.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        body: bytes | None = b""
        if b"content-length" in headers or b"transfer-encoding" in headers:
            try:
                async with asyncio.timeout(RECEIVE_SECONDS):
                    body = await _read(scope["path"], headers, receive)
            except TimeoutError:
                text = "the body did not arrive in time"
                raise Problem(408, "request_too_slow", text, headers=CLOSE) from None
        if body is None:
            return  # the client disconnected
        scope["body"] = body
        await self.app(scope, receive, send)


async def _read(path: str, headers: Mapping[bytes, bytes], receive: Receive) -> bytes | None:
    """Return the body; `None` if the client disconnected.

    Few clients read an answer before they have sent their request, so the rest of an oversized
    body is read and discarded up to a limit, unless the client waits for `100 Continue`.

    Raises:
        Problem: The body is too large, or its length is ambiguous.
    """
    limit = LARGER.get(path, MAX_BYTES)
    if b"content-length" in headers and b"transfer-encoding" in headers:
        text = "a request has Content-Length or Transfer-Encoding, not both"
        raise Problem(400, "invalid_http", text, headers=CLOSE)  # as some proxies may be fooled
    stop = limit if b"expect" in headers else MAX_DISCARDED
    declared = headers.get(b"content-length", b"0")
    size = int(declared[:18]) if declared.isdigit() else 0
    parts: list[bytes] = []
    if size <= stop:
        size, more = 0, True
        while more and size <= stop:
            message = await receive()
            if message["type"] != "http.request":
                return None
            part, more = message.get("body", b""), message.get("more_body", False)
            size += len(part)
            if size <= limit:
                parts.append(part)
    if size > limit:
        text = f"a body has at most {limit:,} bytes: send less"
        raise Problem(413, "body_too_large", text, headers=CLOSE)
    return parts[0] if len(parts) == 1 else b"".join(parts)


class Deadline:
    """Middleware that raises `StoreUnavailable` if an answer does not begin in time.

    Args:
        app: The wrapped app.
        state: Its settings contain the time limit.
    """

    def __init__(self, app: ASGIApp, state: AppState) -> None:
        self.app, self._seconds = app, state.settings.deadline

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._seconds) as limit:

                async def sending(message: Message) -> None:
                    if limit.when() is not None:
                        limit.reschedule(None)
                    await send(message)

                await self.app(scope, receive, sending)
        except TimeoutError as error:
            if not limit.expired():
                raise
            text = f"the store did not answer within {self._seconds:g} seconds"
            raise StoreUnavailable(text) from error


def request_id_of(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """Return the trace id of a request, or a new id if it has none."""
    for name, value in headers:
        if name == b"traceparent":
            match = TRACE.fullmatch(value)
            if match is not None and match[1].strip(b"0"):
                return match[1].decode()
    return f"{random.getrandbits(128):032x}"  # not a secret


def route_of(scope: Any) -> str:
    """Return the route of a request with its placeholders, which contains no ids."""
    return getattr(scope.get("route"), "path", UNMATCHED)
