"""Route: one entry of the table of routes.

The router, the key checks and the OpenAPI document are all made from the table.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as PathRoute
from starlette.types import Message, Receive, Scope, Send

from driftanchor.serve.app_state import AppState
from driftanchor.serve.problem import Problem, of_validation
from driftanchor.serve.schemas import Query

_JSON = re.compile(r"application/(json|[\w.+-]+\+json)\s*(;.*)?", re.IGNORECASE)
M = TypeVar("M", bound=BaseModel)


@dataclass(slots=True)
class Call:
    """One request, after its key was checked and its parts were parsed.

    Attributes:
        state: The state of the server.
        request: The request.
        body: Its body, an instance of the route's model.
        query: Its query parameters, likewise.
        headers: The headers that the route declares, likewise.
        shared: Whether the key belongs to a share link.
    """

    state: AppState
    request: Request
    body: Any = None
    query: Any = None
    headers: Any = None
    shared: bool = False

    @property
    def path(self) -> Mapping[str, str]:
        """The parameters in the path."""
        params: Mapping[str, str] = self.request.path_params
        return params

    @property
    def is_head(self) -> bool:
        """Whether the body of the answer is discarded."""
        return self.request.method == "HEAD"


@dataclass(frozen=True)
class Content:
    """An answer of a route, if a model alone does not describe it.

    Attributes:
        description: What it is.
        media: Its media type; `None` if it has no body.
        model: The type of its JSON.
        headers: Its headers, each with a description.
    """

    description: str
    media: str | None = "application/json"
    model: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Route:
    """A method of a path. The docstring of its handler documents it.

    Attributes:
        method: The HTTP method; `GET` answers `HEAD` too.
        path: The path, such as `"/v1/campaigns/{name}"`.
        handler: Answers the request.
        role: The role that the key needs; `None` if no key is needed.
        shared: Whether share links for the campaign `name` in the path may use it.
        body: The model of the body.
        query: The model of the query parameters.
        headers: The model of the headers that the handler reads.
        answers: The successful answers by status, each a model or a `Content`.
        errors: The statuses of errors besides those that any route can have.
        tags: The groups in the OpenAPI document.
        documented: Whether the OpenAPI document has it.
        refuse: Makes the problem for an invalid body.
    """

    method: str
    path: str
    handler: Callable[[Call], Awaitable[Response]]
    role: str | None = None
    shared: bool = False
    body: type[BaseModel] | None = None
    query: type[Query] | None = None
    headers: type[Query] | None = None
    answers: Mapping[int, Any] = field(default_factory=dict)
    errors: tuple[int, ...] = ()
    tags: tuple[str, ...] = ()
    documented: bool = True
    refuse: Callable[[Sequence[Any], type[BaseModel]], Problem] = of_validation


class Endpoint:
    """ASGI app for all routes of one path.

    Args:
        state: The state of the server.
        routes: The routes.
    """

    def __init__(self, state: AppState, routes: Iterable[Route]) -> None:
        self._state = state
        self._routes = {route.method: route for route in routes}
        if "GET" in self._routes:
            self._routes["HEAD"] = self._routes["GET"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check the key, parse the request, and send what the handler returns."""
        route = self._routes.get(scope["method"])
        if route is None:
            allowed = {"Allow": ", ".join(sorted(self._routes))}
            text = "this method is not for this address"
            raise Problem(405, "method_not_allowed", text, headers=allowed)
        call = Call(self._state, Request(scope, receive))
        if route.role is not None:
            campaign = call.path["name"] if route.shared else None
            key = await self._state.access.admit(scope, route.role, campaign)
            call.shared = key is not None and key.campaign is not None
        _parse(route, call)
        response = await route.handler(call)
        await response(scope, receive, _without_body(send) if call.is_head else send)


def path_routes(state: AppState, table: Iterable[Route]) -> list[PathRoute]:
    """Return Starlette's routes, one for each path in the table."""
    paths: dict[str, list[Route]] = {}
    for route in table:
        paths.setdefault(route.path, []).append(route)
    return [PathRoute(path, Endpoint(state, routes)) for path, routes in paths.items()]


def _parse(route: Route, call: Call) -> None:
    """Parse the query, the headers and the body that a route declares."""
    request = call.request
    if route.query is not None:
        call.query = _validated(route.query, dict(request.query_params))
    if route.headers is not None:
        call.headers = _validated(route.headers, _sent_headers(request, route.headers))
    if route.body is not None:
        media = request.headers.get("content-type", "")
        if media != "application/json" and _JSON.fullmatch(media) is None:
            raise Problem(415, "not_json", "send the body as application/json")
        try:
            call.body = route.body.model_validate_json(request.scope["body"])
        except ValidationError as error:
            raise route.refuse(failures_in(error), route.body) from None


def _validated(model: type[M], values: Mapping[str, str]) -> M:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise of_validation(failures_in(error), model) from None


def _sent_headers(request: Request, model: type[BaseModel]) -> dict[str, str]:
    """Return the headers that a model has.

    Raises:
        Problem: One was sent twice. Using the first could repeat a decision or lose one.
    """
    sent = {}
    for name in model.model_fields:
        values = request.headers.getlist(name.replace("_", "-"))
        if len(values) > 1:
            title = name.replace("_", "-").title()
            text = f"the header {title} was sent more than once: send it once"
            raise Problem(400, f"{name}_repeated", text)
        if values:
            sent[name] = values[0]
    return sent


def failures_in(error: ValidationError) -> Sequence[Any]:
    """Return what Pydantic refused, without the submitted values."""
    return error.errors(include_url=False, include_input=False, include_context=False)


def _without_body(send: Send) -> Send:
    """Return a `send` that discards the body, for `HEAD`."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.body":
            if message.get("more_body", False):
                return
            message = {"type": "http.response.body", "body": b""}
        await send(message)

    return sending
