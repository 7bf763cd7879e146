"""The routes that decide: `POST …/decisions`, and what is about one decision."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter, Request, Response

from driftanchor.live.campaigns.asking import Ask
from driftanchor.live.campaigns.decision import Decision, Receipt
from driftanchor.live.campaigns.telling import Expose
from driftanchor.serve.asked_bodies import AskBody
from driftanchor.serve.body import read, takes
from driftanchor.serve.owners import do_for
from driftanchor.serve.served import Served

router = APIRouter()


def json_response(
    data: dict[str, Any], status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    """Strict JSON."""
    return Response(json.dumps(data, allow_nan=False), status, headers, "application/json")


@router.post("/v1/campaigns/{name}/decisions", openapi_extra=takes(AskBody))
async def decide(request: Request, name: str) -> Response:
    """Which arm to play. The decision is on disk when the answer comes."""
    served: Served = request.app.state.served
    body = await read(request, AskBody)
    key = request.headers.get("idempotency-key")
    ask = Ask.checked(body.unit, body.exclude, body.n, body.peek, key)
    made: list[Decision] = await served.bridge.do(await served.opened(name), ask)
    if not body.peek:
        served.owners.note(name, made)
    replayed = made[0].replayed
    headers = {"Idempotent-Replayed": "true"} if replayed and key is not None else None
    data = made[0].to_json()
    if body.n is not None:
        data = {"decisions": [decision.to_json() for decision in made]}
    return json_response(data, 200 if replayed or body.peek else 201, headers)


@router.post("/v1/decisions/{decision_id}/exposure")
async def expose(request: Request, decision_id: str) -> Response:
    """Say that a decision was shown."""
    receipt: Receipt = await do_for(request.app.state.served, decision_id, Expose(decision_id))
    return json_response(receipt.to_json(), 201 if receipt.status == "recorded" else 200)


@router.get("/v1/decisions/{decision_id}")
async def explain(request: Request, decision_id: str) -> Response:
    """Why a decision went where it went."""
    served: Served = request.app.state.served
    campaign = await served.opened(await served.owners.of(decision_id))
    return json_response((await served.read(campaign.explain, decision_id)).to_json())
