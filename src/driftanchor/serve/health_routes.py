"""Whether the server runs, and whether it can answer."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from driftanchor.serve.decision_routes import json_response
from driftanchor.serve.problem import Problem
from driftanchor.serve.served import Served

router = APIRouter()


@router.get("/livez")
async def live() -> Response:
    """The process runs."""
    return json_response({"status": "ok"})


@router.get("/readyz")
async def ready(request: Request) -> Response:
    """The process can answer: its store can be read, and nobody asked it to stop."""
    served: Served = request.app.state.served
    if served.stopping:
        raise Problem(503, "stopping", "the server was asked to stop")
    await served.read(served.names)
    return json_response({"status": "ok"})
