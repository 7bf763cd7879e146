"""Direct: the routes that are asked all the time, taken past all layers and the framework.

What these do for one request costs more than a decision does. Here the same is done in one place:
a request is observed, limited, let in and answered. The routes are still FastAPI's: it documents
them, and answers them if this layer is left out.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from driftanchor.serve.answer import Fields, WholeAnswer, send_answer
from driftanchor.serve.limits import Limits
from driftanchor.serve.observed import note, request_id_of
from driftanchor.serve.page import recent_errors
from driftanchor.serve.problem import problem_of
from driftanchor.serve.served import Served
from driftanchor.serve.time_limit import answer_within


@dataclass(frozen=True)
class Shortcut:
    """A route with one parameter in its path.

    Attributes:
        method: Its method.
        path: Its path, such as `"/v1/decisions/{decision_id}/reward"`.
        role: The role that it needs.
        endpoint: Answers the headers and the body of a request, for a value of the parameter.
    """

    method: str
    path: str
    role: str
    endpoint: Callable[[Served, Fields, bytes, str], Awaitable[WholeAnswer]]


class Direct:
    """A layer of the app that answers some routes by itself.

    Args:
        app: The app inside, which answers all other routes.
        served: The store and settings of the server.
        shortcuts: The routes that this layer answers.
        errors: Receives errors, to show them on the page.
    """

    def __init__(
        self,
        app: ASGIApp,
        served: Served,
        shortcuts: Sequence[Shortcut],
        errors: deque[dict[str, Any]],
    ) -> None:
        self.app, self._served, self._errors = app, served, errors
        self._limits = Limits(app)
        self._known = [
            (x.method, x.path.partition("{")[0], x.path.rpartition("}")[2], x) for x in shortcuts
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        shortcut, value = self._found(scope)
        if shortcut is None:
            await self.app(scope, receive, send)
            return
        start, status = time.perf_counter(), 0
        scope["route"] = shortcut  # its path is logged and counted
        request_id = request_id_of(scope["headers"])
        try:
            try:
                body = await self._limits.read(scope, receive)
                if body is None:
                    return  # the client has gone
                async with answer_within(self._served.settings.deadline):
                    await self._served.access.admit(scope, shortcut.role)
                    answer = await shortcut.endpoint(self._served, scope["headers"], body, value)
            except Exception as error:
                answer = self._refused(error, scope, request_id)
            status = answer.status
            await send_answer(answer, (b"x-request-id", request_id.encode()), scope, send)
        finally:
            note(self._served, scope, request_id, status, start)

    def _found(self, scope: Scope) -> tuple[Shortcut | None, str]:
        """The route of a request, if it is one of these, and the value of its parameter."""
        if scope["type"] == "http":
            path: str = scope["path"]
            for method, before, after, shortcut in self._known:
                if scope["method"] == method and path.startswith(before) and path.endswith(after):
                    value = path[len(before) : len(path) - len(after)]
                    if value and "/" not in value:
                        return shortcut, value
        return None, ""

    def _refused(self, error: Exception, scope: Scope, request_id: str) -> WholeAnswer:
        """The answer to an error, which the page shows too."""
        answer = WholeAnswer.of(problem_of(error))
        if answer.status >= 500:
            self._served.log.failure(request_id, error)
        at = self._served.clock()
        self._errors.append(recent_errors.error_of(scope, answer.status, answer.body, at))
        return answer
