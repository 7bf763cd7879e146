"""The HTTP app with all routes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from driftanchor.serve import (
    campaign_routes,
    decision_routes,
    default_routes,
    health_routes,
    ofrep,
    problem,
    record_routes,
    reward_routes,
)
from driftanchor.serve.direct import Direct
from driftanchor.serve.documents import document
from driftanchor.serve.head_requests import HeadRequests
from driftanchor.serve.limits import Limits
from driftanchor.serve.observed import Observed
from driftanchor.serve.outer_layers import OuterLayers
from driftanchor.serve.page import recent_errors
from driftanchor.serve.page import routes as page_routes
from driftanchor.serve.served import Served
from driftanchor.serve.time_limit import Deadline
from driftanchor.serve.upkeep import Upkeep
from driftanchor.version import __version__


def create_app(served: Served) -> FastAPI:
    """Create the app for `served`, and close `served` when the server stops."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        upkeep = Upkeep(served)
        upkeep.start()
        yield
        upkeep.close()
        served.close()

    app = OuterLayers(
        title="Driftanchor",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # it would redirect to the host that the request names
        lifespan=lifespan,
    )
    app.state.served = served
    problem.install(app)
    routers = (decision_routes, reward_routes, campaign_routes, record_routes, health_routes)
    for routes in (*routers, ofrep, default_routes, page_routes):
        app.include_router(routes.router)
    app.add_middleware(HeadRequests)
    app.add_middleware(Deadline, served=served)
    errors = app.state.page_errors = recent_errors.new()
    app.add_middleware(recent_errors.RecentErrors, kept=errors, clock=served.clock)
    app.add_middleware(Limits)
    app.add_middleware(Observed, served=served)
    shortcuts = (*decision_routes.SHORTCUTS, *reward_routes.SHORTCUTS)
    app.add_middleware(Direct, served=served, shortcuts=shortcuts, errors=errors)
    app.openapi = lambda: document(app)  # type: ignore[method-assign]
    return app
