"""Limits: no body is too large or too deep, before anything parses it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from driftanchor.serve.problem import Problem

MOST_BYTES = 64 * 1024  # of a body
LARGER = {"/v1/rewards": 256 * 1024, "/v1/campaigns": 256 * 1024}  # batches, and many arms
MOST_DRAINED = 1024 * 1024  # bytes of a body that is read although it is too large
DEEPEST = 32  # lists and objects within one another
CLOSE = {"Connection": "close"}  # what is left of the body is not read
# A text that does not end takes the rest, so that no place is looked at twice.
_TOKENS = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|([\[{])|([\]}])', re.DOTALL)
UNKNOWN = -1  # the length of a body that comes in chunks


class Limits:
    """A layer of the app that reads the body of a request, and passes on what is bearable.

    How long a body may take is not its business: see `serve.connection`.

    Args:
        app: What is inside.
        most_bytes: The longest body.
        larger: Paths whose bodies may be longer, and how long.
    """

    def __init__(
        self,
        app: ASGIApp,
        most_bytes: int = MOST_BYTES,
        larger: Mapping[str, int] = MappingProxyType(LARGER),
    ) -> None:
        self.app, self.most_bytes = app, most_bytes
        self._larger = {path: Limits(app, most, {}) for path, most in larger.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if scope["path"] in self._larger:
            await self._larger[scope["path"]](scope, receive, send)
            return
        try:
            body = await self.read(scope, receive)
        except Problem as problem:
            if scope["path"].startswith("/ofrep/"):  # clients of OpenFeature look for these
                problem.more |= {"errorCode": "PARSE_ERROR", "errorDetails": problem.detail}
            await problem.response()(scope, receive, send)
            return
        if body is None:
            return  # the client has gone
        is_read = False

        async def receiving() -> Message:
            nonlocal is_read
            if is_read:
                return await receive()
            is_read = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self.app(scope, receiving, send)

    async def read(self, scope: Scope, receive: Receive) -> bytes | None:
        """All of a body that is neither too large nor too deep; `None` if the client has gone.

        Raises:
            Problem: It is too large or too deep, or the request is not right.
        """
        length = declared(scope)
        if length == 0:
            return b""
        if length > self.most_bytes:
            if length <= MOST_DRAINED:
                await drain(scope, receive)
            raise self._too_large()
        message = await receive()
        if message["type"] == "http.request" and message.get("more_body", False):
            message = await self._rest(message, receive)
        if message["type"] != "http.request":
            return None
        body: bytes = message.get("body", b"")
        if len(body) > self.most_bytes:
            if message.get("more_body", False):
                await drain(scope, receive, len(body))
            raise self._too_large()
        check_depth(body)
        return body

    async def _rest(self, message: Message, receive: Receive) -> Message:
        """All parts of a body as one; no more of them than it may have."""
        parts = [message.get("body", b"")]
        length = len(parts[0])
        while message.get("more_body", False) and length <= self.most_bytes:
            message = await receive()
            if message["type"] != "http.request":
                return message
            parts.append(message.get("body", b""))
            length += len(parts[-1])
        more = message.get("more_body", False)
        return {"type": "http.request", "body": b"".join(parts), "more_body": more}

    def _too_large(self) -> Problem:
        most = self.most_bytes
        return Problem(
            413, "body_too_large", f"a body has at most {most:,} bytes: send less", headers=CLOSE
        )


async def drain(scope: Scope, receive: Receive, read: int = 0) -> None:
    """Read the rest of a body that is somewhat too large: few clients hear us before they end.

    Whoever asked first, with `Expect`, is answered at once.
    """
    if any(name == b"expect" for name, _ in scope["headers"]):
        return
    more = True
    while more and read <= MOST_DRAINED:
        message = await receive()
        more = message.get("more_body", False)
        read += len(message.get("body", b""))


def declared(scope: Scope) -> int:
    """How many bytes a request says that it brings; one of HTTP/1.1 that says nothing has none.

    Raises:
        Problem: It does not say which host it is for, or says several.
    """
    version = scope.get("http_version", "1.1")
    length, hosts = 0 if version in ("1.0", "1.1") else UNKNOWN, 0
    for name, value in scope["headers"]:
        if name == b"host":
            hosts += 1
        elif name == b"transfer-encoding":
            length = UNKNOWN
        elif name == b"content-length" and length == 0:
            length = int(value[:18]) if value.isdigit() else UNKNOWN
    if hosts > 1 or (hosts == 0 and version == "1.1"):
        raise Problem(400, "invalid_http", "a request has one header Host")
    return length


def check_depth(body: bytes) -> None:
    r"""Refuse JSON that is nested too deep to be read safely, and what is no text.

    Brackets in texts do not count. There is no need to look where there are few brackets.

    Example:
        >>> check_depth(b"[" * 32 + b"]" * 32)
        >>> check_depth(b'["' + b"[" * 100 + b'"]')
        >>> check_depth(b"[" * 33)
        Traceback (most recent call last):
        ...
        driftanchor.serve.problem.Problem: the body is nested deeper than 32 levels
    """
    if b"\0" in body:  # UTF-16 and UTF-32, whose texts end elsewhere
        raise Problem(400, "invalid_json", "the body is not JSON in UTF-8")
    if body.count(b"[") + body.count(b"{") <= DEEPEST:
        return
    depth = 0
    for found in _TOKENS.finditer(body):
        kind = found.lastindex
        if kind == 1:
            depth += 1
            if depth > DEEPEST:
                raise Problem(400, "too_deep", f"the body is nested deeper than {DEEPEST} levels")
        elif kind == 2:
            depth -= 1
