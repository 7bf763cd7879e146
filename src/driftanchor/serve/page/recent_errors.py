"""Recent errors: the last requests that a process refused or could not answer."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

KEPT = 200
LONGEST = 4_096  # bytes of an answer that are looked at
WATCHED = ("/v1/", "/ofrep/")


class RecentErrors:
    """A layer of the app that keeps what went wrong: no value that was sent, only what was said.

    Args:
        app: What is inside.
        kept: Where errors are kept, the newest last.
        clock: Tells the time.
    """

    def __init__(
        self, app: ASGIApp, kept: deque[dict[str, Any]], clock: Callable[[], float]
    ) -> None:
        self.app, self._kept, self._clock = app, kept, clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or not scope["path"].startswith(WATCHED):
            await self.app(scope, receive, send)
            return
        status, body = 0, b""

        async def sending(message: Message) -> None:
            nonlocal status, body
            if message["type"] == "http.response.start":
                status = message["status"]
            elif status >= 400 and len(body) < LONGEST:
                body += message.get("body", b"")
            await send(message)

        await self.app(scope, receive, sending)
        if status >= 400:
            self._kept.append(error_of(scope, status, body, self._clock()))


def error_of(scope: Scope, status: int, body: bytes, at: float) -> dict[str, Any]:
    """What is kept of an error.

    Args:
        scope: The request.
        status: The status of its answer.
        body: The body of its answer.
        at: The time.
    """
    try:
        said = json.loads(body)
    except ValueError:
        said = {}
    said = said if isinstance(said, dict) else {}
    return {
        "at": at,
        "status": status,
        "method": scope["method"],
        "route": getattr(scope.get("route"), "path", "unmatched"),
        "campaign": campaign_in(scope["path"]),
        "code": str(said.get("code", said.get("errorCode", ""))),
        "detail": str(said.get("detail", said.get("errorDetails", ""))),
    }


def campaign_in(path: str) -> str | None:
    """The campaign that the address of a request names.

    Example:
        >>> campaign_in("/v1/campaigns/ads/decisions"), campaign_in("/v1/decisions/5/reward")
        ('ads', None)
        >>> campaign_in("/ofrep/v1/evaluate/flags/ads")
        'ads'
    """
    found = re.match(r"/(?:v1/campaigns|ofrep/v1/evaluate/flags)/([^/]+)", path)
    return None if found is None else found[1]


def new() -> deque[dict[str, Any]]:
    """Where errors are kept; old ones fall out."""
    return deque(maxlen=KEPT)


def of(kept: deque[dict[str, Any]], campaign: str, most: int = 10) -> list[dict[str, Any]]:
    """The last errors of a campaign, and those that belong to none, the newest first."""
    wanted = [error for error in list(kept) if error["campaign"] in (campaign, None)]
    return wanted[: -most - 1 : -1]
