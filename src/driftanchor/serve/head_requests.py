"""HeadRequests: `HEAD` is answered as `GET` is, without the body."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEAD_ONLY = "driftanchor.head_only"  # in the scope: a route need not make a long body
MATCHED = ("route", "endpoint", "path_params")  # what the router finds, for the layers outside


class HeadRequests:
    """A layer of the app that lets every route with `GET` answer `HEAD` too.

    Args:
        app: What is inside.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return

        async def without_body(message: Message) -> None:
            if message["type"] == "http.response.body":
                if message.get("more_body", False):
                    return
                message = {"type": "http.response.body", "body": b""}
            await send(message)

        inside = {**scope, "method": "GET", HEAD_ONLY: True}
        try:
            await self.app(inside, receive, without_body)
        finally:
            scope.update({name: inside[name] for name in MATCHED if name in inside})
