"""Observed: every request gets an id, is counted, timed and logged, and is always answered."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterable
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from driftanchor.serve.problem import problem_of
from driftanchor.serve.served import Served

TRACE = re.compile(rb"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")
NOT_KEPT = ((b"cache-control", b"no-store"),)  # some caches look for no key in X-API-Key
UNMATCHED = "unmatched"  # the route of an address that we do not have


class Observed:
    """The outermost layer of the app.

    Args:
        app: What is inside.
        served: What is served; it counts and logs.
    """

    def __init__(self, app: ASGIApp, served: Served) -> None:
        self.app, self._served = app, served

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start = time.perf_counter()
        request_id = request_id_of(scope["headers"])
        scope["request_id"] = request_id
        status, is_whole = 0, False
        is_data = scope["method"] in ("GET", "HEAD") and scope["path"].startswith("/v1/")
        more = NOT_KEPT if is_data else ()

        async def sending(message: Message) -> None:
            nonlocal status, is_whole
            if message["type"] == "http.response.start":
                status = message["status"]
                own = (b"x-request-id", request_id.encode())
                message["headers"] = [*message.get("headers", ()), own, *more]
            else:
                is_whole = not message.get("more_body", False)
            await send(message)

        try:
            await self.app(scope, receive, sending)
        except Exception as error:
            self._served.log.failure(request_id, error)
            if not status:
                await problem_of(error).response()(scope, receive, sending)
            elif not is_whole:  # only the end of the connection can say that it is cut off
                raise
        finally:
            note(self._served, scope, request_id, status, start)


def note(served: Served, scope: Scope, request_id: str, status: int, start: float) -> None:
    """Count and log a request.

    Args:
        served: What is served.
        scope: The request.
        request_id: Its id.
        status: What was answered; 0 for nothing.
        start: When it began, by `time.perf_counter`.
    """
    spent = time.perf_counter() - start
    method, route = scope["method"], route_of(scope)
    served.metrics.request(method, route, status, spent)
    served.log.request(request_id, method, route, status, spent)


def request_id_of(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The id of the trace that a request belongs to, if it says one; else a new one."""
    for name, value in headers:
        if name == b"traceparent":
            found = TRACE.fullmatch(value)
            if found is not None and found[1].strip(b"0"):
                return found[1].decode()
    return f"{random.getrandbits(128):032x}"  # not a secret, and no call of the system


def route_of(scope: Any) -> str:
    """The route of a request with its placeholders, which has no ids in it."""
    return getattr(scope.get("route"), "path", UNMATCHED)
