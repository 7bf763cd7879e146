"""Whether the server runs and can answer, what it counts, and what it documents of itself."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from driftanchor.errors import StoreUnavailable
from driftanchor.serve import metrics
from driftanchor.serve.access import KeyedRoute, needs
from driftanchor.serve.docs_page import page
from driftanchor.serve.documents import Responses, answers, document, problems
from driftanchor.serve.json_answer import json_response
from driftanchor.serve.problem import Problem
from driftanchor.serve.response_bodies import HealthAnswer
from driftanchor.serve.served import Served

router = APIRouter(tags=["health"], route_class=KeyedRoute)
SLOWEST = 3.0  # seconds in which a store that is there must answer
TEXT: Responses = {
    200: {"description": "Metrics as Prometheus reads them.", "content": {"text/plain": {}}}
}
HTML: Responses = {200: {"description": "A page.", "content": {"text/html": {}}}}
Verbose = Annotated[
    str | None, Query(description="Show what was checked; its value does not matter.")
]


@router.get("/livez", responses=answers({200: HealthAnswer}))
async def live() -> Response:
    """The process runs."""
    return json_response({"status": "ok"})


@router.get("/readyz", responses=answers({200: HealthAnswer}, 422))
async def ready(request: Request, verbose: Verbose = None) -> Response:
    """The process can answer: its store can be read, and nobody asked it to stop."""
    served: Served = request.app.state.served
    if served.stopping:
        raise Problem(503, "stopping", "the server was asked to stop")
    try:
        async with asyncio.timeout(SLOWEST):
            names = await served.read(served.names)
    except (StoreUnavailable, TimeoutError) as error:
        raise Problem(503, "store_unavailable", "the store does not answer") from error
    more = {"checks": {"store": "ok", "campaigns": len(names), "waiting": served.bridge.waiting}}
    return json_response({"status": "ok", **(more if verbose is not None else {})})


@router.get("/metrics", dependencies=[needs("read")], responses=TEXT | problems())
async def measured(request: Request) -> Response:
    """What the server counts, of all its workers together."""
    served: Served = request.app.state.served
    served.metrics.waiting.set(served.bridge.waiting)
    return Response(served.metrics.text(), headers={"Content-Type": metrics.MEDIA})


@router.get("/docs", responses=HTML | problems())
async def docs(request: Request) -> Response:
    """This interface for people; the page needs nothing from elsewhere."""
    return Response(page(document(request.app)), media_type="text/html")
