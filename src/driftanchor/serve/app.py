"""The HTTP app: one table of routes, and the middleware around them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.middleware import Middleware
from starlette.routing import Router
from starlette.types import Receive, Scope, Send

from driftanchor.serve import (
    campaign_routes,
    decision_routes,
    ofrep,
    reward_routes,
    service_routes,
)
from driftanchor.serve.app_state import AppState
from driftanchor.serve.middleware import CatchErrors, Deadline, LimitBody, Observe
from driftanchor.serve.page import routes as page_routes
from driftanchor.serve.problem import Problem
from driftanchor.serve.routing import path_routes
from driftanchor.serve.upkeep import Upkeep

TABLE = (
    *decision_routes.ROUTES,
    *reward_routes.ROUTES,
    *campaign_routes.ROUTES,
    *ofrep.ROUTES,
    *service_routes.ROUTES,
    *page_routes.ROUTES,
)


def create_app(state: AppState) -> Router:
    """Create the ASGI app, which closes `state` when the server stops."""

    @asynccontextmanager
    async def lifespan(_: object) -> AsyncIterator[None]:
        upkeep = Upkeep(state)
        upkeep.start()
        yield
        upkeep.close()
        state.close()

    state.routes = TABLE
    return Router(
        path_routes(state, TABLE),
        redirect_slashes=False,  # a redirect would name the host that the client sent
        default=_not_found,
        lifespan=lifespan,
        middleware=[
            Middleware(Observe, state),
            Middleware(CatchErrors, state),
            Middleware(LimitBody),
            Middleware(Deadline, state),
        ],
    )


async def _not_found(scope: Scope, receive: Receive, send: Send) -> None:
    raise Problem(404, "not_found", "there is nothing at this address")
