"""Routes of the server itself: health, metrics and documentation."""

from __future__ import annotations

import asyncio

from starlette.responses import HTMLResponse, Response

from driftanchor.errors import StoreUnavailable
from driftanchor.serve import metrics, openapi
from driftanchor.serve.problem import Problem
from driftanchor.serve.responses import json_response
from driftanchor.serve.routing import Call, Content, Route
from driftanchor.serve.schemas import HealthAnswer, ReadyQuery

MAX_WAIT = 3.0  # seconds for the store to answer


async def live(call: Call) -> Response:
    """The process runs."""
    return json_response({"status": "ok"})


async def ready(call: Call) -> Response:
    """The process can answer: its store can be read, and nobody asked it to stop."""
    state = call.state
    if state.stopping:
        raise Problem(503, "stopping", "the server was asked to stop")
    try:
        async with asyncio.timeout(MAX_WAIT):
            names = await state.read(state.names)
    except (StoreUnavailable, TimeoutError) as error:
        raise Problem(503, "store_unavailable", "the store does not answer") from error
    if call.query.verbose is None:
        return json_response({"status": "ok"})
    checks = {"store": "ok", "campaigns": len(names), "waiting": state.waiting}
    return json_response({"status": "ok", "checks": checks})


async def show_metrics(call: Call) -> Response:
    """Metrics of all workers together."""
    call.state.metrics.waiting.set(call.state.waiting)
    return Response(call.state.metrics.text(), headers={"Content-Type": metrics.MEDIA})


async def docs(call: Call) -> Response:
    """The documentation of this API as a page, which works offline."""
    return HTMLResponse(openapi.page(openapi.document(call.state.routes)))


async def show_openapi(call: Call) -> Response:
    """The OpenAPI document of this API."""
    return json_response(openapi.document(call.state.routes))


TAGS = ("health",)
ROUTES = (
    Route("GET", "/livez", live, answers={200: HealthAnswer}, tags=TAGS),
    Route(
        "GET",
        "/readyz",
        ready,
        query=ReadyQuery,
        answers={200: HealthAnswer},
        errors=(422,),
        tags=TAGS,
    ),
    Route(
        "GET",
        "/metrics",
        show_metrics,
        role="read",
        answers={200: Content("Metrics in Prometheus' text format.", "text/plain")},
        tags=TAGS,
    ),
    Route("GET", "/docs", docs, answers={200: Content("A page.", "text/html")}, tags=TAGS),
    Route("GET", "/openapi.json", show_openapi, documented=False),
)
