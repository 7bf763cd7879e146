"""Direct: a fast path for the busiest routes, bypassing middleware and framework.

Middleware and framework cost more per request than a decision. This layer does the same work in one
place: it logs, rate-limits, authorizes and answers a request. The routes are also registered with
FastAPI, which documents them, and answers them without this layer.
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
    """Middleware that answers some routes itself.

    Args:
        app: The wrapped app, which answers all other routes.
        served: The store and settings of the server.
        shortcuts: The routes that this layer answers.
        errors: Collects errors for the page.
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
        scope["route"] = shortcut  # for the log and metrics
        request_id = request_id_of(scope["headers"])
        try:
            try:
                body = await self._limits.read(scope, receive)
                if body is None:
                    return  # the client disconnected
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
        """Return the fast route of a request and its path parameter, if it has one."""
        if scope["type"] == "http":
            path: str = scope["path"]
            for method, before, after, shortcut in self._known:
                if scope["method"] == method and path.startswith(before) and path.endswith(after):
                    value = path[len(before) : len(path) - len(after)]
                    if value and "/" not in value:
                        return shortcut, value
        return None, ""

    def _refused(self, error: Exception, scope: Scope, request_id: str) -> WholeAnswer:
        """Return the response to an error, and record the error for the page."""
        answer = WholeAnswer.of(problem_of(error))
        if answer.status >= 500:
            self._served.log.failure(request_id, error)
        at = self._served.clock()
        self._errors.append(recent_errors.error_of(scope, answer.status, answer.body, at))
        return answer
