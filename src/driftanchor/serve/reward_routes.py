"""The routes of rewards: one by one, and many at once."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from driftanchor.live.campaigns.decision import Receipt
from driftanchor.live.campaigns.telling import Tell
from driftanchor.serve.asked_bodies import RewardBody
from driftanchor.serve.body import read, takes
from driftanchor.serve.decision_routes import json_response
from driftanchor.serve.owners import do_for

router = APIRouter()


@router.put("/v1/decisions/{decision_id}/reward", openapi_extra=takes(RewardBody))
async def tell(request: Request, decision_id: str) -> Response:
    """The reward of a decision. It is on disk when the answer comes, and may be sent again."""
    body = await read(request, RewardBody)
    told = Tell(decision_id, body.value)
    receipt: Receipt = await do_for(request.app.state.served, decision_id, told)
    return json_response(receipt.to_json(), 200 if receipt.status == "replayed" else 201)
