"""Direct: the routes that are asked all the time, taken past the router of the framework.

What FastAPI does for a route that takes a request and gives a response costs more than a decision
does. The routes are still FastAPI's: it documents them, and answers them if this layer is left out.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from fastapi import Request, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from driftanchor.serve.problem import response_to
from driftanchor.serve.served import Served


@dataclass(frozen=True)
class Shortcut:
    """A route with one parameter in its path.

    Attributes:
        method: Its method.
        path: Its path, such as `"/v1/decisions/{decision_id}/reward"`.
        role: The role that it needs.
        endpoint: Answers a request; it gets the parameter.
    """

    method: str
    path: str
    role: str
    endpoint: Callable[[Request, str], Awaitable[Response]]

    @property
    def parameter(self) -> str:
        """The name of its parameter."""
        return self.path.partition("{")[2].partition("}")[0]


class Direct:
    """A layer of the app that answers some routes by itself.

    Args:
        app: What is inside, which answers the others.
        served: What is served.
        shortcuts: The routes.
    """

    def __init__(self, app: ASGIApp, served: Served, shortcuts: Sequence[Shortcut]) -> None:
        self.app, self._served = app, served
        self._known = [
            (x.method, x.path.partition("{")[0], x.path.rpartition("}")[2], x) for x in shortcuts
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http":
            path: str = scope["path"]
            for method, before, after, shortcut in self._known:
                if scope["method"] == method and path.startswith(before) and path.endswith(after):
                    value = path[len(before) : len(path) - len(after)]
                    if value and "/" not in value:
                        await self._answer(shortcut, value, scope, receive, send)
                        return
        await self.app(scope, receive, send)

    async def _answer(
        self, shortcut: Shortcut, value: str, scope: Scope, receive: Receive, send: Send
    ) -> None:
        scope["route"] = shortcut  # its path is logged and counted
        scope["path_params"] = {shortcut.parameter: value}
        try:
            await self._served.access.admit(scope, shortcut.role)
            response = await shortcut.endpoint(Request(scope, receive), value)
        except Exception as error:
            response = response_to(error)
        await response(scope, receive, send)
